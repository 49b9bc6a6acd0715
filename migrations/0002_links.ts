/** Lets assets have a category and a parent, locations a parent, and work orders an asset. */
import { kindColumns } from './kind-tables.ts';

export const { up, down } = kindColumns({
  assets: { category_id: 'reference', parent_id: 'parent' },
  locations: { parent_id: 'parent' },
  work_orders: { asset_id: 'reference' },
});
