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

/** What is wrong, where, what stands there, what is put there, and which tests must find it. */
const faults = [
  [
    'reads do not filter by workspace',
    'src/store/workspace-store.ts',
    'const where = `where workspace_id = ?${rest}`;',
    'const where = `where ? = workspace_id or true${rest}`;',
    wall,
  ],
  [
    'a loader finds records of any workspace',
    'src/store/workspace-store.ts',
    'return selectRecords(kind, ` and ${sql}`, values, fields);',
    'return engine.select(run, part(kind, fields), `where ${sql}`, values) as never;',
    wall,
  ],
  [
    'all requests share their loaders',
    'src/graphql/context.ts',
    'const loaders = createLoaders(contextValue.session.store, askedFields(schema, document));',
    'const loaders = (shared ??= createLoaders(contextValue.session.store, new Map()));\n    askedFields(schema, document);',
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
    'src/http.ts',
    'logAnswer(request, reply));',
    '{ request.log.info(String(request.headers.authorization)); logAnswer(request, reply); });',
    keys,
  ],
  ['an expired key is let in', 'src/auth/keyring.ts', ' || isPast(key.expiresAt)', '', keys],
  ['rows referred to are not locked', 'src/store/postgres.ts', "' for key share'", "''", concurrency],
  ['a row to be changed is not locked', 'src/store/postgres.ts', "' for no key update'", "''", concurrency],
  [
    'an error at COMMIT is a success',
    'src/store/connections.ts',
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
    'what one workspace remembers another gets',
    'src/store/workspace-store.ts',
    'remember(database, counted(database.run), `${workspaceId} ${name}`, make)',
    'remember(database, counted(database.run), name, make)',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'what other processes store goes unnoticed',
    'src/store/sqlite.ts',
    ' ${changes?.others}`',
    '`',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'numbers are read from decimals',
    'src/store/sqlite.ts',
    'return [whole, exponent];',
    'return [value, whole * 0 * exponent];',
    ['sqlite', 'test/store/workspace-store.test.ts'],
  ],
  [
    'queries with texts in them are compiled',
    'src/graphql/execute.ts',
    'Kind.INT,',
    'Kind.INT,\n  Kind.STRING,',
    ['sqlite', 'test/graphql/compiled.test.ts'],
  ],
  [
    'queries with fragments and directives are compiled',
    'src/graphql/execute.ts',
    'let isPlain = others.length === 0;',
    'const isPlain = others.length >= 0;',
    ['sqlite', 'test/graphql/compiled.test.ts'],
    ['isPlain = false;', 'void plainNodes;'],
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

for (const tests of new Set(faults.map((fault) => fault[4]))) {
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
