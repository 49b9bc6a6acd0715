/** Adds allocations, which reserve an asset for a time. */
import { kindTables } from './kind-tables.ts';

export const { up, down } = kindTables({
  allocations: {
    asset_id: 'occupied not null',
    work_order_id: 'reference',
    project_id: 'reference',
    transport_order_id: 'reference',
    location_id: 'reference',
    allocation_order_id: 'reference',
    user_id: 'reference',
    start_date: 'time indexed',
    end_date: 'time',
    status_id: 'reference',
    notes: 'text',
    external_ids: 'external IDs',
    created_by: 'stamp',
    updated_by: 'stamp',
  },
});
