/**
 * The floor for SQLite: better-sqlite3 with a prepared insert into the service's own table, with its IDs and indexes, and each
 * commit synced to disk. Prints records per second in transactions of 1,000, and commits per second of one record each.
 */
import Database from 'better-sqlite3';
import ids from '../dist/src/model/ids.js';
import { asset } from './records.mjs';

const [path, records, secondsOfSingles] = process.argv.slice(2);
const run = process.pid;

const database = new Database(path);
database.pragma('journal_mode = wal');
database.pragma('synchronous = full');
const insert = database.prepare(`
  insert into assets (workspace_id, id, name, uid, status_id, asset_type_id, track_utilization, acquired_at, owner_id,
    external_ids, created_at, updated_at, updated_by)
  values ('acme', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'bench')`);
let written = 0;
const write = database.transaction((size) => {
  const now = new Date().toISOString();
  for (const id of ids.newIds('asset', size)) {
    const record = asset(written, run);
    written += 1;
    insert.run(
      id,
      record.name,
      record.uid,
      record.statusId,
      record.assetTypeId,
      record.trackUtilization ? 1 : 0,
      record.acquiredAt,
      record.ownerId,
      JSON.stringify(record.externalIds),
      now,
      now,
    );
  }
});

/** Writes until `isDone(records, milliseconds)`, and returns the records per second. */
function perSecond(size, isDone) {
  const start = performance.now();
  const before = written;
  while (!isDone(written - before, performance.now() - start)) write(size);
  return ((written - before) / (performance.now() - start)) * 1_000;
}

const thousands = perSecond(1_000, (total) => total >= Number(records));
const singles = perSecond(1, (_, milliseconds) => milliseconds >= Number(secondsOfSingles) * 1_000);
console.log(JSON.stringify({ thousands, singles }));
database.close();
