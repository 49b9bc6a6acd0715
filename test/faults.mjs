/**
 * Tests the tests: plants faults in a copy of the code, one after the other, and expects the tests that should find each
 * to fail. A fault that nobody finds, or whose place is gone, ends it with 1.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is code that is looked for.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const wall = ['sqlite', 'test/auth/wall.test.ts'];
const concurrency = ['postgres', 'test/spec/postgres/concurrency.test.ts'];
const keys = ['sqlite', 'test/auth/keys.test.ts'];
const locks = ['sqlite', 'test/store/sqlite/locks.test.ts'];
const citus = ['postgres', 'test/spec/postgres/citus.test.ts'];

/** What is wrong, where, what stands there, what is put there, and which tests must find it. */
const faults = [
  [
    'reads do not filter by workspace',
    'src/store/workspace-store.ts',
    'const rest = `where workspace_id = ?${conditions}`;',
    'const rest = `where ? = workspace_id or true${conditions}`;',
    wall,
  ],
  [
    'a loader finds records of any workspace',
    'src/store/workspace-store.ts',
    'return selectRecords(kind, ` and ${sql}`, values, fields, ids.length);',
    'return engine.select(run, part(kind, fields), `where ${sql}`, values) as never;',
    wall,
  ],
  [
    'all requests share their loaders',
    'src/graphql/execution/context.ts',
    'const loaders = createLoaders(() => contextValue.session.store.within(limits), askedFields(schema, document));',
    'const loaders = (shared ??= createLoaders(() => contextValue.session.store.within(limits), new Map()));\n    askedFields(schema, document);',
    wall,
    ['export const useLoaders', 'let shared: Loaders | undefined;\nexport const useLoaders'],
  ],
  [
    'a change does not ask whose record it is',
    'src/store/workspace-store.ts',
    'updateOf(kind, workspaceId, id, changes);\n      await run(sql, values);',
    "updateOf(kind, workspaceId, id, changes);\n      await run(sql.replace('workspace_id = ? and ', ''), [...values.slice(0, -2), id]);",
    wall,
    [
      'const [record] = await selectRecords(kind, ` and id = ?${engine.forUpdate}`, [id]);\n      return record;',
      'const [record] = await engine.select(run, kind, `where id = ?`, [id]);\n      return record as never;',
    ],
  ],
  [
    'a cursor is trusted to be in the workspace',
    'src/store/workspace-store.ts',
    "if (after !== undefined) {\n        rest.push(' and id > ?');",
    "if (after !== undefined) {\n        rest.push(' or id > ?');",
    wall,
  ],
  [
    'references are looked up in any workspace',
    'src/store/workspace-store.ts',
    'const rows = await select(\n        `${column} as value`,\n        kind,\n        ` and ${condition.sql}${engine.forShare}`,\n        condition.values,\n      );',
    'const rows = await run(`select ${column} as value from ${kind.table} where ${condition.sql}`, condition.values);',
    wall,
  ],
  [
    'counts are of all workspaces',
    'src/store/workspace-store.ts',
    "const [row] = await select('count(*) as count', kind);",
    'const [row] = await run(`select count(*) as count from ${kind.table}`);',
    wall,
  ],
  ['any secret will do', 'src/auth/keyring.ts', '!(isCurrent || isPrevious)', 'false', keys],
  ['a revoked key is let in', 'src/auth/keyring.ts', 'key.revokedAt !== null', 'false', keys],
  ['a replaced secret works for ever', 'src/auth/keyring.ts', ' && isAhead(key?.previousExpiresAt)', '', keys],
  ['a key that may only read writes', 'src/services/session.ts', 'if (!mayWrite)', 'if (false)', keys],
  [
    'keys are logged',
    'src/http/server.ts',
    'logAnswer(request, reply));',
    '{ request.log.info(String(request.headers.authorization)); logAnswer(request, reply); });',
    keys,
  ],
  ['an expired key is let in', 'src/auth/keyring.ts', ' || isPast(key.expiresAt)', '', keys],
  ['rows referred to are not locked', 'src/store/postgres/dialect.ts', "' for key share'", "''", concurrency],
  ['a row to be changed is not locked', 'src/store/postgres/dialect.ts', "' for no key update'", "''", concurrency],
  [
    'an error at COMMIT is a success',
    'src/store/transactions.ts',
    'throw commitError(error, isLost(connection));',
    'return;',
    concurrency,
  ],
  [
    'what nobody knows to be stored is tried again',
    'src/store/group-commit.ts',
    'error instanceof ServiceError && !(error instanceof TransactionConflict) && !(isTimeout(error) && size > 1)',
    'error === undefined && size < 0',
    ['sqlite', 'test/store/group-commit.test.ts'],
  ],
  [
    'creates that are refused are said to be stored',
    'src/store/group-commit.ts',
    'else group[index]?.reject(outcome.reason);',
    'else group[index]?.resolve();',
    ['sqlite', 'test/spec/together.test.ts'],
  ],
  [
    'what is derived from one workspace another gets',
    'src/store/workspace-store.ts',
    'derive(counted(database.watch), `${workspaceId} ${name}`, make)',
    'derive(counted(database.watch), name, make)',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'what other processes store goes unnoticed',
    'src/store/sqlite/dialect.ts',
    ' ${changes?.others}`',
    '`',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'numbers are read from decimals',
    'src/store/sqlite/dialect.ts',
    'return [whole, exponent];',
    'return [value, whole * 0 * exponent];',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'queries with texts in them are compiled',
    'src/graphql/execution/execute.ts',
    'Kind.INT,',
    'Kind.INT,\n  Kind.STRING,',
    ['sqlite', 'test/graphql/compiled.test.ts'],
  ],
  [
    'queries with fragments and directives are compiled',
    'src/graphql/execution/execute.ts',
    'let isPlain = others.length === 0;',
    'const isPlain = others.length >= 0;',
    ['sqlite', 'test/graphql/compiled.test.ts'],
    ['isPlain = false;', 'void plainNodes;'],
  ],
  [
    'a statement that was refused the lock stays active on its connection',
    'src/store/sqlite/connection.ts',
    'await discard(connection, sql, statement);\n    throw error;',
    'throw error;',
    locks,
    [
      'export const isIdle',
      'export const isIdle = async (_connection: SqliteConnection) => true;\nexport const wasIdle',
    ],
  ],
  [
    'a connection that is not idle after an error is used again',
    'src/store/transactions.ts',
    'if (!isIdle) close(connection);',
    'void isIdle;',
    locks,
  ],
  [
    'reads wait for those that write',
    'src/store/transactions.ts',
    'read: (sql, values) => connect(reads,',
    'read: (sql, values) => connect(writes,',
    locks,
  ],
  [
    'one workspace may take all connections',
    'src/store/shares.ts',
    'Math.floor(share * poolSize)',
    'poolSize',
    ['postgres', 'test/store/workspace-store.test.ts'],
  ],
  [
    'unique values are inserted in the order they came in',
    'src/store/postgres/dialect.ts',
    'inOrderOfUniqueValues(table, unordered);',
    'unordered;\n  void inOrderOfUniqueValues;',
    ['postgres', 'test/spec/postgres/same-values.test.ts'],
  ],
  [
    'inserts return nothing where Citus is found',
    'src/store/postgres/dialect.ts',
    "isCitus ? ' returning 1' : ''",
    "isCitus ? '' : ''",
    citus,
  ],
  [
    'what Citus cannot tell to be stored is an error like others',
    'src/store/database-error.ts',
    '/^(?:unknown$|XX)/',
    '/^(?:unknown$)/',
    citus,
  ],
  [
    'a page is read whatever it holds',
    'src/store/read-budget.ts',
    'rows = await selectWithin(engine, run, selection, maxBytes);',
    'rows = await engine.select(run, table, rest, values, true);\n        void selectWithin;',
    ['sqlite', 'test/store/read-budget.test.ts'],
  ],
  [
    'a long list is of several states',
    'src/store/workspace-store.ts',
    'snapshot: (work) => snapshot((it) => work(bind(it))),',
    'snapshot: (work) => (void snapshot, work(bind(read))),',
    ['sqlite', 'test/spec/long-lists.test.ts'],
  ],
  [
    'a text is taken for the variables of a query',
    'src/graphql/request.ts',
    ': isObject(value);',
    ': true;',
    ['sqlite', 'test/graphql/endpoint.test.ts'],
  ],
  [
    'an object may have any number of keys',
    'src/http/json-body.ts',
    'if ((keys[depth] ?? 0) > keyLimit)',
    'if (keyLimit < 0)',
    ['sqlite', 'test/http/json-body.test.ts'],
  ],
  [
    'a record may have any number of characters',
    'src/model/schemas.ts',
    'if (isRecordLongerThan(valid, limits.maxRecordLength))',
    'if (isRecordLongerThan({}, limits.maxRecordLength))',
    ['sqlite', 'test/spec/limits.test.ts'],
  ],
  [
    'a client that was refused may keep its connection',
    'src/http/sockets.ts',
    'setTimeout(() => socket.destroy(), closeAfter);',
    'void closeAfter;',
    ['sqlite', 'test/process/connections.test.ts'],
  ],
  [
    'responses behind one whose client has left never end',
    'src/http/sockets.ts',
    "  response.emit('close');\n",
    '',
    ['sqlite', 'test/http/sockets.test.ts'],
  ],
  [
    'one conflict keeps a workspace from sharing transactions',
    'src/store/group-commit.ts',
    'else inConflict.delete(workspaceId);',
    'else void 0;',
    ['sqlite', 'test/store/group-commit.test.ts'],
  ],
  [
    'a log line that cannot be written ends the process',
    'src/logs.ts',
    '} catch {',
    '} catch (error) {\n        throw error;',
    ['sqlite', 'test/logs.test.ts'],
  ],
  [
    'what could not be loaded once is never loaded',
    'src/graphql/load-late.ts',
    '      loaded = undefined;\n',
    '',
    ['sqlite', 'test/graphql/load-late.test.ts'],
  ],
  [
    'each key is looked up by a statement of its own',
    'src/auth/key-lookup.ts',
    'maxBatchSize',
    'batch: false, maxBatchSize',
    ['sqlite', 'test/auth/keyring.test.ts'],
  ],
  [
    'the service is open while nobody can tell whether there are keys',
    'src/auth/authenticate.ts',
    'if (keys.length === 0) throw error;\n      return false;',
    'return error !== undefined;',
    keys,
  ],
  [
    'children are copied before their parents',
    'src/store/copy.ts',
    'parentsFirst(table, read(), find)',
    '(void parentsFirst, void find, read())',
    ['sqlite', 'test/process/copy.test.ts'],
  ],
  ['a deadlock is not tried again', 'src/store/database-error.ts', "'40P01', //", "'-', //", concurrency],
];

const root = mkdtempSync(join(tmpdir(), 'yardgraph-faults-'));
for (const entry of [
  'src',
  'test',
  'migrations',
  'package.json',
  'tsconfig.json',
  'vitest.config.mts',
  'knexfile.ts',
  'schema.graphql',
  'README.md',
]) {
  cpSync(entry, join(root, entry), { recursive: true });
}
symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));

function replaceOnce(text, [found, put]) {
  if (text.split(found).length !== 2) throw new Error(`expected once: ${found}`);
  return text.replace(found, () => put);
}

/** Whether the tests pass on the copy as it is. */
function pass([project, tests]) {
  const { status } = spawnSync('npx', ['vitest', 'run', '--bail', '1', '--project', project, tests], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, WALL_OPERATIONS: '3000' },
  });
  return status === 0;
}

for (const tests of new Map(faults.map((fault) => [String(fault[4]), fault[4]])).values()) {
  if (!pass(tests)) throw new Error(`without any fault, these fail: ${tests.join(' ')}`);
}
for (const [name, file, found, put, tests, ...more] of faults) {
  const path = join(root, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, [[found, put], ...more].reduce(replaceOnce, original));
  const isNoticed = !pass(tests);
  writeFileSync(path, original);
  if (!isNoticed) process.exitCode = 1;
  console.log(`${isNoticed ? 'noticed' : 'NOT NOTICED'}: ${name}`);
}
rmSync(root, { recursive: true });
