/**
 * Checks the arguments of programs in JavaScript. Messages say what was expected and what kind of value was received, not the
 * value: it may be a key or a password.
 */

export function requireInteger(where: string, name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new TypeError(
    `${where}: expected ${name} to be a whole number from ${min} to ${max}, received ${typeof value === 'number' ? value : received(value)}`,
  );
}

export function received(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Rejects options that the method has not read, but for those of every write: a misspelt `dryRun` would write. `where` names the method. */
export function requireKnown(where: string, unread: object): void {
  const unknown = Object.keys(unread).find((name) => name !== 'idempotencyKey' && name !== 'changeMessage');
  if (unknown !== undefined) throw new TypeError(`${where}: unknown option ${unknown.slice(0, 100)}`);
}
