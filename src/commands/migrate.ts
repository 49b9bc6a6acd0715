/** `yardgraph migrate`: brings the schema of the database up to date without starting the service. */
import type { Config } from '../config.ts';
import { withDatabase } from './database.ts';

export const migrateDatabase = (config: Config) =>
  withDatabase(config, { mayCreate: true }, async (database) => {
    const applied = await database.migrate();
    console.log(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'already up to date');
  });
