/**
 * The floor "bare loop, this layout": the assets that the service has stored in one file, stored again in a copy of that file from
 * before, which has the same tables, indexes and triggers. So this needs no knowledge of the layout.
 *
 *   node this-layout.mjs COPY SIZE SECONDS FILE
 *
 * Prints the records stored per second by transactions of SIZE.
 */
import Database from 'better-sqlite3';
import { measure, open } from './loop.mjs';

const [copy, size, seconds, file] = process.argv.slice(2);
const database = open(copy);
const service = new Database(file, { readonly: true });
const columns = database.pragma('table_info(assets)').map(({ name }) => name);
const last = database.prepare('select max(id) from assets').pluck().get() ?? '';
const rows = service
  .prepare(`select ${columns.join(', ')} from assets where id > ?`)
  .raw()
  .iterate(last);
console.log(measure(database, { columns, rows, size: Number(size), seconds: Number(seconds) }));
database.close();
service.close();
