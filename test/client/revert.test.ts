/** The client's reversal of changes. */
import { beforeEach, expect, test } from 'vitest';
import { GraphqlError, type Yardgraph } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { useService } from '../support/service.ts';

const service = useService();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service);
  const [yard, depot] = await yardgraph.locations.create([{ name: 'Yard' }, { name: 'Depot' }]);
  await yardgraph.locations.update([{ id: depot.id, name: 'Quay' }]);
  await yardgraph.projects.create([{ name: 'Wall', locationId: yard.id }]);
});

const names = async () => (await service.data('{ locations { nodes { name } } }')).locations.nodes;

test('gives the records of a range their earlier state back, and says what was not reversed', async () => {
  expect(await yardgraph.revertChanges({ after: '0', upTo: '2' })).toEqual({
    reversed: 0,
    kept: 1,
    failed: 1,
    notReversed: [
      {
        cursor: '1',
        kind: 'LOCATION',
        recordId: expect.stringMatching(/^location_/),
        outcome: 'FAILED',
        message: expect.stringMatching(/^this location is referenced by 1 project: project_\w+$/),
      },
      {
        cursor: '2',
        kind: 'LOCATION',
        recordId: expect.stringMatching(/^location_/),
        outcome: 'KEPT',
        message: 'this location has changed since, last by change 3',
      },
    ],
  });
  expect(await yardgraph.revertChanges({ after: '0', upTo: '4' })).toEqual({
    reversed: 4,
    kept: 0,
    failed: 0,
    notReversed: [],
  });
  expect(await names()).toEqual([]);
});

test('reverses nothing in a dry run', async () => {
  const { reversed } = await yardgraph.revertChanges({ after: '2', upTo: '3' }, { dryRun: true });

  expect(reversed).toBe(1);
  expect(await names()).toEqual([{ name: 'Yard' }, { name: 'Quay' }]);
});

test('keeps a message with the changes that it makes, and makes them once for each key', async () => {
  const range = { after: '2', upTo: '3' };
  const options = { changeMessage: 'a mistake', idempotencyKey: 'undo-1' };

  expect(await yardgraph.revertChanges(range, options)).toMatchObject({ reversed: 1 });
  expect(await yardgraph.revertChanges(range, options)).toMatchObject({ reversed: 1 });
  expect(await service.data('{ changes(after: "4") { nodes { action message } } }')).toEqual({
    changes: { nodes: [{ action: 'UPDATED', message: 'a mistake' }] },
  });
});

test('rejects a range that the log does not have, and arguments that it does not know', async () => {
  const { message } = await errorOf(GraphqlError, yardgraph.revertChanges({ after: '0', upTo: '5' }));
  expect(message).toBe('there is no change with the cursor "5" yet: the last one is "4"');

  const misnamed = { after: '0', to: '2' } as never;
  expect((await errorOf(TypeError, yardgraph.revertChanges(misnamed))).message).toBe(
    'revertChanges: unknown option to',
  );
  const misspelt = yardgraph.revertChanges({ after: '2', upTo: '3' }, { dryrun: true } as object);
  expect((await errorOf(TypeError, misspelt)).message).toBe('revertChanges: unknown option dryrun');
});
