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
    'where workspace_id = ?${rest}`, [workspaceId, ...values]',
    'where true${rest}`, values',
    wall,
  ],
  [
    'a loader finds records of any workspace',
    'src/store/workspace-store.ts',
    "const { sql, values } = engine.oneOf('id', ids);\n      return selectRecords(kind, ` and ${sql}`, values);",
    "const { sql, values } = engine.oneOf('id', ids);\n      return run(`select ${columnList(kind)} from ${kind.table} where ${sql}`, values).then((rows) => rows.map((row) => recordOf(kind, row)));",
    wall,
  ],
  [
    'all requests share their loaders',
    'src/graphql/endpoint.ts',
    'loaders: createLoaders(session.store),',
    'loaders: (shared ??= createLoaders(session.store)),',
    wall,
    ["const path = '/graphql';", "const path = '/graphql';\nlet shared: ReturnType<typeof createLoaders> | undefined;"],
  ],
  [
    'a change does not ask whose record it is',
    'src/store/workspace-store.ts',
    'updateOf(kind, workspaceId, id, changes);\n      await run(sql, values);',
    "updateOf(kind, workspaceId, id, changes);\n      await run(sql.replace('workspace_id = ? and ', ''), [...values.slice(0, -2), id]);",
    wall,
    [
      'const [record] = await selectRecords(kind, ` and id = ?${engine.forUpdate}`, [id]);\n      return record;',
      'const [row] = await run(`select ${columnList(kind)} from ${kind.table} where id = ?`, [id]);\n      return row && recordOf(kind, row);',
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
