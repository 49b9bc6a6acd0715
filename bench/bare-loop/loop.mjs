/** What both bare loops share: better-sqlite3 with a prepared insert and the settings of the service, without a server. */
import Database from 'better-sqlite3';

export function open(file) {
  const database = new Database(file);
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = off;
    pragma cache_size = -32768;
    pragma wal_autocheckpoint = 16384;
    pragma temp_store = memory;`);
  return database;
}

/**
 * Inserts assets in transactions of `size`, until all are stored or `seconds` have passed. Returns how many it stores per second,
 * without the time to make the rows.
 */
export function measure(database, { columns, rows, size, seconds }) {
  const values = columns.map(() => '?').join(', ');
  const insert = database.prepare(`insert into assets (${columns.join(', ')}) values (${values})`);
  const write = database.transaction((batch) => {
    for (const row of batch) insert.run(row);
  });
  let written = 0;
  let milliseconds = 0;
  for (const batch of batches(rows, size)) {
    const start = performance.now();
    write(batch);
    milliseconds += performance.now() - start;
    written += batch.length;
    if (milliseconds >= seconds * 1_000) break;
  }
  return (written / milliseconds) * 1_000;
}

function* batches(rows, size) {
  let batch = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
