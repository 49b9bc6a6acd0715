import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const { resolve } = createRequire(import.meta.url);

const all = 'test/**/*.test.ts';
const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

/** What every project has; `extends` would also run the global setup below once per project. */
const shared = {
  // Node resolves graphql to its CommonJS file, Vite to its module: two copies, which do not know each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: resolve('graphql') }] },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // To import the service into a process of its own for each file would take half of the CPU time.
    isolate: false,
  },
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    // Much of the time they wait for a database or a process.
    maxWorkers: '100%',
    // The same tests on both databases; what concerns one of them only lies in a folder with its name.
    projects: [
      { ...shared, test: { ...shared.test, name: 'sqlite', include: [all], exclude: ['test/**/postgres/**'] } },
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'postgres',
          include: [all],
          // The package and its generated clients know no database.
          exclude: ['test/**/sqlite/**', 'test/process/package.test.ts', 'test/client/other-generator.test.ts'],
          globalSetup: ['test/support/postgres.ts'],
        },
      },
      // The interface once more, with a pooler in between, where there is one.
      ...(existsSync(pgbouncer)
        ? [
            {
              ...shared,
              test: {
                ...shared.test,
                name: 'pgbouncer',
                include: ['test/spec/**/*.test.ts'],
                exclude: ['test/**/sqlite/**', '**/same-answers.test.ts'],
                globalSetup: ['test/support/pgbouncer.ts'],
              },
            },
          ]
        : []),
    ],
  },
});
