/** Validates the client's options. Error messages never include a value, which may contain a key or a password. */

/**
 * A key, or a function that returns the key or a promise of it, called before every attempt so that the key can change.
 */
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
}

export interface ResolvedOptions {
  /** Without a trailing slash. */
  readonly serverUrl: string;
  /** Returns the key for the next attempt; undefined to send none. */
  readonly apiKey: () => Promise<string | undefined>;
  readonly timeout: number;
  readonly retries: number;
}

/** Globals of browsers and of Node, undefined elsewhere. */
const { location, process } = globalThis as {
  location?: { href: string };
  process?: { env?: Record<string, string | undefined> };
};

/** Timers hold 31 bits; a longer delay would fire at once. */
const maxTimeout = 2 ** 31 - 1;

/** Throws a TypeError if an option is invalid. The key is checked only before each attempt: a function may return another. */
export function readOptions({ serverURL, apiKeyAuth, timeout = 30_000, retries = 3 }: Options): ResolvedOptions {
  requireInteger('timeout', timeout, 1, maxTimeout);
  requireInteger('retries', retries, 0, 100);
  const key = apiKeyAuth ?? process?.env?.YARDGRAPH_API_KEY ?? '';
  return {
    serverUrl: readServerUrl(serverURL),
    apiKey: async () => readKey(typeof key === 'function' ? await key() : key),
    timeout,
    retries,
  };
}

export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new TypeError(`${name}: expected a whole number from ${min} to ${max}`);
}

function readServerUrl(serverUrl: unknown): string {
  const url = parseUrl(String(serverUrl));
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('serverURL: expected a URL such as http://127.0.0.1:4000');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('serverURL: expected a URL without user, password, parameters and fragment');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text, location?.href);
  } catch {
    return undefined;
  }
}

/**
 * Trims white space, because keys read from files end with a newline. Keys consist of visible ASCII characters; a key with
 * any others is rejected here, because `fetch` would repeat it in its error.
 */
function readKey(value: unknown): string | undefined {
  if (typeof value !== 'string') throw new TypeError('apiKeyAuth: expected text, or a function that returns text');
  const key = value.trim();
  if (!/^[\x21-\x7e]*$/.test(key)) throw new TypeError('apiKeyAuth: expected visible ASCII characters only');
  return key || undefined;
}
