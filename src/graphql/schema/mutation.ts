/** The mutations, one line per field: a search for `createAssets` lands here. They call the same services as REST and decide nothing. */
import type { Limits } from '../../config.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../records/index.ts';
import type { Builder } from './builder.ts';
import type { ObjectTypes } from './object-type.ts';
import { createField } from './write/create.ts';
import { deleteField } from './write/delete.ts';
import { importField } from './write/import.ts';
import { createInputTypes } from './write/input-type.ts';
import { createKeys } from './write/key-type.ts';
import { createRejections } from './write/rejections.ts';
import { revertField } from './write/revert.ts';
import { updateField } from './write/update.ts';
import { updateOneField } from './write/update-one.ts';
import { upsertField } from './write/upsert.ts';

export function defineMutation(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const schema = {
    builder,
    types,
    limits,
    inputs: createInputTypes(builder, limits),
    keys: createKeys(builder, limits),
    rejections: createRejections(builder),
  };
  const create = createField(schema);
  const update = updateField(schema);
  const updateOne = updateOneField(schema);
  const upsert = upsertField(schema);
  const remove = deleteField(schema);

  builder.mutationType({
    description:
      'The operations that write. A batch is stored completely or not at all, unless invalid items are to be skipped. With the header `Idempotency-Key`, a request runs once, and repeats get the first response; the header `X-Change-Message` says why the records are changed.',
    fields: (t) => ({
      createAssets: create(t, asset),
      updateAssets: update(t, asset),
      upsertAssets: upsert(t, asset),
      deleteAssets: remove(t, asset),
      createWorkOrders: create(t, workOrder),
      updateWorkOrders: update(t, workOrder),
      upsertWorkOrders: upsert(t, workOrder),
      deleteWorkOrders: remove(t, workOrder),
      createProjects: create(t, project),
      updateProject: updateOne(t, project),
      updateProjects: update(t, project),
      upsertProjects: upsert(t, project),
      deleteProjects: remove(t, project),
      createLocations: create(t, location),
      updateLocations: update(t, location),
      upsertLocations: upsert(t, location),
      deleteLocations: remove(t, location),
      createTransportOrders: create(t, transportOrder),
      updateTransportOrders: update(t, transportOrder),
      upsertTransportOrders: upsert(t, transportOrder),
      deleteTransportOrders: remove(t, transportOrder),
      createAssetCategories: create(t, assetCategory),
      updateAssetCategories: update(t, assetCategory),
      upsertAssetCategories: upsert(t, assetCategory),
      deleteAssetCategories: remove(t, assetCategory),
      importRecords: importField(schema, t),
      revertChanges: revertField(schema, t),
    }),
  });
}
