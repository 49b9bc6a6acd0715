/** The client's options, checked once. No message repeats a value: a key or a password may be in it. */

/** A key, or what knows it: asked before every attempt, so that it may change. */
export type ApiKey = string | (() => string | Promise<string>);

export interface Options {
  /** Where the service is: `https://yardgraph.example.com`, with a path if a proxy put it below one. On a page, `/` is its own origin. */
  readonly serverURL: string | URL;
  /** The environment variable YARDGRAPH_API_KEY unless given. Without a key, or with an empty one, none is sent. */
  readonly apiKeyAuth?: ApiKey | undefined;
  /** Milliseconds that an attempt may take, its answer included. */
  readonly timeout?: number | undefined;
  /** How often a request that failed is sent again, where that is safe. */
  readonly retries?: number | undefined;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly serverUrl: string;
  /** The key to send now; none if undefined. */
  readonly apiKey: () => Promise<string | undefined>;
  readonly timeout: number;
  readonly retries: number;
}

/** The browser's and Node's own, where they are. */
const { location, process } = globalThis as {
  location?: { href: string };
  process?: { env?: Record<string, string | undefined> };
};

/** Timers count in 31 bits; a longer one would fire at once. */
const maxTimeout = 2 ** 31 - 1;

/** Throws a TypeError for what cannot be meant. */
export function readOptions({ serverURL, apiKeyAuth, timeout = 30_000, retries = 3 }: Options): Settings {
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

/** Keys come from files, with a line end. Whatever else a header cannot carry, `fetch` would name in its error. */
function readKey(value: unknown): string | undefined {
  if (typeof value !== 'string') throw new TypeError('apiKeyAuth: expected text, or a function that returns text');
  const key = value.trim();
  if (!/^[\x21-\x7e]*$/.test(key)) throw new TypeError('apiKeyAuth: expected visible ASCII characters only');
  return key || undefined;
}
