/**
 * Checks the arguments of programs in JavaScript. Messages say what was expected and what kind of value was received, not the
 * value: it may be a key or a password.
 */

/** Throws for anything but a whole number in the range. `where` names the function that got the argument, for the message. */
export function requireInteger(where: string, name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new TypeError(
    `${where}: expected ${name} to be a whole number from ${min} to ${max}, received ${typeof value === 'number' ? value : received(value)}`,
  );
}

/** Describes the kind of a value, for messages. */
export function received(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
