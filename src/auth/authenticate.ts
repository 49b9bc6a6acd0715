/** Who a request comes from. The one caller that binds a store to a workspace. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { badRequest, forbidden, unauthorized } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { Session } from '../services/session.ts';
import type { Database } from '../store/database.ts';
import type { Usage } from '../store/usage.ts';
import { createStores, type WorkspaceStore } from '../store/workspace-store.ts';
import { createKeyring, type Identity, nobody } from './keyring.ts';
import { createRateLimits } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: Session<WorkspaceStore>;
    /** Null before the request is let in, and where nobody is asked who they are. */
    identity: Identity | null;
    usage: Usage;
  }
  interface FastifyContextConfig {
    /** Whether a request needs no key: for pages and probes, which show no data. */
    isPublic?: (request: FastifyRequest) => boolean;
  }
}

/** Opens sessions, each in the workspace of its identity. */
export function createSessions(database: Database) {
  const openStore = createStores(database);
  return ({ workspaceId, userId, mayWrite }: Identity, usage?: Usage): Session<WorkspaceStore> => ({
    store: openStore(workspaceId, usage),
    userId,
    mayWrite,
  });
}

type Settings = Pick<Config, 'openAccess' | 'corsOrigins' | 'requestsPerMinute' | 'failedLoginsPerMinute'>;

/** Gives every request its session, before its body is read. */
export async function authenticate(app: FastifyInstance, database: Database, settings: Settings) {
  const openSession = createSessions(database);
  const keyring = createKeyring(database);
  // So that the first request costs what the others do; where it fails, requests ask again.
  await keyring.isOpen().catch(() => undefined);
  const { limitRequests, limitFailures } = await createRateLimits(app, settings);

  /** While the database cannot tell, a request with a key has to prove it; one without throws the 503. */
  const isOpenTo = async (keys: readonly string[]): Promise<boolean> => {
    if (settings.openAccess === 'no') return false;
    try {
      return await keyring.isOpen();
    } catch (error) {
      if (keys.length === 0) throw error;
      return false;
    }
  };

  const identify = async ([key, other]: readonly string[]): Promise<Identity> => {
    if (key === undefined) throw unauthorized('an API key is needed');
    if (other !== undefined) throw unauthorized('expected one API key, received two');
    return keyring.identify(key);
  };

  app.decorateRequest('session');
  app.decorateRequest('identity', null);
  app.decorateRequest('usage');
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isPublic?.(request)) return;
    const keys = keysIn(request);
    const isOpen = await isOpenTo(keys);
    if (isOpen && settings.openAccess === 'loopback') requireThisMachine(request, settings.corsOrigins);
    request.usage = { statements: 0 };
    request.identity = isOpen
      ? nobody
      : await limitFailures(request, reply, {
          isKnown: () => keys.some(keyring.hasLetIn),
          login: () => identify(keys),
        });
    await limitRequests(request, reply);
    request.session = openSession(request.identity, request.usage);
  });
  return { isOpen: () => keyring.isOpen().catch(() => false) };
}

/** The different keys in a request: `Authorization: Bearer KEY`, `Authorization: KEY` and `X-API-Key: KEY` are all right. */
function keysIn({ headers }: FastifyRequest): string[] {
  const sent = [headers.authorization?.replace(/^bearer +/i, ''), headers['x-api-key']];
  return [...new Set(sent.filter((key) => typeof key === 'string'))];
}

/**
 * While open, only loopback keeps others out. A page from elsewhere gets past that with a name that leads here, or by
 * asking without reading the answer; whoever is beyond a proxy, by way of the proxy.
 */
function requireThisMachine({ hostname, headers }: FastifyRequest, origins: readonly string[]): void {
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)) {
    throw badRequest(`Host: ${expected('a loopback name such as 127.0.0.1 or localhost', hostname || undefined)}`);
  }
  const isListed = headers.origin !== undefined && origins.includes(headers.origin);
  if (['cross-site', 'same-site'].includes(String(headers['sec-fetch-site'])) && !isListed) {
    throw forbidden('without an API key, pages from elsewhere may not call this service');
  }
  if (['forwarded', 'via', 'x-forwarded-for'].some((name) => headers[name] !== undefined)) {
    throw forbidden('without an API key, nobody is let in through a proxy: make a key first');
  }
}
