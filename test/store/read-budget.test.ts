/** The limit on the text that one request may read into memory. */
import { EventEmitter } from 'node:events';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ResponseTooLarge } from '../../src/errors.ts';
import { project } from '../../src/records/index.ts';
import type { Database } from '../../src/store/database.ts';
import { oldestFirst } from '../../src/store/query/record-query.ts';
import { holdUntilClosed } from '../../src/store/records/read-budget.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

// A budget of 2 * 5,000 + 1,000 characters.
const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 5_000 };

let database: Database;
let statements: string[];
let workspaces = 0;

beforeAll(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
  return own.close;
});

beforeEach(() => {
  statements = [];
  workspaces += 1;
});

const workspace = () => storeOpener(database)(`workspace-${workspaces}`);
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
