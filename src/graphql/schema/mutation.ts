/** One line per field: a search for `createAssets` lands here. */
import {
  allocation,
  asset,
  assetCategory,
  label,
  location,
  project,
  transportOrder,
  workOrder,
} from '../../records/index.ts';
import { builder } from './builder.ts';
import { revertField } from './changes.ts';
import { createField, deleteField, importField, updateField, updateOneField, upsertField } from './write.ts';

builder.mutationType({
  description:
    'The operations that write. A batch is stored completely or not at all, unless invalid items are to be skipped. With the header `Idempotency-Key`, a request runs once, and repeats get the first response; the header `X-Change-Message` says why the records are changed, and `X-Import-Run` counts them in an import.',
  fields: (t) => ({
    createAssets: createField(t, asset),
    updateAssets: updateField(t, asset),
    upsertAssets: upsertField(t, asset),
    deleteAssets: deleteField(t, asset),
    createWorkOrders: createField(t, workOrder),
    updateWorkOrders: updateField(t, workOrder),
    upsertWorkOrders: upsertField(t, workOrder),
    deleteWorkOrders: deleteField(t, workOrder),
    createProjects: createField(t, project),
    updateProject: updateOneField(t, project),
    updateProjects: updateField(t, project),
    upsertProjects: upsertField(t, project),
    deleteProjects: deleteField(t, project),
    createLocations: createField(t, location),
    updateLocations: updateField(t, location),
    upsertLocations: upsertField(t, location),
    deleteLocations: deleteField(t, location),
    createTransportOrders: createField(t, transportOrder),
    updateTransportOrders: updateField(t, transportOrder),
    upsertTransportOrders: upsertField(t, transportOrder),
    deleteTransportOrders: deleteField(t, transportOrder),
    createAssetCategories: createField(t, assetCategory),
    updateAssetCategories: updateField(t, assetCategory),
    upsertAssetCategories: upsertField(t, assetCategory),
    deleteAssetCategories: deleteField(t, assetCategory),
    createAllocations: createField(t, allocation),
    updateAllocations: updateField(t, allocation),
    upsertAllocations: upsertField(t, allocation),
    deleteAllocations: deleteField(t, allocation),
    createLabels: createField(t, label),
    updateLabels: updateField(t, label),
    upsertLabels: upsertField(t, label),
    deleteLabels: deleteField(t, label),
    importRecords: importField(t),
    revertChanges: revertField(t),
  }),
});
