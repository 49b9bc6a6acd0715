/** Simultaneous creates may share transactions, and affect each other in no other way. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });

let last = 0;

/** A client of a workspace of its own. */
const newClient = async () => {
  last += 1;
  return service.as(await service.key({ workspace: `workspace-${last}` }));
};

const statusesOf = (responses: { status: number }[]) => responses.map(({ status }) => status);

describe('a rejected create does not affect the others:', () => {
  test('invalid input, unknown references and taken values', async () => {
    const ours = await newClient();
    await ours.create('/assets', { name: 'Pump', uid: 'taken' });

    const responses = await Promise.all([
      ours.post('/assets', [{ name: 'a', uid: 'A' }]),
      ours.post('/assets', [{ uid: 'no name' }]),
      ours.post('/assets', [{ name: 'b', uid: 'B' }]),
      ours.post('/assets', [{ name: 'c', uid: 'taken' }]),
      ours.post('/assets', [{ name: 'd', currentLocationId: 'location_01h455vb4pex5vsknk084sn02q' }]),
      ours.post('/locations', [{ name: 'e' }]),
    ]);

    expect(statusesOf(responses)).toEqual([201, 400, 201, 409, 400, 201]);
    expect(responses[3]?.body.error).toBe('[0].uid: another asset has the uid "taken"');
    const { assets } = await ours.data('{ assets { nodes { uid } } }');
    expect(assets.nodes.map(({ uid }: { uid: string }) => uid).toSorted()).toEqual(['A', 'B', 'taken']);
  });

  test('the same uid in several creates', async () => {
    const ours = await newClient();

    const responses = await Promise.all(
      ['same', 'other', 'same', 'same'].map((uid) => ours.post('/assets', [{ name: 'Pump', uid }])),
    );

    expect(statusesOf(responses).toSorted()).toEqual([201, 201, 409, 409]);
    expect((await ours.data('{ assets { totalCount } }')).assets.totalCount).toBe(2);
  });
});

test('simultaneous creates of several workspaces share no records, uids or references', async () => {
  const ours = await newClient();
  const theirs = await newClient();
  const [{ id: place }] = await ours.create('/locations', { name: 'Yard' });

  const responses = await Promise.all([
    ours.post('/assets', [{ name: 'Pump', uid: 'same', currentLocationId: place }]),
    theirs.post('/assets', [{ name: 'Crane', uid: 'same' }]),
    theirs.post('/assets', [{ name: 'Crane', currentLocationId: place }]),
  ]);

  expect(statusesOf(responses)).toEqual([201, 201, 400]);
  const query = '{ assets { nodes { name workspaceId } } }';
  expect((await ours.data(query)).assets.nodes).toEqual([{ name: 'Pump', workspaceId: `workspace-${last - 1}` }]);
  expect((await theirs.data(query)).assets.nodes).toEqual([{ name: 'Crane', workspaceId: `workspace-${last}` }]);
});

test('each client gets its own records, in the order sent', async () => {
  const ours = await newClient();

  const created = await Promise.all(
    Array.from({ length: 10 }, (_, client) =>
      ours.create('/locations', ...Array.from({ length: 30 }, (_, n) => ({ name: `${client} ${n}` }))),
    ),
  );

  created.forEach((records, client) => {
    expect(records.map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, n) => `${client} ${n}`));
  });
});
