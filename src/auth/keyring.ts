/** Keys are cached for two seconds: within this time, every process notices a new or revoked key. */
import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { unauthorized } from '../errors.ts';
import { type ApiKey, createKeyStore, type KeyStore, type WorkspaceId } from '../store/admin/api-keys.ts';
import type { Database } from '../store/database.ts';
import { hashSecret, newSecret, parseKey, type SecretKey, stateOf, writableKinds } from './keys.ts';

export interface Identity {
  readonly workspace: WorkspaceId;
  /** Null while the service runs without keys. */
  readonly userId: string | null;
  readonly mayWrite: boolean;
  /** Their names. Undefined for all. */
  readonly writableKinds?: readonly string[] | undefined;
  readonly keyPrefix: string | null;
}

/** A request, whose address is read only when it is stored: a proxy's client may send any text. */
interface Client {
  readonly ip: string;
}

export const anonymousWorkspace = 'default';

export const anonymousIn = (workspace: WorkspaceId): Identity => ({
  workspace,
  userId: null,
  mayWrite: true,
  keyPrefix: null,
});

const maxCached = 10_000;

const lifetimeMs = 2_000;

/** A statement with so many takes a few milliseconds: no request waits long for other lookups. */
const keysPerStatement = 1_000;

const useIntervalMs = 60_000;

/** No secret has this hash. Comparing with it makes unknown keys take as long as wrong secrets. */
const hashOfNoSecret = hashSecret(newSecret());

export class Keyring {
  readonly #store: KeyStore;
  readonly #keys = new LRUCache<string, ApiKey>({ max: maxCached, ttl: lifetimeMs });
  /** Separate: unknown prefixes cannot evict keys. */
  readonly #unknown = new LRUCache<string, true>({ max: maxCached, ttl: lifetimeMs });
  /** By prefix, when the use of an accepted key was last stored; infinite while it is being stored. */
  readonly #accepted = new LRUCache<string, number>({ max: maxCached });
  readonly #anonymous: LRUCache<string, Identity>;
  readonly #loader: DataLoader<string, ApiKey | undefined>;
  #requiresKey = false;
  /** One statement at a time looks up all waiting keys: strangers cause lookups too. */
  #lookup: Promise<unknown> = Promise.resolve();
  /** One update at a time, since the database may not respond. */
  #useWritten: Promise<unknown> = Promise.resolve();

  constructor(database: Database) {
    const store = createKeyStore(database);
    this.#store = store;
    this.#anonymous = new LRUCache<string, Identity>({
      max: 1,
      ttl: lifetimeMs,
      fetchMethod: async (workspace) => {
        if (await store.isEmpty()) return anonymousIn(await store.findOrCreateWorkspace(workspace));
        this.#requiresKey = true;
        return undefined;
      },
    });
    this.#loader = new DataLoader((prefixes) => this.#findAll(prefixes), {
      maxBatchSize: keysPerStatement,
      batchScheduleFn: (dispatch) => void this.#lookup.then(dispatch),
    });
  }

  /** Undefined once the first key was created, even if all keys expire or are revoked. */
  async findAnonymous(): Promise<Identity | undefined> {
    const identity = this.#requiresKey ? undefined : await this.#anonymous.fetch(anonymousWorkspace);
    return this.#requiresKey ? undefined : identity;
  }

  hasAccepted(text: string): boolean {
    const prefix = parseKey(text)?.prefix;
    return prefix !== undefined && this.#accepted.has(prefix);
  }

  /**
   * The identity of a valid, cached key; undefined for any other text, which goes to `authenticate`. Only for accepted
   * keys: a wrong secret of any other key counts against the limit of failed logins.
   */
  authenticateCached(text: string, client: Client): Identity | undefined {
    const sent = parseKey(text);
    const key = sent && this.#accepted.has(sent.prefix) ? this.#keys.get(sent.prefix) : undefined;
    return key && this.#check(key, sent, client);
  }

  /** Throws the same 401 for a key that is unknown, wrong, revoked or expired. */
  async authenticate(text: string, client: Client): Promise<Identity> {
    const sent = parseKey(text);
    const key = sent && (this.#keys.get(sent.prefix) ?? (await this.#lookUpKey(sent.prefix)));
    const identity = this.#check(key, sent, client);
    if (!identity) throw unauthorized('the API key is not valid', 'invalid API key');
    return identity;
  }

  async #lookUpKey(prefix: string): Promise<ApiKey | undefined> {
    if (this.#unknown.has(prefix)) return undefined;
    // The loader shares a lookup until it ends: then the result is cached below, and a failure is not reused.
    const key = await this.#loader.load(prefix).finally(() => this.#loader.clear(prefix));
    if (key) this.#keys.set(prefix, key);
    else this.#unknown.set(prefix, true);
    return key;
  }

  async #findAll(prefixes: readonly string[]): Promise<(ApiKey | undefined)[]> {
    const found = this.#store.findAll(prefixes);
    this.#lookup = found.catch(() => undefined);
    const byPrefix = new Map((await found).map((key) => [key.id, key]));
    return prefixes.map((prefix) => byPrefix.get(prefix));
  }

  #check(key: ApiKey | undefined, sent: SecretKey | undefined, client: Client): Identity | undefined {
    const isCorrect = isSameHash(hashSecret(sent?.secret ?? ''), key?.secretHash ?? hashOfNoSecret);
    if (!key || !isCorrect || stateOf(key) !== 'active') return undefined;
    this.#requiresKey = true;
    this.#writeUse(key, client);
    const { workspace, userId, readOnly, id } = key;
    return { workspace, userId, mayWrite: !readOnly, writableKinds: writableKinds(key), keyPrefix: id };
  }

  /** In the background: the request neither waits for the update nor fails with it. */
  #writeUse(key: ApiKey, { ip }: Client): void {
    const writtenAt = this.#accepted.get(key.id) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - writtenAt < useIntervalMs) return;
    this.#accepted.set(key.id, Number.POSITIVE_INFINITY);
    const use = { lastUsedAt: new Date().toISOString(), lastUsedFrom: isIP(ip) ? ip : null };
    this.#useWritten = this.#useWritten
      .then(() => this.#store.update(key.id, use))
      .catch(() => {})
      .then(() => this.#accepted.set(key.id, performance.now()));
  }
}

/** Takes the same time wherever the hashes differ. */
export function isSameHash(hash: string, expected: string): boolean {
  const bytes = Buffer.from(hash);
  const expectedBytes = Buffer.from(expected);
  return bytes.length === expectedBytes.length && timingSafeEqual(bytes, expectedBytes);
}
