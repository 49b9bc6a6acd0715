/** References: IDs of this service must exist; any other text is a foreign identifier. */

import { describe, expect, test } from 'vitest';
import { withArticle } from '../../src/model/labels.ts';
import { asset } from '../../src/records/index.ts';
import { kinds, unknownId } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();

const references = kinds.flatMap(({ kind, path, smallest }) =>
  Object.entries(kind.fields).flatMap(([name, field]) =>
    field.type === 'reference' ? [{ kind, path, smallest, name, field }] : [],
  ),
);

const kindNamed = (name: string) => {
  const found = kinds.find(({ kind }) => kind.name === name);
  if (!found) throw new Error(name);
  return found;
};

describe.each(references)('$kind.name: $name', ({ path, smallest, name, field }) => {
  const target = kindNamed(field.target);

  test('may be the ID of a stored record of the right kind', async () => {
    const [{ id }] = await service.create(target.path, target.smallest);

    const [record] = await service.create(path, { ...smallest, [name]: id });

    expect(record[name]).toBe(id);
  });

  test('is 400 if the record is not stored', async () => {
    const id = unknownId(target.kind);

    const { status, body } = await service.post(path, [smallest, { ...smallest, [name]: id }]);

    expect([status, body.error]).toEqual([
      400,
      `[1].${name}: there is no ${target.kind.label} with the ID "${id}" in this workspace`,
    ]);
  });

  test('is 400 if the ID is of another kind, whether stored or not', async () => {
    const other = kinds.find(({ kind }) => kind !== target.kind) ?? target;
    const [{ id }] = await service.create(other.path, other.smallest);

    for (const wrong of [id, unknownId(other.kind)]) {
      const { status, body } = await service.post(path, [{ ...smallest, [name]: wrong }]);
      expect(status).toBe(400);
      expect(body.error).toBe(
        `[0].${name}: expected the ID of a stored ${target.kind.label} (${target.kind.idPrefix}_…), ` +
          `received that of ${withArticle(other.kind.label)}, "${wrong}"`,
      );
    }
  });

  test.each(['', 'x'.repeat(256)])('is 400 if it is empty or longer than 255 characters', async (id) => {
    expect((await service.post(path, [{ ...smallest, [name]: id }])).status).toBe(400);
  });
});

test.each(references.filter(({ field }) => !('mustExist' in field)))(
  '$kind.name: $name may be a foreign identifier of 1 to 255 characters, which is stored as sent',
  async ({ path, smallest, name }) => {
    for (const foreign of ['7', ' ERP/7 ', 'location_7', 'person_01h455vb4pex5vsknk084sn02q', 'ü'.repeat(255)]) {
      const [record] = await service.create(path, { ...smallest, [name]: foreign });
      expect(record[name]).toBe(foreign);
    }
  },
);

test('all references of a batch to one kind are checked by one statement', async () => {
  const [{ id: projectId }] = await service.create('/projects', { name: 'Bridge' });
  const locations = await service.create('/locations', {}, {}, {});
  const batch = Array.from({ length: 300 }, (_, index) => ({ projectId, locationId: locations[index % 3].id }));

  const statements = await service.statements(() => service.create('/work-orders', ...batch));

  expect(statements.filter((sql) => sql.startsWith('select'))).toHaveLength(2);
});

test('the parent of an asset category must be stored: foreign identifiers are rejected', async () => {
  const { status, body } = await service.post('/asset-categories', [{ parentId: 'foreign' }]);

  expect(status).toBe(400);
  expect(body.error).toBe('[0].parentId: expected the ID of a stored asset category (category_…), received "foreign"');
});

test('a category cannot become its own ancestor: the database requires its parent to exist before it', async () => {
  const [root] = await service.create('/asset-categories', { name: 'root' });
  const [child] = await service.create('/asset-categories', { name: 'child', parentId: root.id });

  expect(root.id < child.id).toBe(true);
  const now = '2026-03-01T00:00:00.000Z';
  const orphan = { workspace_id: 1, id: 'x', parent_id: 'y', created_at: now, updated_at: now };
  await expect(service.database.knex('asset_categories').insert(orphan)).rejects.toThrow(/foreign key/i);
});

test.each(
  kinds.flatMap(({ kind, path, smallest }) =>
    Object.entries(kind.fields).flatMap(([name, field]) =>
      field.type === 'foreignReference' ? [{ kind, path, smallest, name }] : [],
    ),
  ),
)(
  '$kind.name: $name refers to another system: any text of 1 to 255 characters is stored as sent',
  async (reference) => {
    const { path, smallest, name } = reference;
    const [record] = await service.create(path, { ...smallest, [name]: unknownId(asset) });

    expect(record[name]).toBe(unknownId(asset));
    expect((await service.post(path, [{ ...smallest, [name]: '' }])).status).toBe(400);
  },
);
