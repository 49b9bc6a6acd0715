/** How much text of responses that are not sent yet a workspace may hold, and who waits. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createHeldTexts, type ResponseTexts } from '../../src/store/records/held-texts.ts';
import { insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';

const timeout = 50;
/** Characters of a long response. */
const long = 49_000_000;

const start = (maxReads = 3) => {
  const openTexts = createHeldTexts({ maxReads, timeout });
  const open = (workspace: string) => openTexts(numberOf(workspace));
  /** The responses whose reads have begun, in this order. */
  const begun: string[] = [];
  /** Reads a text of this length for a new response. */
  const read = (name: string, length: number, workspace = 'acme') => {
    const response = open(workspace);
    return { response, done: readFor(response, name, length) };
  };
  const readFor = (response: ResponseTexts, name: string, length: number) =>
    response.read(
      async () => {
        begun.push(name);
        return length;
      },
      (result) => result,
    );
  return { open, begun, read, readFor };
};

test('reads wait while long responses of their workspace are not sent, and begin one by one when they are', async () => {
  const { begun, read } = start(1);
  const [first, second, third, fourth] = ['1', '2', '3', '4'].map((name) => read(name, long));
  await Promise.all([first?.done, second?.done]);
  await new Promise(setImmediate);
  expect(begun).toEqual(['1', '2']);

  first?.response.release();
  await third?.done;

  expect(begun).toEqual(['1', '2', '3']);
  await expect(fourth?.done).rejects.toMatchObject({ status: 503 });
});

test('a workspace that holds little never waits for others, however much they hold', async () => {
  const { begun, read } = start();
  for (const name of ['a', 'b', 'c', 'd']) await read(name, long, name).done;

  await read('another', 10, 'another').done;
  await read('yet another', 10, 'another').done;

  expect(begun.slice(-2)).toEqual(['another', 'yet another']);
});

test('together, workspaces with long responses hold no more than two of the greatest share', async () => {
  const { begun, read } = start();
  for (const name of ['a', 'b', 'c']) await read(name, long, name).done;

  await expect(read('more', 10, 'a').done).rejects.toMatchObject({ status: 503 });
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('a response that has read something goes on, because others may wait for it', async () => {
  const { open, read, readFor, begun } = start(1);
  const response = open('acme');
  await readFor(response, 'its first', 60_000_000);
  const other = read('other', 10);

  await readFor(response, 'its second', 10);
  response.release();
  await other.done;

  expect(begun).toEqual(['its first', 'its second', 'other']);
});

test('a text that another response has read counts as well', async () => {
  const { open, begun, read } = start();
  expect(open('acme').hold(60_000_000)).toBeUndefined();
  const response = open('acme');
  const held = response.hold(long);

  await expect(held).rejects.toMatchObject({ status: 503 });
  await expect(read('more', 10).done).rejects.toMatchObject({ status: 503 });
  expect(begun).toEqual([]);
});

test('a read that fails holds nothing, and does not keep others waiting', async () => {
  const { open, begun, read } = start(1);
  const failing = open('acme').read(
    () => Promise.reject(new Error('no connection')),
    () => 0,
  );
  const next = read('next', 10);

  await expect(failing).rejects.toThrow('no connection');
  await next.done;

  expect(begun).toEqual(['next']);
});

test('a response that was closed before its first read holds nothing', async () => {
  const database = await openDatabase('sqlite::memory:');
  const workspace = storeOpener(database)('acme');
  await insert(workspace, location, [{ name: 'yard' }]);
  await database.run('update locations set name = $1', ['a'.repeat(51_000_000)]);
  const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 50_000_000 };
  const closed = { closed: true, destroyed: false, once: () => undefined };
  const destroyed = { closed: false, destroyed: true, once: () => undefined };

  for (const response of [closed, destroyed, closed]) {
    expect(await workspace.within(limits, response).list(location, { limit: 1 })).toHaveLength(1);
  }
  await database.close();
});

test('what is read after the response was closed is not held', async () => {
  const { open, begun, read, readFor } = start();
  const response = open('acme');
  response.release();
  await readFor(response, 'late', 60_000_000);

  await read('next', 10).done;

  expect(begun).toEqual(['late', 'next']);
});
