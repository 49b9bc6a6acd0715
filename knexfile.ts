/** For the knex command line: the same database and migrations as the service. */
import { loadConfig } from './src/config.ts';
import { knexConfig, requireFolder, sqlitePath } from './src/store/database.ts';

const { databaseUrl } = loadConfig(process.env);
requireFolder(sqlitePath(databaseUrl) ?? '');

export default knexConfig(databaseUrl);
