/** A separate process that holds the write lock of an SQLite file for a number of milliseconds. */
import { setTimeout } from 'node:timers/promises';
import { openSqlite } from './database.mjs';

const [, , file, milliseconds] = process.argv;
const { query, close } = await openSqlite(file);
await query('begin immediate');
await setTimeout(Number(milliseconds));
await query('rollback');
await close();
