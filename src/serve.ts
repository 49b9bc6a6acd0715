import type { FastifyInstance } from 'fastify';
import { version } from '../package.json';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { errorCode, StartError } from './errors.ts';
import { announce, openLogs } from './logs.ts';
import { program } from './program.ts';
import { serveMetrics } from './serve-metrics.ts';
import { createKeyStore } from './store/admin/api-keys.ts';
import { startSweep } from './store/admin/result-sweep.ts';
import { type Database, openDatabase } from './store/database.ts';

/** `prepare` runs before the service can be reached. Throws a StartError. */
export async function serve(config: Config, prepare?: (database: Database) => Promise<void>): Promise<void> {
  const logs = await openLogs();
  const database = await openDatabase(config.databaseUrl, config.databaseOptions);
  try {
    await prepare?.(database);
    const isOpen = await checkOpenAccess(database, config);
    const metrics = await serveMetrics(database, config);
    const app = await createApp(database, config, { logs, ownsProcess: true });
    for (const warning of config.warnings) app.log.warn(warning);
    const address = await listen(app, config);
    const endSweep = startSweep(database, app.log, config.logRetention);
    closeOnSignal(app, database, endSweep);
    // Node prints the error itself, and ends the process.
    process.on('uncaughtExceptionMonitor', ({ name }) =>
      app.log.fatal({ error: name, uptimeSeconds: uptimeSeconds() }, 'stopped'),
    );
    // graphql-js leaves the first items of a list without a handler if a later item fails at once (its pull request
    // 3761). The response reports that error, so it must not end the process. All other rejections do.
    process.on('unhandledRejection', (error) => {
      if (!(error instanceof Error && error.name === 'GraphQLError')) throw error;
    });
    const { name, location } = database.driver;
    const fields = { version, node: process.version, address, metrics, database: name, location };
    announce(
      isOpen ? 'warn' : 'info',
      isOpen ? `started, ${openTo[config.openAccess]}` : 'started',
      { ...fields, isNewDatabase: database.isNew, isOpen },
      banner(address, database, config, isOpen),
    );
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** True if the service is open. Throws a StartError if the settings do not allow this. */
async function checkOpenAccess(database: Database, { host, openAccess }: Config): Promise<boolean> {
  const isOpen = await createKeyStore(database).isDefinitelyEmpty();
  if (!isOpen || openAccess !== 'no') return isOpen;
  throw new StartError(
    `without a key the service would be open to anyone who can reach ${host}: create one with ` +
      `"${program} keys create", or change HOST or ALLOW_OPEN_ACCESS (see docs/settings.md)`,
  );
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    // For localhost, Fastify would open a second server for ::1, and not wait for its responses.
    return await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port });
  } catch (error) {
    await app.close();
    const noAddress = `HOST: ${host} is not an address of this machine`;
    const messages: Readonly<Record<string, string>> = {
      EADDRINUSE: `PORT: ${port} is in use on ${host}: choose another one with --port or PORT, such as PORT=4001`,
      EACCES: `PORT: not allowed to listen on ${port}, choose another one`,
      EADDRNOTAVAIL: noAddress,
      ENOTFOUND: noAddress,
      EAI_AGAIN: noAddress,
    };
    const message = messages[errorCode(error)];
    throw message === undefined ? error : new StartError(message);
  }
}

/** Repeated signals are ignored: a terminal and a supervisor may both send one. */
function closeOnSignal(app: FastifyInstance, database: Database, endSweep: () => void): void {
  let isClosing = false;
  const close = async (signal: string) => {
    if (isClosing) return;
    isClosing = true;
    endSweep();
    await app.close();
    await database.close();
    app.log.info({ signal, uptimeSeconds: uptimeSeconds() }, 'stopped');
    // Connections to a database that no longer responds would keep the process alive.
    process.exit();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void close(signal));
}

const openTo: Record<Config['openAccess'], string> = {
  no: '',
  loopback: 'open to everybody on this machine until there is an API key',
  anyone: 'OPEN TO ANYONE WHO CAN REACH THIS PORT until there is an API key',
};

const uptimeSeconds = (): number => Math.round(process.uptime());

function banner(address: string, { driver }: Database, { graphiql, openAccess }: Config, isOpen: boolean): string {
  const lines = [
    ['Home page', `${address}/`],
    [graphiql ? 'GraphQL and GraphiQL' : 'GraphQL', `${address}/graphql`],
    ['REST reference', `${address}/reference`],
    ['Data', driver.location],
  ].map(([label = '', where]) => `  ${label.padEnd(20)}  ${where}\n`);
  const access = isOpen ? openTo[openAccess] : 'for requests with an API key';
  return `\n  Yardgraph ${version} is ready, ${access}\n\n${lines.join('')}`;
}
