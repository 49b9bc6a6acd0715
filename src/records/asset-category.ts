import { mustExist, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/**
 * Interface: "Asset category". The tree cannot contain cycles: a parent must be stored before its child, and no operation
 * changes a parent.
 */
export const assetCategory = recordKind({
  name: 'AssetCategory',
  plural: 'AssetCategories',
  label: 'asset category',
  description: 'A node in the tree of asset categories.',
  table: 'asset_categories',
  idPrefix: 'category',
  fields: {
    name: text('name of the asset category'),
    description: text('description of the asset category'),
    parentId: mustExist(reference('AssetCategory', 'ID of the parent asset category')),
  },
  stamps: [],
  unset: 'omitted',
});
