import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { readKinds } from './src/explorer/build.mjs';

const { resolve } = createRequire(import.meta.url);

const all = 'test/**/*.test.ts';
const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

/** Tests of what is the same on any database, and tests that use none: they run only once. */
const onAnyDatabase = [
  'test/{browser,client,docs,explorer,http,model,pages}/**',
  'test/import/!(interrupted|labels|links|office-files).test.ts',
  'test/auth/!(wall).test.ts',
  'test/export/command.test.ts',
  'test/graphql/!(allocations|cached|history|query-model|statements|writes).test.ts',
  'test/process/{cli,keys,logs,package,start-and-end}.test.ts',
  'test/rest/**',
  'test/services/{ids,rejections}.test.ts',
  'test/spec/{bad-input,endpoints,errors,external-id-limit,limits,long-lists,updates}.test.ts',
  'test/store/{change-watch,connections,read-budget}.test.ts',
  'test/structure/{imports,regular-expressions}.test.ts',
];

/** What every project has; `extends` would also run the global setup below once per project. */
const shared = {
  // Node resolves graphql to its CommonJS file, Vite to its module: two copies, which do not know each other's types.
  resolve: {
    alias: [{ find: /^graphql$/, replacement: resolve('graphql') }],
  },
  // As the build of the explorer does it.
  define: { SCHEMA: JSON.stringify(readKinds()) },
  test: {
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    // Importing the service again for each file would take half of the CPU time.
    isolate: false,
  },
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/sqlite-template.ts'],
    // Much of the time, tests wait for a database or a process: on two cores, three workers keep both busy.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // The same tests on both databases; what concerns only one of them is in a folder with its name.
    projects: [
      { ...shared, test: { ...shared.test, name: 'sqlite', include: [all], exclude: ['test/**/postgres/**'] } },
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'postgres',
          include: [all],
          exclude: ['test/**/sqlite/**', ...onAnyDatabase],
          globalSetup: ['test/support/postgres.ts'],
        },
      },
      // What depends on transactions and connections once more, with a pooler in between, where there is one.
      ...(existsSync(pgbouncer)
        ? [
            {
              ...shared,
              test: {
                ...shared.test,
                name: 'pgbouncer',
                include: ['test/spec/{idempotency,batches}.test.ts', 'test/spec/postgres/{concurrency,limits}.test.ts'],
                globalSetup: ['test/support/pgbouncer.ts'],
              },
            },
          ]
        : []),
    ],
  },
});
