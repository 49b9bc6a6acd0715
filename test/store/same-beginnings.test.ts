/** Many texts with the same beginning are looked up at once. Postgres has only the first 100 characters of each in its indexes. */
import { beforeEach, expect, test } from 'vitest';
import { project } from '../../src/records/index.ts';
import type { Database } from '../../src/store/database.ts';
import { isPostgres } from '../support/database.ts';
import { readPlan } from '../support/explain.ts';
import { inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;

beforeEach(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  return own.close;
});

const url = 'https://erp.example.com/projects/'.padEnd(99, 'x');
const size = 1_000;
/** Half of them have one beginning, the others another one; one has the beginning alone. */
const references = [...Array.from({ length: size - 1 }, (_, n) => `${url}${n % 2 ? '🚧' : 'é'}${n}`), `${url}é`];

test('many texts with the same beginning are found by reading each record once', async () => {
  const open = storeOpener(database);
  const projects = references.map((reference) => ({ name: 'P', reference }));
  const ids = (await insert(open('acme'), project, projects)).map(({ id }) => id);
  const [twin] = await insert(open('acme'), project, [{ name: 'P', reference: references[0] ?? '' }]);
  await insert(open('other'), project, projects);
  const wanted = [`${url}🚧`, ...references.toReversed(), 'short', `${url}zz`];
  const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  database.knex.on('query', (statement) => sent.push(statement));

  const found = await inSteps(open('acme'), (steps) => steps.findByText(project, 'reference', wanted));

  const expected = ids.map((id) => [id]).toReversed();
  expected[size - 1]?.push(twin?.id ?? '');
  expect(found).toEqual([[], ...expected, [], []]);
  let rowsRead = 0;
  for (const { sql, bindings } of sent.filter(({ sql }) => sql.includes('from projects'))) {
    const plan = await readPlan(database.run, sql, bindings);
    expect(plan.fullReads, plan.text).toEqual([]);
    rowsRead += plan.rowsRead ?? 0;
  }
  expect(rowsRead).toBe(isPostgres ? size + 1 : 0);
});

test('of more than a few records with the same text, only the oldest are found', async () => {
  const store = storeOpener(database)('acme');
  const name = (n: number) => `${url}é${n}`;
  const created = await insert(
    store,
    project,
    Array.from({ length: 12 }, (_, n) => ({ name: name(n % 2) })),
  );

  const found = await inSteps(store, (steps) => steps.findByText(project, 'name', [name(1), name(0)]));

  const oldest = (rest: number) => created.filter((_, n) => n % 2 === rest).slice(0, 4);
  expect(found).toEqual([1, 0].map((rest) => oldest(rest).map(({ id }) => id)));
});
