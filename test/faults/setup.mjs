/** Plants a fault in the process of a test file: the wrappers that the loaded modules call, and other SQL for the drivers. */
import pg from 'pg';
import sqlite3 from 'sqlite3';
import { faults } from './faults.mjs';

const fault = faults.find(({ name }) => name === process.env.FAULT);

globalThis.plantedFault = (name, original) => fault.plant.find(([, planted]) => planted === name)[2](original);

if (fault?.sql) {
  // The service prepares its statements; migrations use the others, by Knex.
  for (const method of ['prepare', 'all', 'run']) {
    const original = sqlite3.Database.prototype[method];
    sqlite3.Database.prototype[method] = function (sql, ...rest) {
      return original.call(this, fault.sql(sql), ...rest);
    };
  }
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (sql, ...rest) {
    return query.call(this, typeof sql === 'string' ? fault.sql(sql) : sql, ...rest);
  };
}
