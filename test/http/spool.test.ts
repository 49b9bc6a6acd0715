/** Bodies in temporary files: several readers, and limited room. */
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { spool } from '../../src/http/spool.ts';
import { createQuota } from '../../src/sharing/quota.ts';

const megabyte = 'x'.repeat(1_048_576);
const quota = createQuota({ total: 50 * megabyte.length, share: 25 * megabyte.length });

async function* texts(megabytes: number): AsyncGenerator<string> {
  for (let n = 0; n < megabytes; n += 1) yield megabyte;
}

const spoolFor = async (workspace: string, megabytes: number) => {
  const { open, length } = await spool(texts(megabytes), workspace, { quota });
  expect(length).toBe(megabytes * megabyte.length);
  return open() as Readable;
};

const lengthOf = async (content: AsyncIterable<Buffer>): Promise<number> => {
  let length = 0;
  for await (const chunk of content) length += chunk.length;
  return length;
};

const closed = (content: Readable) =>
  new Promise((resolve) => {
    content.once('close', resolve);
    content.destroy();
  });

test('a workspace has limited room, which becomes free when a reader is done', async () => {
  const first = await spoolFor('ours', 15);

  await expect(spoolFor('ours', 15)).rejects.toThrow('there is no room for a list of this size, try again');
  await closed(await spoolFor('theirs', 15));
  await closed(first);

  expect(await lengthOf(await spoolFor('ours', 15))).toBe(15 * megabyte.length);
});

test('all workspaces together have limited room', async () => {
  const contents = await Promise.all(['one', 'two', 'three'].map((owner) => spoolFor(owner, 16)));

  await expect(spoolFor('four', 16)).rejects.toThrow('there is no room');
  await Promise.all(contents.map(closed));
  await closed(await spoolFor('four', 16));
});

test('a body that stays in memory does not count against the limit for files', async () => {
  const { open, isInMemory } = await spool(texts(2), 'ours', { quota: createQuota({ total: 0, share: 0 }) });

  expect([isInMemory, (open() as Buffer).length]).toEqual([true, 2 * megabyte.length]);
});

test('several readers of one file each get all of it, even if another one leaves', async () => {
  const { open } = await spool(texts(12), 'ours', { quota });
  const [leaving, ...staying] = [open(), open(), open()] as Readable[];
  leaving?.destroy();

  expect(await Promise.all(staying.map(lengthOf))).toEqual([12 * megabyte.length, 12 * megabyte.length]);
});

test('a body in a file cannot be opened when its last reader is done', async () => {
  const { open } = await spool(texts(12), 'ours', { quota });
  const [first, second] = [open() as Readable, open() as Readable];
  await closed(first);
  await closed(open() as Readable);
  await closed(second);

  expect(open).toThrow('the file of this body is closed');
});
