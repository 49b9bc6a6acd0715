/** Options of a single write, and the headers that send them to the service. */
import { received } from './check.ts';

export interface WriteOptions {
  /**
   * Identifies the write: the service carries out requests with the same key once, also those of another program or after a restart.
   * Up to 255 printable ASCII characters. Default: a random key, which the client's own retries share.
   */
  readonly idempotencyKey?: string | undefined;
  /** The reason why the records are changed: kept with each change. Default: the option of the client. */
  readonly changeMessage?: string | undefined;
}

export interface GeneralOptions {
  readonly idempotencyKeys: boolean;
  readonly changeMessage: string | undefined;
}

export function writeHeaders(
  { idempotencyKeys, changeMessage: general }: GeneralOptions,
  { idempotencyKey, changeMessage = general }: WriteOptions = {},
): Record<string, string> {
  const key = idempotencyKey === undefined && idempotencyKeys ? randomKey() : idempotencyKey;
  if (key !== undefined)
    requireText('idempotencyKey', key, /^[!-~](?:[ -~]{0,253}[!-~])?$/, '1 to 255 printable ASCII characters');
  if (changeMessage !== undefined) requireMessage(changeMessage);
  return {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(changeMessage && { 'x-change-message': asUtf8(changeMessage) }),
  };
}

/** Headers cannot contain control characters. */
export const requireMessage = (message: unknown): void =>
  requireText('changeMessage', message, /^\P{Cc}*$/u, 'text without line breaks');

function requireText(name: string, value: unknown, pattern: RegExp, what: string): void {
  if (typeof value === 'string' && pattern.test(value)) return;
  throw new TypeError(
    `Yardgraph: expected ${name} to be ${what}${typeof value === 'string' ? '' : `, received ${received(value)}`}`,
  );
}

/** Not crypto.randomUUID, which pages have only if they were loaded over HTTPS. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns the bytes of the text as the characters that `fetch` turns into these bytes. */
const asUtf8 = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));
