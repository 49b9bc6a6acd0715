/** Simultaneous creates may share transactions, and affect each other in no other way. */
import { describe, expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const statusesOf = (responses: { status: number }[]) => responses.map(({ status }) => status);

describe('a rejected create does not affect the others:', () => {
  test('invalid input, unknown references and taken values', async () => {
    await service.create('/assets', { name: 'Pump', uid: 'taken' });

    const responses = await Promise.all([
      service.post('/assets', [{ name: 'a', uid: 'A' }]),
      service.post('/assets', [{ uid: 'no name' }]),
      service.post('/assets', [{ name: 'b', uid: 'B' }]),
      service.post('/assets', [{ name: 'c', uid: 'taken' }]),
      service.post('/assets', [{ name: 'd', currentLocationId: 'location_01h455vb4pex5vsknk084sn02q' }]),
      service.post('/locations', [{ name: 'e' }]),
    ]);

    expect(statusesOf(responses)).toEqual([201, 400, 201, 409, 400, 201]);
    expect(responses[3]?.body.error).toBe('[0].uid: another asset has the uid "taken"');
    const { assets } = await service.data('{ assets { nodes { uid } } }');
    expect(assets.nodes.map(({ uid }: { uid: string }) => uid).toSorted()).toEqual(['A', 'B', 'taken']);
  });

  test('the same uid in several creates', async () => {
    const responses = await Promise.all(
      ['same', 'other', 'same', 'same'].map((uid) => service.post('/assets', [{ name: 'Pump', uid }])),
    );

    expect(statusesOf(responses).toSorted()).toEqual([201, 201, 409, 409]);
    expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(2);
  });
});
