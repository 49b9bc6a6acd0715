/** Another process that writes to the SQLite file: holds its lock for so many milliseconds. */
import { setTimeout } from 'node:timers/promises';
import { openSqlite } from './database.mjs';

const [, , file, milliseconds] = process.argv;
const { query, close } = await openSqlite(file);
await query('begin immediate');
await setTimeout(Number(milliseconds));
await query('rollback');
await close();
