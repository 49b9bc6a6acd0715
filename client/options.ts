/** Messages never quote an option: it may be a key or a password. */
/** A key, or a function that returns the key or a promise of it, called before every attempt: the key can change. */
export type ApiKey = string | (() => string | Promise<string>);

export interface Options {
  /**
   * Such as `https://yardgraph.example.com`, with the path that a proxy adds. In a browser, `/` is the page's origin.
   */
  readonly serverURL: string | URL;
  /** Defaults to the environment variable YARDGRAPH_API_KEY. An empty key is not sent. */
  readonly apiKeyAuth?: ApiKey | undefined;
  /** Milliseconds for an attempt, including reading the response. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** Retries of a failed request, if it is safe. Default: 3. */
  readonly retries?: number | undefined;
  /** Writes have a random idempotency key, so that retries are safe. Default: true. */
  readonly idempotencyKeys?: boolean | undefined;
  /** Stored with each change, such as `nightly import`. */
  readonly changeMessage?: string | undefined;
  /** The ID of the import that all writes belong to. */
  readonly importRun?: string | undefined;
}

export interface WriteOptions {
  /**
   * Identifies the write: the service runs requests with the same key once, also of another program or after a restart.
   * Up to 255 printable ASCII characters. Default: a random key, which the client's retries share.
   */
  readonly idempotencyKey?: string | undefined;
  /** Stored with each change. Default: the option of the client. */
  readonly changeMessage?: string | undefined;
  /** The ID of the import that the write belongs to, empty for none. The query `importRuns` lists imports. */
  readonly importRun?: string | undefined;
}

export type ResolvedOptions = ReturnType<typeof readOptions>;

const platform = globalThis as {
  location?: { href: string };
  process?: { env?: Record<string, string | undefined> };
};

/** Timers hold 31 bits: a longer delay would fire at once. */
const maxTimeoutMs = 2 ** 31 - 1;

export function readOptions({
  serverURL,
  apiKeyAuth,
  timeout = 30_000,
  retries = 3,
  idempotencyKeys = true,
  changeMessage,
  importRun,
}: Options) {
  requireInteger('timeout', timeout, 1, maxTimeoutMs);
  requireInteger('retries', retries, 0, 100);
  return {
    serverUrl: readServerUrl(serverURL),
    apiKey: readApiKey(apiKeyAuth),
    timeout,
    retries,
    idempotencyKeys,
    changeMessage,
    importRun,
  };
}

function readServerUrl(serverUrl: unknown): string {
  const text = serverUrl instanceof URL ? serverUrl.href : serverUrl;
  const base = platform.location?.href;
  const url = typeof text === 'string' && URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid('serverURL to be a URL that begins with http:// or https://, such as "http://127.0.0.1:4000"');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw invalid('serverURL to have no user, password, parameters or fragment');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function readApiKey(option: Options['apiKeyAuth']): () => Promise<string | undefined> {
  if (typeof option === 'function') return async () => readKey(await option());
  const key = readKey(option ?? platform.process?.env?.YARDGRAPH_API_KEY ?? '');
  return async () => key;
}

/**
 * Trims white space: keys read from files end with a newline. `fetch` would quote a key with other characters in its
 * error.
 */
function readKey(value: string): string | undefined {
  const key = value.trim();
  if (!/^[\x21-\x7e]*$/.test(key)) throw invalid('the API key to contain visible ASCII characters only');
  return key || undefined;
}

export function writeHeaders(
  { idempotencyKeys, changeMessage: generalMessage, importRun: generalRun }: ResolvedOptions,
  { idempotencyKey, changeMessage = generalMessage, importRun = generalRun }: WriteOptions,
): Record<string, string> {
  const key = idempotencyKey === undefined && idempotencyKeys ? randomKey() : idempotencyKey;
  if (key !== undefined && !/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(key)) {
    throw invalid('idempotencyKey to be 1 to 255 printable ASCII characters');
  }
  if (/\p{Cc}/u.test(changeMessage ?? '')) throw invalid('changeMessage to be text without line breaks');
  if (!/^[\w-]{0,64}$/.test(importRun ?? '')) throw invalid('importRun to be up to 64 letters, digits, _ or -');
  return {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(changeMessage && { 'x-change-message': encodeHeader(changeMessage) }),
    ...(importRun && { 'x-import-run': importRun }),
  };
}

/** Not crypto.randomUUID, which pages without HTTPS lack. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** `fetch` sends each character of a header as a byte. */
const encodeHeader = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

const invalid = (expectation: string): TypeError => new TypeError(`Yardgraph: expected ${expectation}`);

export function requireInteger(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!(Number.isInteger(value) && value >= min && value <= max)) {
    throw invalid(`${name} to be a whole number from ${min} to ${max}`);
  }
}

/** Rejects options that a method has not read, except those of every write: a misspelt `dryRun` would write. */
export function requireKnown(method: string, unread: object): void {
  const unknown = Object.keys(unread).find((name) => !['idempotencyKey', 'changeMessage', 'importRun'].includes(name));
  if (unknown !== undefined) throw new TypeError(`${method}: unknown option ${unknown.slice(0, 100)}`);
}
