/** References: IDs of this service must exist; any other text is a foreign identifier. */

import { expect, test } from 'vitest';
import { asset, project as projectKind } from '../../src/records/index.ts';
import { restKinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

test('an ID of this service is that of a stored record of the right kind, or the batch is 400', async () => {
  const [{ id }] = await service.create('/assets', { name: 'Crane' });
  const [project] = await service.create('/projects', { name: 'Bridge' });
  const unknown = unknownId(projectKind);

  const { body } = await service.post('/work-orders', [
    { projectId: project.id },
    { projectId: id },
    { projectId: unknown },
  ]);

  const errors = [
    `[1].projectId: expected the ID of a stored project (project_…), received that of an asset, "${id}"`,
    `[2].projectId: there is no project with the ID "${unknown}" in this workspace`,
  ];
  expect(body).toEqual({ error: errors.join('; '), code: '400' });
});

test('a foreign identifier of 1 to 255 characters is stored as sent, in every reference that may be one', async () => {
  const foreign = ['7', ' ERP/7 ', 'location_7', 'person_01h455vb4pex5vsknk084sn02q', 'ü'.repeat(255)];
  for (const { kind, path, smallest } of restKinds) {
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
