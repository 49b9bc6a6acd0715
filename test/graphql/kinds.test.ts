/** Every kind of record over GraphQL: created, found, changed and deleted in batches, with a history. */
import { expect, test } from 'vitest';
import { uncapitalized } from '../../src/model/labels.ts';
import { createDocument, deleteDocument, updateDocument } from '../support/mutations.ts';
import { fullRecord, kinds, unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test.each(kinds)(
  '$kind.pluralLabel are created, found, changed and deleted with all their fields, in the order sent',
  async ({ kind, smallest }) => {
    const full = fullRecord(kind);
    const shared = Object.entries(full).filter(([name]) => !kind.fields[name]?.unique);
    const one = uncapitalized(kind.name);
    const stamps = kind.stamps.map((stamp) => `${stamp} { id }`);
    const fields = `id createdAt updatedAt ${[...stamps, ...Object.keys(kind.fields)].join(' ')}`;

    const { result: created } = await service.data(createDocument(kind, fields), { input: [full, smallest] });
    expect(created).toMatchObject([full, smallest]);
    const [{ id, createdAt }, { id: other }] = created;

    const found = await service.data(
      `query ($id: ID!, $ids: [ID!]!) { one: ${one}(id: $id) { ${fields} } node(id: $id) { id __typename } nodes(ids: $ids) { id } }`,
      { id, ids: [other, unknownId(kind), 'foreign', id] },
    );
    expect(found).toEqual({
      one: created[0],
      node: { id, __typename: kind.name },
      nodes: [{ id: other }, null, null, { id }],
    });

    const patches = [
      { id: other, ...Object.fromEntries(shared) },
      { id, name: 'Other' },
    ];
    const jo = service.as(await service.key({ user: 'jo' }));
    const { result: updated } = await jo.data(updateDocument(kind, fields), { input: patches });
    expect(updated).toMatchObject([patches[0], { ...full, id, name: 'Other', createdAt }]);
    expect(updated[1].updatedAt > created[0].updatedAt).toBe(true);
    for (const stamp of kind.stamps) expect(updated[1][stamp].id).toBe(stamp === 'updatedBy' ? 'jo' : 'erp-sync');

    const { record } = await service.data(
      `query ($id: ID!) { record: ${one}(id: $id) { history { nodes { cursor recordId action at record { id } } } } }`,
      { id },
    );
    const change = { recordId: id, record: { id } };
    expect(record.history.nodes).toEqual([
      { ...change, cursor: '4', action: 'UPDATED', at: updated[1].updatedAt },
      { ...change, cursor: '1', action: 'CREATED', at: createdAt },
    ]);

    const { result: deleted } = await service.data(deleteDocument(kind, fields), { ids: [other, id] });
    expect(deleted).toEqual(updated);
    const { nodes } = await service.data('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id, other] });
    expect(nodes).toEqual([null, null]);
  },
);
