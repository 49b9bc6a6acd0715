/**
 * The floor of SQLite: better-sqlite3 with a prepared insert, into the service's own table, with its ids and indexes, each
 * commit synced to disk. Prints records a second in transactions of 1,000, and commits a second of one record each.
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
let made = 0;
const write = database.transaction((size) => {
  const now = new Date().toISOString();
  for (let i = 0; i < size; i += 1) {
    const it = asset(made, run);
    made += 1;
    insert.run(
      ids.newId('asset'),
      it.name,
      it.uid,
      it.statusId,
      it.assetTypeId,
      it.trackUtilization ? 1 : 0,
      it.acquiredAt,
      it.ownerId,
      JSON.stringify(it.externalIds),
      now,
      now,
    );
  }
});

/** Writes until it is enough, and returns the records a second. */
function perSecond(size, isEnough) {
  const start = performance.now();
  const before = made;
  while (!isEnough(made - before, performance.now() - start)) write(size);
  return ((made - before) / (performance.now() - start)) * 1_000;
}

const thousands = perSecond(1_000, (written) => written >= Number(records));
const singles = perSecond(1, (_, milliseconds) => milliseconds >= Number(secondsOfSingles) * 1_000);
console.log(JSON.stringify({ thousands, singles }));
database.close();
