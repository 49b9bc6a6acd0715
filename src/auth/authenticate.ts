/** Gives each request its identity and its session. The only place that binds a store to a workspace. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { type Config, isLoopback } from '../config.ts';
import { badRequest, forbidden, ServiceError, tooManyRequests, unauthorized } from '../errors.ts';
import { changeMessage } from '../http/request.ts';
import { expected } from '../model/issues.ts';
import { createSession, type Session } from '../services/write.ts';
import type { Usage } from '../store/connections/driver.ts';
import type { Database } from '../store/database.ts';
import { createStoreOpener, type StoreUser } from '../store/workspace-store.ts';
import { createKeyring, type Identity } from './keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: Session;
    /** Null until the request is authenticated, and for public routes. */
    identity: Identity | null;
    usage: Usage;
    /** True if a request that is still running would be admitted again: its key may have been revoked. */
    hasAccess(): Promise<boolean>;
  }
  interface FastifyContextConfig {
    /** True if a request needs no key: for pages and probes, which show no data. */
    isPublic?: (request: FastifyRequest) => boolean;
  }
}

export function createSessionOpener(database: Database) {
  const openStore = createStoreOpener(database);
  return (identity: Identity, user: StoreUser): Session => createSession(openStore(identity.workspace, user), identity);
}

type Settings = Pick<Config, 'openAccess' | 'corsOrigins' | 'requestsPerMinute' | 'failedLoginsPerMinute'>;

/** Authenticates every request before its body is read. Returns `isOpen`, which says whether there are no keys yet. */
export async function authenticate(app: FastifyInstance, database: Database, settings: Settings) {
  const { openAccess, corsOrigins, requestsPerMinute, failedLoginsPerMinute } = settings;
  const openSession = createSessionOpener(database);
  const keyring = createKeyring(database);
  // Checked now so that the first request is as fast as later ones; if it fails, requests check again.
  await keyring.findAnonymous().catch(() => undefined);
  // Each process counts for itself: behind a load balancer, each allows the full number.
  await app.register(rateLimit, { global: false, timeWindow: '1 minute' });
  const keyGenerator = ({ identity, ip }: FastifyRequest) => identity?.keyPrefix ?? ip;
  const requests = oneAtATime(app.createRateLimit({ max: requestsPerMinute, keyGenerator }));
  const failures = oneAtATime(app.createRateLimit({ max: failedLoginsPerMinute, keyGenerator: ({ ip }) => ip }));

  /** While the database is unavailable, a request with a key is authenticated by it, and one without a key gets the 503. */
  const findAnonymous = async (keys: readonly string[]): Promise<Identity | undefined> => {
    if (openAccess === 'no') return undefined;
    return keyring.findAnonymous().catch((error: unknown) => {
      if (keys.length === 0) throw error;
      return undefined;
    });
  };

  const identify = async ([key, other]: readonly string[]): Promise<Identity> => {
    if (key === undefined)
      throw unauthorized('an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY');
    if (other !== undefined) {
      const problem = 'expected one API key, received different ones in Authorization and X-API-Key';
      throw unauthorized(problem, 'two API keys');
    }
    return keyring.identify(key);
  };

  const isValid = (keys: readonly string[]): Promise<boolean> =>
    identify(keys).then(Boolean, (error: unknown) => {
      if (isUnauthorized(error)) return false;
      throw error;
    });

  /**
   * Beyond the limit of failed logins, an address gets a ServiceError 429 before its key is looked up, unless this key was accepted before:
   * several clients may share the address.
   */
  async function logIn(request: FastifyRequest, reply: FastifyReply, keys: readonly string[]): Promise<Identity> {
    if (failedLoginsPerMinute === 0) return identify(keys);
    if (!keys.some(keyring.hasAccepted)) {
      const state = await failures(request, { increment: false });
      if (!state.isAllowed && state.remaining === 0) applyLimit(reply, 'failed logins', { ...state, isExceeded: true });
    }
    return identify(keys).catch(async (error: unknown) => {
      if (isUnauthorized(error)) applyLimit(reply, 'failed logins', await failures(request));
      throw error;
    });
  }

  const admit = (request: FastifyRequest, identity: Identity): void => {
    request.identity = identity;
    // Kept with each change that the request makes. Throws a ServiceError 400 for a message that is too long.
    const author = { userId: identity.userId, requestId: request.id, message: changeMessage(request.headers) };
    request.session = openSession(identity, { author, usage: request.usage });
  };

  const admitOrThrow = async (request: FastifyRequest, reply: FastifyReply, keys: readonly string[]): Promise<void> => {
    const open = await findAnonymous(keys);
    // That there are no keys may have been cached before the first one was created: its requests must not get into the open workspace.
    const anonymous = open && !(await isValid(keys)) ? open : undefined;
    if (anonymous && openAccess === 'loopback') requireSameMachine(request, corsOrigins);
    admit(request, anonymous ?? (await logIn(request, reply, keys)));
    // After `admit`, because requests are counted by the key of the identity.
    if (requestsPerMinute > 0) applyLimit(reply, 'requests', await requests(request));
  };

  app.decorateRequest('hasAccess', async function (this: FastifyRequest): Promise<boolean> {
    const keys = keysIn(this);
    try {
      const { workspace } = (await findAnonymous(keys)) ?? (await identify(keys));
      const { number, name } = this.identity?.workspace ?? {};
      // After a renaming, a client that reconnects gets the new name, and continues where it was.
      return workspace.number === number && workspace.name === name;
    } catch (error) {
      // While the database is unavailable, access cannot be checked, and nothing can be read.
      return !isUnauthorized(error);
    }
  });
  app.decorateRequest('session');
  app.decorateRequest('identity', null);
  app.decorateRequest('usage');
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isPublic?.(request)) return done();
    request.usage = { statements: 0 };
    const keys = keysIn(request);
    const [key, other] = keys;
    // A request needs no promise if its one key is cached, and requests are not limited: of the CPU of a cached list, promises take 4 %.
    const isSimple = key !== undefined && other === undefined && requestsPerMinute === 0;
    const identity = isSimple ? keyring.identifyCached(key) : undefined;
    if (identity) {
      admit(request, identity);
      return done();
    }
    admitOrThrow(request, reply, keys).then(() => done(), done);
  });
  return { isOpen: () => keyring.findAnonymous().then(Boolean, () => false) };
}

const isUnauthorized = (error: unknown): boolean => error instanceof ServiceError && error.status === 401;

type Limit = ReturnType<FastifyInstance['createRateLimit']>;

/** Counts requests one after the other: counted concurrently, all would get the count of the last one. */
function oneAtATime(limit: Limit): Limit {
  const queue = pLimit(1);
  return (...args) => queue(() => limit(...args));
}

function applyLimit(reply: FastifyReply, what: 'requests' | 'failed logins', state: Awaited<ReturnType<Limit>>): void {
  if (state.isAllowed) return;
  const { max, remaining, ttlInSeconds, isExceeded } = state;
  reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': ttlInSeconds });
  if (!isExceeded) return;
  reply.header('retry-after', ttlInSeconds);
  throw tooManyRequests(`at most ${max} ${what} per minute: try again in ${ttlInSeconds} s`);
}

/** Returns the distinct keys in `Authorization: Bearer KEY`, `Authorization: KEY` and `X-API-Key: KEY`. */
function keysIn({ headers }: FastifyRequest): string[] {
  const sent = [headers.authorization?.replace(/^bearer +/i, ''), headers['x-api-key']];
  return [...new Set(sent.filter((key) => typeof key === 'string'))];
}

const notLocal = 'not from this machine, without an API key';

/**
 * Rejects requests that may not come from this machine. Without keys, only the loopback address keeps others out. Pages of other
 * origins can get past it with a host name that resolves to this machine or with requests whose responses they cannot read, and
 * other machines through a proxy. Reads the Host header itself: Fastify's `hostname` is what X-Forwarded-Host says if the peer is one
 * of TRUSTED_PROXIES, and every page in a browser of this machine has the peer 127.0.0.1.
 */
function requireSameMachine({ headers }: FastifyRequest, origins: readonly string[]): void {
  const { host = '', origin } = headers;
  const hostname = host && new URL(`http://${host}`).hostname;
  if (!isLoopback(hostname)) {
    const loopback = 'a loopback name such as 127.0.0.1 or localhost while there is no API key';
    throw badRequest(`Host: ${expected(loopback, hostname || undefined)}`, notLocal);
  }
  const isListed = origin !== undefined && origins.includes(origin);
  // Browsers send one of these two, and older ones only the origin.
  const isOther = origin !== undefined && origin !== new URL(`http://${host}`).origin;
  if ((isOther || ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))) && !isListed) {
    const problem = 'without an API key, pages of other origins may call this service only if CORS_ORIGINS lists them';
    throw forbidden(problem, 'origin not in CORS_ORIGINS');
  }
  if (Object.keys(headers).some((name) => /^(?:forwarded|via|x-forwarded-.*)$/.test(name))) {
    throw forbidden('without an API key, requests through a proxy are rejected: create a key first', notLocal);
  }
}
