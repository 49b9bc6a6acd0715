/** The mutations, one line per field: a search for `createAssets` lands here. They call the same services as REST and decide nothing. */
import type { Limits } from '../../config.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../records/index.ts';
import type { Builder } from './builder.ts';
import { createField } from './mutations/create.ts';
import { updateOneField } from './mutations/update-one.ts';
import type { ObjectTypes } from './object-type.ts';

export function defineMutation(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const schema = { builder, types, limits };
  const create = createField(schema);
  const updateOne = updateOneField(schema);

  builder.mutationType({
    description: 'The operations that write. A batch is stored completely or not at all.',
    fields: (t) => ({
      createAssets: create(t, asset),
      createWorkOrders: create(t, workOrder),
      createProjects: create(t, project),
      updateProject: updateOne(t, project),
      createLocations: create(t, location),
      createTransportOrders: create(t, transportOrder),
      createAssetCategories: create(t, assetCategory),
    }),
  });
}
