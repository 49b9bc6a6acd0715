/** The life of the process: opens the database, listens, and on SIGTERM or SIGINT finishes what is in flight. */
import type { FastifyInstance } from 'fastify';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { StartError } from './errors.ts';
import { type Database, openDatabase } from './store/database.ts';

/** Requests still running after this long do not keep the process from ending. */
const closeTimeout = 30_000;

/**
 * Serves until told to stop. `prepare` runs on the open database before anybody can reach it.
 * What keeps the service from starting is one line a problem on standard error, and exit code 1.
 */
export async function serve(loadConfig: () => Config, prepare?: (database: Database) => Promise<void>): Promise<void> {
  try {
    const config = loadConfig();
    const database = await openDatabase(config.databaseUrl);
    try {
      await prepare?.(database);
      const app = await createApp(database, config);
      const address = await listen(app, config);
      closeOnSignal(app, database);
      console.log(banner(address, database, config));
    } catch (error) {
      await database.close();
      throw error;
    }
  } catch (error) {
    console.error(error instanceof StartError ? error.message : error);
    process.exitCode = 1;
  }
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') throw new StartError(`port ${port} of ${host} is in use: choose another with PORT`);
    if (code === 'EACCES') throw new StartError(`not allowed to listen on port ${port}: choose another with PORT`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError(`${host} is not an address of this machine`);
    throw error;
  }
}

function closeOnSignal(app: FastifyInstance, database: Database): void {
  const close = async () => {
    setTimeout(() => process.exit(1), closeTimeout).unref();
    // A connection whose last answer ends after this moment would stay open for its client's next request.
    setInterval(() => app.server.closeIdleConnections(), 50).unref();
    await app.close();
    await database.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void close());
}

const banner = (address: string, { location }: Database, { graphiql }: Config): string => `
  Yardgraph is ready, open to everybody on this machine

  GraphQL${graphiql ? ' and GraphiQL' : ''}  ${address}/graphql
  REST reference        ${address}/reference
  Data                  ${location}
`;
