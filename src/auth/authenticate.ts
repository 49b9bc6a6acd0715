/** Only this file binds a store to a workspace. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { type Config, isLoopback } from '../config.ts';
import { badRequest, forbidden, ServiceError, tooManyRequests, unauthorized } from '../errors.ts';
import { decodeHeader, readChangeMessage, readImportRun } from '../http/request.ts';
import { expected } from '../model/issues.ts';
import { createSession, type Session } from '../services/write.ts';
import type { Database } from '../store/database.ts';
import { createStoreOpener, type StoreUser, type Usage } from '../store/workspace-store.ts';
import { type Identity, isSameHash, Keyring } from './keyring.ts';
import { hashSecret, isShortText } from './keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: Session;
    /** Null before authentication, and for public routes. */
    identity: Identity | null;
    usage: Usage;
    /** False if the key has expired or was revoked, or its workspace was renamed. */
    isStillAuthenticated(): Promise<boolean>;
  }
  interface FastifyContextConfig {
    /** For pages and probes, which show no records. */
    isPublic?: (request: FastifyRequest) => boolean;
    /** For files that programs open which know users and passwords only: the password is the key. */
    acceptsPassword?: boolean;
  }
}

export function createSessionOpener(database: Database) {
  const openStore = createStoreOpener(database);
  return (identity: Identity, user: StoreUser): Session => createSession(openStore(identity.workspace, user), identity);
}

type AccessSettings = Pick<
  Config,
  'openAccess' | 'corsOrigins' | 'requestsPerMinute' | 'failedLoginsPerMinute' | 'remoteUserHeader' | 'remoteUserSecret'
>;

/** Runs before the body is read. `isOpen` is true while there are no keys. */
export async function authenticate(app: FastifyInstance, database: Database, settings: AccessSettings) {
  const keyring = new Keyring(database);
  // Now, so that the first request is fast; if it fails, requests check again.
  await keyring.findAnonymous().catch(() => undefined);
  // Each process counts for itself.
  await app.register(rateLimit, { global: false, timeWindow: '1 minute' });
  const authenticator = new Authenticator(app, database, keyring, settings);

  app.decorateRequest('isStillAuthenticated', function (this: FastifyRequest): Promise<boolean> {
    return authenticator.isStillAuthenticated(this);
  });
  app.decorateRequest('session');
  app.decorateRequest('identity', null);
  app.decorateRequest('usage');
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isPublic?.(request)) return done();
    request.usage = { statements: 0 };
    if (authenticator.authenticateCached(request)) return done();
    authenticator.authenticate(request, reply).then(() => done(), done);
  });
  return { isOpen: () => keyring.findAnonymous().then(Boolean, () => false) };
}

class Authenticator {
  readonly #keyring: Keyring;
  readonly #settings: AccessSettings;
  readonly #createSession: ReturnType<typeof createSessionOpener>;
  readonly #countRequest: RateLimit;
  readonly #countFailedLogin: RateLimit;

  constructor(app: FastifyInstance, database: Database, keyring: Keyring, settings: AccessSettings) {
    const { requestsPerMinute, failedLoginsPerMinute } = settings;
    const keyOrAddress = ({ identity, ip }: FastifyRequest) => identity?.keyPrefix ?? ip;
    const address = ({ ip }: FastifyRequest) => ip;
    this.#keyring = keyring;
    this.#settings = settings;
    this.#createSession = createSessionOpener(database);
    this.#countRequest = oneAtATime(app.createRateLimit({ max: requestsPerMinute, keyGenerator: keyOrAddress }));
    this.#countFailedLogin = oneAtATime(app.createRateLimit({ max: failedLoginsPerMinute, keyGenerator: address }));
  }

  /** Needs no promise: promises take 4 % of the CPU of a cached list. */
  authenticateCached(request: FastifyRequest): boolean {
    const [key, secondKey] = keysIn(request);
    if (key === undefined || secondKey !== undefined || this.#settings.requestsPerMinute > 0) return false;
    const identity = this.#keyring.authenticateCached(key, request);
    if (identity) this.#openSession(request, identity);
    return identity !== undefined;
  }

  async authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { openAccess, corsOrigins, requestsPerMinute } = this.#settings;
    const keys = keysIn(request);
    const anonymous = await this.#findAnonymous(keys);
    // The cached absence of keys may be outdated: requests with the first key must not get into the open workspace.
    const isAnonymous = anonymous !== undefined && !(await this.#areValid(keys, request));
    if (isAnonymous && openAccess === 'loopback') requireSameMachine(request, corsOrigins);
    this.#openSession(request, isAnonymous ? anonymous : await this.#authenticateWithinLimit(request, reply, keys));
    // After the session is opened: requests are counted by its key.
    if (requestsPerMinute > 0) applyLimit(reply, 'requests', await this.#countRequest(request));
  }

  async isStillAuthenticated(request: FastifyRequest): Promise<boolean> {
    const keys = keysIn(request);
    try {
      const { workspace } = (await this.#findAnonymous(keys)) ?? (await this.#authenticateKeys(keys, request));
      const { number, name } = request.identity?.workspace ?? {};
      // After a renaming, a client that reconnects gets the new name, and continues where it was.
      return workspace.number === number && workspace.name === name;
    } catch (error) {
      // While the database is unavailable, keys cannot be checked, and nothing can be read.
      return !isUnauthorized(error);
    }
  }

  #openSession(request: FastifyRequest, ofKey: Identity): void {
    const { remoteUserHeader } = this.#settings;
    const userId = remoteUserHeader && readRemoteUser(request, remoteUserHeader, this.#settings.remoteUserSecret);
    const identity = userId === undefined ? ofKey : { ...ofKey, userId };
    request.identity = identity;
    const author = { userId: identity.userId, requestId: request.id, message: readChangeMessage(request.headers) };
    const importRun = readImportRun(request.headers);
    request.session = this.#createSession(identity, { author, importRun, usage: request.usage });
  }

  /** While the database is unavailable, requests with a key are authenticated by it; the others get the 503. */
  async #findAnonymous(keys: readonly string[]): Promise<Identity | undefined> {
    if (this.#settings.openAccess === 'no') return undefined;
    return this.#keyring.findAnonymous().catch((error: unknown) => {
      if (keys.length === 0) throw error;
      return undefined;
    });
  }

  async #authenticateKeys([key, secondKey]: readonly string[], request: FastifyRequest): Promise<Identity> {
    if (key === undefined) {
      const password = request.routeOptions.config.acceptsPassword ? ', or as the password, with any user' : '';
      throw unauthorized(
        `an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY${password}`,
      );
    }
    if (secondKey !== undefined) {
      const problem = 'expected one API key, received different ones in Authorization and X-API-Key';
      throw unauthorized(problem, 'two API keys');
    }
    return this.#keyring.authenticate(key, request);
  }

  #areValid(keys: readonly string[], request: FastifyRequest): Promise<boolean> {
    return this.#authenticateKeys(keys, request).then(Boolean, (error: unknown) => {
      if (isUnauthorized(error)) return false;
      throw error;
    });
  }

  /**
   * Beyond the limit of failed logins, an address gets a 429 before its key is looked up, unless this process has
   * accepted the key before: clients may share the address.
   */
  async #authenticateWithinLimit(
    request: FastifyRequest,
    reply: FastifyReply,
    keys: readonly string[],
  ): Promise<Identity> {
    if (this.#settings.failedLoginsPerMinute === 0) return this.#authenticateKeys(keys, request);
    if (!keys.some((key) => this.#keyring.hasAccepted(key))) {
      const state = await this.#countFailedLogin(request, { increment: false });
      if (!state.isAllowed && state.remaining === 0) applyLimit(reply, 'failed logins', { ...state, isExceeded: true });
    }
    return this.#authenticateKeys(keys, request).catch(async (error: unknown) => {
      if (isUnauthorized(error)) applyLimit(reply, 'failed logins', await this.#countFailedLogin(request));
      throw error;
    });
  }
}

const isUnauthorized = (error: unknown): boolean => error instanceof ServiceError && error.status === 401;

type RateLimit = ReturnType<FastifyInstance['createRateLimit']>;

/** Concurrent requests would all get the count of the last one. */
function oneAtATime(limit: RateLimit): RateLimit {
  const queue = pLimit(1);
  return (...args) => queue(() => limit(...args));
}

function applyLimit(
  reply: FastifyReply,
  what: 'requests' | 'failed logins',
  state: Awaited<ReturnType<RateLimit>>,
): void {
  if (state.isAllowed) return;
  const { max, remaining, ttlInSeconds, isExceeded } = state;
  reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': ttlInSeconds });
  if (!isExceeded) return;
  reply.header('retry-after', ttlInSeconds);
  throw tooManyRequests(`at most ${max} ${what} per minute: try again in ${ttlInSeconds} s`);
}

/** `Authorization: Bearer KEY`, `Authorization: KEY`, `X-API-Key: KEY` and, for exports, `Authorization: Basic …`. */
function keysIn({ headers, routeOptions }: FastifyRequest): string[] {
  const { authorization, 'x-api-key': key } = headers;
  const basic = routeOptions.config.acceptsPassword ? /^basic +(\S+)$/i.exec(authorization ?? '')?.[1] : undefined;
  const sent = [basic ? passwordIn(basic) : authorization?.replace(/^bearer +/i, ''), key];
  return [...new Set(sent.filter((key) => typeof key === 'string'))];
}

/** Users have no colon. */
const passwordIn = (basic: string): string =>
  Buffer.from(basic, 'base64')
    .toString()
    .replace(/^[^:]*:?/, '');

const secretHeader = 'x-remote-user-secret';

/** The user whom a proxy has authenticated. Undefined for a request that does not come through one. */
function readRemoteUser({ headers, raw, ips = [] }: FastifyRequest, name: string, secret = ''): string | undefined {
  const count = raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
  // With the secret alone, a proxy has dropped a user without a name.
  if (count === 0 && headers[secretHeader] === undefined) return undefined;
  // Fastify lists an address of X-Forwarded-For only if the peer is in TRUSTED_PROXIES.
  if (ips.length < 2 || !isSameHash(hashSecret(String(headers[secretHeader])), hashSecret(secret))) {
    const source = `from a proxy in TRUSTED_PROXIES, with X-Forwarded-For and the secret in X-Remote-User-Secret`;
    throw unauthorized(`${name}: expected ${source}`, 'user not from a trusted proxy');
  }
  const user = decodeHeader(String(headers[name] ?? ''));
  if (count === 1 && isShortText(user)) return user;
  throw badRequest(`${name}: expected one user of 1 to 255 characters, no control characters`);
}

const notLocal = 'not from this machine, without an API key';

/**
 * Without keys, the loopback address is the only protection. Pages of other origins get past it with a host name that
 * resolves to this machine, or with requests whose responses they cannot read; other machines through a proxy. Reads
 * the Host header itself: from a peer in TRUSTED_PROXIES, Fastify's `hostname` is X-Forwarded-Host, and every page in a
 * browser of this machine has the peer 127.0.0.1.
 */
function requireSameMachine({ headers }: FastifyRequest, origins: readonly string[]): void {
  const { host = '', origin } = headers;
  const hostname = host && new URL(`http://${host}`).hostname;
  if (!isLoopback(hostname)) {
    const loopback = 'a loopback name such as 127.0.0.1 or localhost while there is no API key';
    throw badRequest(`Host: ${expected(loopback, hostname || undefined)}`, notLocal);
  }
  const isListed = origin !== undefined && origins.includes(origin);
  // Older browsers send only the origin.
  const isOtherOrigin = origin !== undefined && origin !== new URL(`http://${host}`).origin;
  if ((isOtherOrigin || ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))) && !isListed) {
    const problem = 'without an API key, pages of other origins may call this service only if CORS_ORIGINS lists them';
    throw forbidden(problem, 'origin not in CORS_ORIGINS');
  }
  if (Object.keys(headers).some((name) => /^(?:forwarded|via|x-forwarded-.*)$/.test(name))) {
    throw forbidden('without an API key, requests through a proxy are rejected: create a key first', notLocal);
  }
}
