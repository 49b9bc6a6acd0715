import { matchable, mustExist, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const assetCategory = recordKind({
  name: 'AssetCategory',
  plural: 'AssetCategories',
  label: 'asset category',
  pluralLabel: 'asset categories',
  description: 'A category of assets, such as cranes. Categories form a tree.',
  table: 'asset_categories',
  idPrefix: 'category',
  fields: {
    name: matchable(text('The name of the asset category.')),
    description: text('The description of the asset category.'),
    parentId: mustExist(reference('AssetCategory', 'the parent asset category', { reverse: 'children' })),
  },
  example: { name: 'Cranes', description: 'Mobile cranes and tower cranes.' },
  stamps: [],
  unset: 'omitted',
});
