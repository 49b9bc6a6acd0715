/** Who a request comes from. The one caller that binds a store to a workspace. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { badRequest, unauthorized } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { Session } from '../services/session.ts';
import type { Database } from '../store/database.ts';
import { createWorkspaceStore, type Usage } from '../store/workspace-store.ts';
import { createKeyring, type Identity, nobody } from './keyring.ts';
import { createRateLimits } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: Session;
    /** Null before the request is let in, and where nobody is asked who they are. */
    identity: Identity | null;
    usage: Usage;
  }
  interface FastifyContextConfig {
    /** Whether a request needs no key: for pages and probes, which show no data. */
    isPublic?: (request: FastifyRequest) => boolean;
  }
}

/** A session in the workspace of whoever is let in. */
export const sessionOf = (
  database: Database,
  { workspaceId, userId, mayWrite }: Identity,
  usage: Usage = { statements: 0 },
): Session => ({
  store: createWorkspaceStore(database, workspaceId, usage),
  userId,
  mayWrite,
});

type Settings = Pick<Config, 'openAccess' | 'requestsPerMinute' | 'failedLoginsPerMinute'>;

/** Gives every request its session, before its body is read. */
export async function authenticate(app: FastifyInstance, database: Database, settings: Settings) {
  const keyring = createKeyring(database);
  await keyring.isOpen();
  const { limitRequests, limitFailures } = await createRateLimits(app, settings);

  const identify = async (request: FastifyRequest, isOpen: boolean): Promise<Identity> => {
    if (isOpen && settings.openAccess !== 'no') return nobody;
    const [key, other] = keysIn(request);
    if (key === undefined) throw unauthorized('an API key is needed');
    if (other !== undefined) throw unauthorized('expected one API key, received two');
    return keyring.identify(key);
  };

  app.decorateRequest('session');
  app.decorateRequest('identity', null);
  app.decorateRequest('usage');
  app.addHook('onRequest', async (request, reply) => {
    const isPublic = request.routeOptions.config.isPublic?.(request) ?? false;
    const isOpen = isPublic ? keyring.wasOpen() : await keyring.isOpen();
    if (isOpen && settings.openAccess === 'loopback') requireLoopbackName(request.hostname);
    if (isPublic) return;
    request.usage = { statements: 0 };
    request.identity = await limitFailures(request, reply, () => identify(request, isOpen));
    await limitRequests(request, reply);
    request.session = sessionOf(database, request.identity, request.usage);
  });
  return { isOpen: keyring.wasOpen };
}

/** The different keys in a request: `Authorization: Bearer KEY`, `Authorization: KEY` and `X-API-Key: KEY` are all right. */
function keysIn({ headers }: FastifyRequest): string[] {
  const sent = [headers.authorization?.replace(/^bearer +/i, ''), headers['x-api-key']];
  return [...new Set(sent.filter((key) => typeof key === 'string'))];
}

/** While open, only loopback keeps others out; a page from elsewhere gets past that with a name that leads here. */
function requireLoopbackName(hostname: string): void {
  if (/^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)) return;
  throw badRequest(`Host: ${expected('a loopback name such as 127.0.0.1 or localhost', hostname || undefined)}`);
}
