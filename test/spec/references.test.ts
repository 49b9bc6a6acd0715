/** References: IDs of this service must exist; any other text is a foreign identifier. */

import { describe, expect, test } from 'vitest';
import { withArticle } from '../../src/model/labels.ts';
import { asset } from '../../src/records/index.ts';
import { kinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

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

  test('is the ID of a stored record of the right kind, or the batch is 400', async () => {
    const [{ id }] = await service.create(target.path, target.smallest);
    const other = kinds.find(({ kind }) => kind !== target.kind) ?? target;
    const [wrong] = await service.create(other.path, other.smallest);
    const errorFor = async (reference: string) => {
      const { status, body } = await service.post(path, [smallest, { ...smallest, [name]: reference }]);
      return [status, body.error];
    };

    expect((await service.create(path, { ...smallest, [name]: id }))[0][name]).toBe(id);
    const unknown = unknownId(target.kind);
    expect(await errorFor(unknown)).toEqual([
      400,
      `[1].${name}: there is no ${target.kind.label} with the ID "${unknown}" in this workspace`,
    ]);
    for (const ofOther of [wrong.id, unknownId(other.kind)]) {
      expect(await errorFor(ofOther)).toEqual([
        400,
        `[1].${name}: expected the ID of a stored ${target.kind.label} (${target.kind.idPrefix}_…), ` +
          `received that of ${withArticle(other.kind.label)}, "${ofOther}"`,
      ]);
    }
    for (const text of ['', 'x'.repeat(256)]) expect((await errorFor(text))[0]).toBe(400);
  });
});

test('a foreign identifier of 1 to 255 characters is stored as sent, in every reference that may be one', async () => {
  const foreign = ['7', ' ERP/7 ', 'location_7', 'person_01h455vb4pex5vsknk084sn02q', 'ü'.repeat(255)];
  for (const { kind, path, smallest } of kinds) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (!/reference/i.test(field.type) || 'mustExist' in field) continue;
      const texts = field.type === 'foreignReference' ? [...foreign, unknownId(asset)] : foreign;
      const records = await service.create(path, ...texts.map((text) => ({ ...smallest, [name]: text })));
      expect(records.map((record) => record[name])).toEqual(texts);
      expect((await service.post(path, [{ ...smallest, [name]: '' }])).status).toBe(400);
    }
  }
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
