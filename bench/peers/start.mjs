/** Starts PostGraphile on its own tables in the service's database; see tables.mjs. */
import { freePort, startServer } from '../processes.mjs';
import { createPeerTables } from './tables.mjs';

export async function startPeer({ url }) {
  await createPeerTables(url);
  const settings = {
    DATABASE_URL: url,
    PORT: String(await freePort()),
    NODE_ENV: 'production',
    GRAPHILE_ENV: 'production',
  };
  return startServer('peers/postgraphile.mjs', [], settings);
}
