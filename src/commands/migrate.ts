/** `yardgraph migrate`: brings the schema of the database up to date without starting the service. */
import type { Config } from '../config.ts';
import { connectDatabase } from '../store/database.ts';

export async function migrateDatabase({ databaseUrl, databaseOptions }: Config): Promise<void> {
  const database = await connectDatabase(databaseUrl, databaseOptions);
  try {
    const applied = await database.migrate();
    console.log(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'already up to date');
  } finally {
    await database.close();
  }
}
