/** For the knex command line: the same database and migrations as the service. */
import { loadConfig } from './src/config.ts';
import { knexConfig } from './src/store/database.ts';

export default knexConfig(loadConfig(process.env).databaseUrl);
