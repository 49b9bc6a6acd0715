/** External IDs that are merged into the stored ones: several systems may each know one key of a record, and nothing of the others. */
import { describe, expect, test } from 'vitest';
import { asset } from '../../src/records/index.ts';
import { updateDocument, upsertDocument } from '../support/mutations.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const upsertAssets = (input: object[], by: object = { field: 'UID' }) =>
  service.graphql(upsertDocument(asset, 'outcome record { externalIds updatedAt }'), { by, input });
const updateAssets = (...input: object[]) => service.graphql(updateDocument(asset, 'externalIds'), { input });

const three = { erp: '1', crm: '2', telematics: '3' };

test('none to merge, or null, leaves those that are stored', async () => {
  const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: three });

  for (const mergeExternalIds of [null, {}]) {
    const { body } = await updateAssets({ id, name: 'Tower crane', mergeExternalIds });
    expect(body.data.result).toEqual([{ externalIds: three }]);
  }
});

test('keys of JavaScript are keys like any other', async () => {
  const [{ id }] = await service.create('/assets', JSON.parse('{"name":"Crane","externalIds":{"constructor":"1"}}'));

  const { text } = await updateAssets(
    JSON.parse(`{"id":"${id}","mergeExternalIds":{"__proto__":"2","toString":null}}`),
  );

  expect(text).toContain('{"externalIds":{"constructor":"1","__proto__":"2"}}');
});

describe('an item is rejected', () => {
  const many = (from: number, length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`k${from + index}`, '1']));
  const issuesOf = (response: Awaited<ReturnType<typeof updateAssets>>) =>
    response.body.errors?.[0].extensions.issues.map(({ path, message }: { path: unknown[]; message: string }) => [
      path.slice(2).join('.'),
      message,
    ]);

  test('with both fields, with anything but texts and nulls, and by a key that it clears', async () => {
    const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: three });
    const both = 'expected externalIds or mergeExternalIds, received both';

    expect(issuesOf(await updateAssets({ id, externalIds: null, mergeExternalIds: { erp: '2' } }))).toEqual([
      ['mergeExternalIds', both],
    ]);
    expect(issuesOf(await updateAssets({ id, mergeExternalIds: { erp: 5, crm: '\0' } }))).toEqual([
      ['mergeExternalIds.erp', 'expected text or null, received 5'],
      ['mergeExternalIds.crm', expect.stringContaining('NUL')],
    ]);
    expect(issuesOf(await updateAssets({ id, mergeExternalIds: ['erp'] }))).toEqual([
      ['mergeExternalIds', 'expected an object of texts such as {"erp":"4711","crm":null}, received an array'],
    ]);
    expect(issuesOf(await upsertAssets([{ mergeExternalIds: { erp: null } }], { externalId: 'erp' }))).toEqual([
      ['mergeExternalIds.erp', 'required: records are found by this external ID'],
    ]);
  });

  test('if the record would have too many, and not for those that it clears', async () => {
    const [{ id }] = await service.create('/assets', { name: 'Crane', externalIds: many(0, 99) });
    const cleared = Object.fromEntries(Object.keys(many(0, 99)).map((key) => [key, null]));

    expect(issuesOf(await updateAssets({ id, mergeExternalIds: many(200, 2) }))).toEqual([
      ['mergeExternalIds', 'expected at most 100 keys, received 101, including those of the stored asset'],
    ]);
    const { body } = await updateAssets({ id, mergeExternalIds: { ...cleared, ...many(300, 100) } });
    expect(body.data.result).toEqual([{ externalIds: many(300, 100) }]);
  });
});
