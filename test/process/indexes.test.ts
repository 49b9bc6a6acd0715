/** `yardgraph indexes`: what the commands say, and that other commands do not mind what was added. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import { location, recordKinds } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { runCommand } from '../support/command.ts';
import { createDatabase, createFile, isPostgres } from '../support/database.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase();
  const opened = await openDatabase(database.url);
  // Earlier tests may have left larger files.
  if (isPostgres) await opened.run('truncate locations');
  await insert(storeOpener(opened)('acme'), location, [{ city: 'Kiel' }]);
  await opened.close();
});

afterEach(() => database.remove());

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);
const lastLine = (text: string) => text.split('\n').at(-1);

test('an index is added, listed with its size, and dropped', async () => {
  expect((await run('indexes', 'add', 'locations', 'city')).out).toBe(
    'Added locations_city. Restart the service, so that all of its queries use it.',
  );

  const { out } = await run('indexes', 'list');
  const rows = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows[0]).toEqual(['index', 'table', 'kind', 'field', 'bytes', 'origin']);
  const bytes = isPostgres ? '16,384' : '4,096';
  expect(rows).toContainEqual(['locations_city', 'locations', 'locations', 'city', bytes, 'added']);
  expect(rows).toContainEqual(['locations_name', 'locations', 'locations', 'name', bytes, 'service']);
  const json: unknown = JSON.parse((await run('indexes', 'list', '--json')).out);
  expect(json).toContainEqual({
    index: 'locations_city',
    table: 'locations',
    kind: 'locations',
    field: 'city',
    bytes: Number(bytes.replace(',', '')),
    origin: 'added',
  });

  expect((await run('indexes', 'drop', 'locations', 'city')).out).toBe('Dropped locations_city.');
  expect((await run('indexes', 'list')).out).not.toContain('locations_city');
});

const kinds = recordKinds.map(listField).join(', ');

test.each([
  [['add', 'cranes', 'name'], `<kind>: expected ${kinds}, received "cranes"`],
  [['add', 'locations', 'name'], '<field>: the service itself needs the index of name'],
  [['drop', 'assets', 'uid'], '<field>: the service itself needs the index of uid'],
  [['add', 'transportOrders', 'id'], '<field>: expected notes, createdAt, updatedAt, received "id"'],
  [['drop', 'locations', 'city'], '<field>: city has no index'],
])('indexes %j is refused in one line, and ends with 1', async (command, line) => {
  const { code, out, err } = await run('indexes', ...command);

  expect([code, out, lastLine(err)]).toEqual([1, '', line]);
});

test('an index is not added twice', async () => {
  await run('indexes', 'add', 'locations', 'city');

  const { code, err } = await run('indexes', 'add', 'locations', 'city');

  expect([code, lastLine(err)]).toEqual([1, '<field>: city has an index already']);
});

test.runIf(isPostgres)('an index that an earlier attempt has left is listed, and replaced', async () => {
  await run('indexes', 'add', 'locations', 'city');
  const opened = await openDatabase(database.url);
  await opened.run("update pg_index set indisvalid = false where indexrelid = 'locations_city'::regclass");
  await opened.close();
  expect((await run('indexes', 'list')).out).toContain('added, not complete');

  const { code, err } = await run('indexes', 'add', 'locations', 'city');

  expect([code, lastLine(err)]).toEqual([
    0,
    'Dropping locations_city first, which an earlier attempt left incomplete.',
  ]);
  expect((await run('indexes', 'list')).out).not.toContain('not complete');
});

test('a database with an added index is copied, and the copy has none', async () => {
  await run('indexes', 'add', 'locations', 'city');
  const target = await createFile();

  const { code } = await run('copy', '--from', database.url, '--to', target.url);

  expect(code).toBe(0);
  const copied = await runCommand({ DATABASE_URL: target.url }, 'indexes', 'list');
  expect(copied.out).toContain('locations_name');
  expect(copied.out).not.toContain('locations_city');
  await target.remove();
});
