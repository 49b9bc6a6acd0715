/**
 * The options, and what the compiler cannot check of them: what is sent in a header or decides how often something is sent. Messages never
 * include a text, which may be a key or a password.
 */

/** A key, or a function that returns the key or a promise of it, called before every attempt so that the key can change. */
export type ApiKey = string | (() => string | Promise<string>);

export interface Options {
  /**
   * The URL of the service, `https://yardgraph.example.com`, including a path if a proxy adds one. In a browser, `/` is
   * the page's own origin.
   */
  readonly serverURL: string | URL;
  /** Defaults to the environment variable YARDGRAPH_API_KEY. An empty key is not sent. */
  readonly apiKeyAuth?: ApiKey | undefined;
  /** Milliseconds that an attempt may take, including reading the response. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** The maximum number of retries of a failed request, if retrying is safe. Default: 3. */
  readonly retries?: number | undefined;
  /** If true, the default, writes have a random key, so that they can be retried although they may have been stored. */
  readonly idempotencyKeys?: boolean | undefined;
  /** The reason why this program changes records, such as `nightly import`: kept with each change. */
  readonly changeMessage?: string | undefined;
}

export interface WriteOptions {
  /**
   * Identifies the write: the service carries out requests with the same key once, also those of another program or after a restart.
   * Up to 255 printable ASCII characters. Default: a random key, which the client's own retries share.
   */
  readonly idempotencyKey?: string | undefined;
  /** The reason why the records are changed: kept with each change. Default: the option of the client. */
  readonly changeMessage?: string | undefined;
}

export type ResolvedOptions = ReturnType<typeof readOptions>;

/** Globals of browsers and of Node, undefined elsewhere. */
const { location, process } = globalThis as {
  location?: { href: string };
  process?: { env?: Record<string, string | undefined> };
};

/** In milliseconds. Timers hold 31 bits; a longer delay would fire at once. */
const maxTimeout = 2 ** 31 - 1;

export function readOptions({
  serverURL,
  apiKeyAuth,
  timeout = 30_000,
  retries = 3,
  idempotencyKeys = true,
  changeMessage,
}: Options) {
  requireInteger('timeout', timeout, 1, maxTimeout);
  requireInteger('retries', retries, 0, 100);
  return {
    serverUrl: readServerUrl(serverURL),
    apiKey: readApiKey(apiKeyAuth),
    timeout,
    retries,
    idempotencyKeys,
    changeMessage,
  };
}

function readServerUrl(serverUrl: unknown): string {
  const text = serverUrl instanceof URL ? serverUrl.href : serverUrl;
  const base = location?.href;
  const url = typeof text === 'string' && URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid('serverURL to be a URL that begins with http:// or https://, such as "http://127.0.0.1:4000"');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw invalid('serverURL to have no user, password, parameters or fragment');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** Returns a function that returns the key for the next attempt; undefined to send none. */
function readApiKey(option: Options['apiKeyAuth']): () => Promise<string | undefined> {
  if (typeof option === 'function') return async () => readKey(await option());
  const key = readKey(option ?? process?.env?.YARDGRAPH_API_KEY ?? '');
  return async () => key;
}

/**
 * Trims white space, because keys read from files end with a newline. Keys consist of visible ASCII characters; a key with
 * any others is rejected here, because `fetch` would repeat it in its error.
 */
function readKey(value: string): string | undefined {
  const key = value.trim();
  if (!/^[\x21-\x7e]*$/.test(key)) throw invalid('the API key to contain visible ASCII characters only');
  return key || undefined;
}

export function writeHeaders(
  { idempotencyKeys, changeMessage: general }: ResolvedOptions,
  { idempotencyKey, changeMessage = general }: WriteOptions,
): Record<string, string> {
  const key = idempotencyKey === undefined && idempotencyKeys ? randomKey() : idempotencyKey;
  if (key !== undefined && !/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(key)) {
    throw invalid('idempotencyKey to be 1 to 255 printable ASCII characters');
  }
  if (/\p{Cc}/u.test(changeMessage ?? '')) throw invalid('changeMessage to be text without line breaks');
  return {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(changeMessage && { 'x-change-message': asUtf8(changeMessage) }),
  };
}

/** Not crypto.randomUUID, which pages have only if they were loaded over HTTPS. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns the bytes of the text as the characters that `fetch` turns into these bytes. */
const asUtf8 = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

const invalid = (what: string): TypeError => new TypeError(`Yardgraph: expected ${what}`);

export function requireInteger(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!(Number.isInteger(value) && value >= min && value <= max)) {
    throw invalid(`${name} to be a whole number from ${min} to ${max}`);
  }
}

/** Rejects options that the method has not read, but for those of every write: a misspelt `dryRun` would write. `where` names the method. */
export function requireKnown(where: string, unread: object): void {
  const unknown = Object.keys(unread).find((name) => name !== 'idempotencyKey' && name !== 'changeMessage');
  if (unknown !== undefined) throw new TypeError(`${where}: unknown option ${unknown.slice(0, 100)}`);
}
