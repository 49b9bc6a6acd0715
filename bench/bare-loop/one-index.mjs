/**
 * The floor "bare loop, one index": what SQLite can do for a table of assets with a single index besides the primary key, and no
 * external IDs that can be looked up. IDs ascend, as the service's do.
 *
 *   node one-index.mjs FILE SIZE SECONDS EXISTING
 *
 * Prints the records stored per second by transactions of SIZE, after storing EXISTING records if the file has fewer.
 */
import ids from '../../dist/src/records/index.js';
import { asset } from '../records.mjs';
import { measure, open } from './loop.mjs';

const [file, size, seconds, existing] = process.argv.slice(2);
const database = open(file);
database.exec(`
  create table if not exists assets (
    workspace_id text not null,
    id text not null,
    name text not null,
    uid text,
    status_id text,
    asset_type_id text,
    current_location_id text,
    track_utilization integer,
    manufactured_at text,
    acquired_at text,
    owner_id text,
    manufacturer_id text,
    purchase_order_id text,
    external_ids text,
    created_at text not null,
    updated_at text not null,
    updated_by text,
    primary key (workspace_id, id)
  ) strict, without rowid;
  create index if not exists assets_current_location_id
    on assets (workspace_id, current_location_id) where current_location_id is not null;`);
const columns = database.pragma('table_info(assets)').map(({ name }) => name);
const stored = database.prepare('select count(*) from assets').pluck().get();

/** Rows of the assets from one number to another. */
function* rows(from, to) {
  for (let n = from; n < to; ) {
    const now = new Date().toISOString();
    for (const id of ids.newIds('asset', Math.min(1_000, to - n))) {
      const { externalIds, trackUtilization, ...record } = asset(n, process.pid);
      yield [
        'acme',
        id,
        record.name,
        record.uid,
        record.statusId,
        record.assetTypeId,
        record.currentLocationId,
        trackUtilization ? 1 : 0,
        record.manufacturedAt,
        record.acquiredAt,
        record.ownerId,
        record.manufacturerId,
        record.purchaseOrderId,
        JSON.stringify(externalIds),
        now,
        now,
        'bench',
      ];
      n += 1;
    }
  }
}

const fill = { columns, rows: rows(stored, Number(existing)), size: 1_000, seconds: Number.POSITIVE_INFINITY };
measure(database, fill);
const loop = { columns, rows: rows(Math.max(stored, Number(existing)), Number.POSITIVE_INFINITY), size: Number(size) };
console.log(measure(database, { ...loop, seconds: Number(seconds) }));
database.close();
