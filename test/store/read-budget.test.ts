/** The limit on the text that one request may read into memory. */
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test } from 'vitest';
import { ResponseTooLarge } from '../../src/errors.ts';
import { location, project } from '../../src/records/index.ts';
import type { Database } from '../../src/store/database.ts';
import { oldestFirst } from '../../src/store/query/record-query.ts';
import { holdUntilClosed } from '../../src/store/records/read-budget.ts';
import { insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

// A budget of 2 * 5,000 + 1,000 characters.
const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 5_000 };

let database: Database;
let statements: string[];

beforeEach(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  statements = [];
  database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
  return own.close;
});

const workspace = () => storeOpener(database)('ours');
const store = () => workspace().within(limits);

async function createProjects(count: number, length: number): Promise<string[]> {
  const records = await insert(
    workspace(),
    project,
    Array.from({ length: count }, (_, n) => ({ name: `project ${n}`, externalIds: { erp: 'ü'.repeat(length) } })),
  );
  statements = [];
  return records.map(({ id }) => id);
}

const fields = new Set(['id', 'externalIds']);

describe('a page of records that may be long', () => {
  test('takes one statement if its records are short', async () => {
    const ids = await createProjects(50, 20);

    expect(await store().list(project, { limit: 51, fields })).toHaveLength(50);
    expect(
      (await store().list(project, { limit: 40, orderBy: oldestFirst, fromEnd: true, fields })).map(({ id }) => id),
    ).toEqual(ids.toReversed().slice(0, 40));
    expect(await store().find(project, ids, fields)).toHaveLength(50);
    expect(statements).toHaveLength(3);
  });

  test('is rejected without reading any of its records if they are too long', async () => {
    const ids = await createProjects(50, 900);

    await expect(store().list(project, { limit: 51, fields })).rejects.toThrow(ResponseTooLarge);
    await expect(store().find(project, ids, fields)).rejects.toThrow(ResponseTooLarge);
    expect(await store().list(project, { limit: 5, fields })).toHaveLength(5);
    expect(await store().list(project, { limit: 51, fields: new Set(['id', 'name']) })).toHaveLength(50);
  });

  test('may be empty', async () => {
    expect(await store().list(project, { limit: 51, fields })).toEqual([]);
    expect(await store().find(project, Array(50).fill('project_01h455vb4pex5vsknk084sn02q'), fields)).toEqual([]);
  });
});

describe('a summary whose groups may be long', () => {
  const groupBy = (['statusId', 'locationId', 'companyId'] as const).map((field) => ({ field, by: 'value' as const }));
  const summarize = () => store().summarize(project, { groupBy, limit: 1_000 });

  test('is read if they are short', async () => {
    await insert(workspace(), project, [{ name: 'Wall', statusId: 'open' }]);

    expect(await summarize()).toEqual({ totalCount: 1, groups: [{ count: 1, values: ['open', null, null] }] });
  });

  test('is rejected if they are long', async () => {
    const projects = Array.from({ length: 100 }, (_, n) => ({ name: 'Wall', statusId: `${n}`.padStart(200, '0') }));
    await insert(workspace(), project, projects);

    await expect(summarize()).rejects.toThrow(ResponseTooLarge);
  });
});

test('all reads of a request share one budget, including concurrent reads', async () => {
  const ids = await createProjects(30, 200);
  const oneRequest = store();

  const pages = await Promise.allSettled(
    [0, 10, 20, 0, 10, 20].map((start) => oneRequest.find(project, ids.slice(start, start + 10), fields)),
  );

  // Ten of these have some 2,000 characters, or 4,000 bytes.
  const read = pages.filter(({ status }) => status === 'fulfilled').length;
  expect(read).toBeGreaterThanOrEqual(2);
  expect(read).toBeLessThanOrEqual(5);
  expect(await store().find(project, ids.slice(0, 10), fields)).toHaveLength(10);
});

test('a read that fails uses nothing of the budget', async () => {
  const ids = await createProjects(50, 20);
  const oneRequest = store();
  await database.knex.schema.renameTable('projects', 'away');

  await expect(oneRequest.list(project, { limit: 51, fields })).rejects.toThrow('database error');
  await database.knex.schema.renameTable('away', 'projects');

  expect((await oneRequest.list(project, { limit: 51, fields })).map(({ id }) => id)).toEqual(ids);
});

test('a page that becomes shorter after it was measured is read', async () => {
  const ids = await createProjects(12, 900);
  let isShort = false;
  const shrinking: Database = {
    ...database,
    forWorkspace: (workspaceId) => ({
      ...database.forWorkspace(workspaceId),
      async read(sql, values) {
        const rows = await database.read(sql, values);
        if (!isShort) {
          isShort = true;
          await database.run(`delete from projects where workspace_id = ${numberOf('ours')} and id <> '${ids[0]}'`);
        }
        return rows;
      },
    }),
  };

  const found = await storeOpener(shrinking)('ours').within(limits).list(project, { limit: 51, fields });

  expect(found.map(({ id }) => id)).toEqual([ids[0]]);
});

test('the unused part of a reservation is available to later reads', async () => {
  await createProjects(5, 100);
  await insert(workspace(), location, [{ name: 'yard' }]);
  const oneRequest = store();

  for (let time = 0; time < 40; time += 1) {
    expect(await oneRequest.list(location, { limit: 20, fields: new Set(['id', 'name', 'city']) })).toHaveLength(1);
  }

  expect(await oneRequest.list(project, { limit: 11, fields })).toHaveLength(5);
});

test('while unsent responses hold too much, further ones get 503, those that have begun are completed, and one that is closed makes room', () => {
  const texts = { length: 0 };
  const responses = [0, 1].map(() => Object.assign(new EventEmitter(), { closed: false, destroyed: false }));
  const [hold, holdOther] = responses.map((response) => holdUntilClosed(texts, response));
  hold?.(30_000_000);
  hold?.(1);

  expect(() => holdOther?.(0)).toThrow('too many long responses are being sent, try again');
  responses[0]?.emit('close');

  expect(() => holdOther?.(1)).not.toThrow();
  expect(texts.length).toBe(1);
});
