/** `revertChanges`: which changes of a range are not reversed, and why. test/services/write-model.test.ts has what the others store. */
import { expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const document = `mutation ($after: String!, $upTo: String!, $message: String, $dryRun: Boolean) {
  result: revertChanges(after: $after, upTo: $upTo, message: $message, dryRun: $dryRun) {
    reversed kept failed notReversed { cursor kind recordId outcome message }
  }
}`;

const cursor = async (): Promise<string> => (await service.data('{ changeCursor }')).changeCursor;
const revert = async (after: string, upTo: string, options = {}) =>
  (await service.data(document, { after, upTo, ...options })).result;

const withNothingReversed = { reversed: 0, kept: 0, failed: 0, notReversed: [] };

test('of a range, only the changes with a message are reversed, and of these not those of records that others changed in between', async () => {
  const own = { 'x-change-message': 'import' };
  const { body } = await service.post('/projects', [{ name: 'North' }, { name: 'South' }], own);
  await service.post('/projects', [{ name: 'West' }], { 'x-change-message': 'other' });
  await service.patch(`/projects/${body[1].id}`, { notes: 'by hand' });
  await service.patch(`/projects/${body[1].id}`, { name: 'South yard' }, own);
  const [other] = await service.create('/projects', { name: 'Own' });
  await service.patch(`/projects/${other.id}`, { name: 'Theirs' }, own);
  const upTo = await cursor();

  const result = await revert('0', upTo, { message: 'import' });

  const message = 'this project has changed since, last by change 4';
  expect(result).toMatchObject({ reversed: 2, kept: 2, failed: 0 });
  expect(result.notReversed).toMatchObject(['2', '5'].map((number) => ({ cursor: number, outcome: 'KEPT', message })));
  const { projects } = await service.data('{ projects(orderBy: [{ name: ASC }]) { nodes { name notes } } }');
  expect(projects.nodes).toEqual([
    { name: 'Own', notes: null },
    { name: 'South yard', notes: 'by hand' },
    { name: 'West', notes: null },
  ]);
  expect(await revert('0', upTo, { message: 'nothing' })).toEqual(withNothingReversed);
});

test('a label stays that records have got since, and one goes that no record has, or had already before', async () => {
  const [other] = await service.create('/assets', { name: 'Other' }, { name: 'Old', statusId: 'old' });
  const after = await cursor();
  const labels = ['new', 'old', 'own'].map((id) => ({ key: `STATUS:${id}`, name: id }));
  await service.create('/labels', ...labels, { key: 'COMPANY:new', name: 'new' });
  await service.create('/assets', { name: 'Own', statusId: 'own' });
  const [kept] = await service.create('/assets', { name: 'Kept', statusId: 'own' });
  const upTo = await cursor();
  const undone = () => revert(after, upTo, { dryRun: true });
  expect(await undone()).toEqual({ ...withNothingReversed, reversed: 6 });

  const changes = `[{ id: "${other.id}", statusId: "new" }, { id: "${kept.id}", name: "By hand" }]`;
  await service.data(`mutation { updateAssets(input: ${changes}) { id } }`);
  const reasons = [
    ['FAILED', `this label is referenced by 1 asset: ${other.id}`],
    ['FAILED', `this label is still referenced by the asset ${kept.id}`],
    ['KEPT', 'this asset has changed since, last by change 10'],
  ];
  const notReversed = reasons.map(([outcome, message]) => ({ outcome, message }));
  expect(await undone()).toMatchObject({ reversed: 3, kept: 1, failed: 2, notReversed });
});

test('a label stays that others have given to a record, also where this record is restored, too', async () => {
  const own = { 'x-change-message': 'labels' };
  const [project] = await service.create('/projects', { name: 'North' });
  const after = await cursor();
  await service.post('/labels', [{ key: 'STATUS:late', name: 'Late' }], own);
  await service.patch(`/projects/${project.id}`, { statusId: 'late' });
  await service.patch(`/projects/${project.id}`, { name: 'South' }, own);

  const message = `this label is still referenced by the project ${project.id}`;
  const result = await revert(after, await cursor(), { message: 'labels' });
  expect(result).toMatchObject({ reversed: 1, failed: 1, notReversed: [{ outcome: 'FAILED', message }] });
});

test.each([
  [
    'x',
    'y',
    'after: expected a cursor of a change, such as "4711", received "x"; upTo: expected a cursor of a change, such as "4711", received "y"',
  ],
  ['7', '5', 'upTo: expected a cursor that is not before after, "7", received "5"'],
  ['0', '10001', 'expected at most 10,000 changes, received 10,001: reverse them in several parts, the latest first'],
  ['0', '1', 'there is no change with the cursor "1" yet: the last one is "0"'],
])('the range after %s up to %s is rejected', async (after, upTo, expected) => {
  const { body } = await service.graphql(document, { after, upTo });
  expect(body.errors[0].message).toBe(expected);
});
