/** Checks of single arguments, and of parts of them, that GraphQL cannot make. Each throws a ServiceError 400 that says where. */
import { badRequest } from '../../errors.ts';
import { type ComparedValue, parseComparedValue } from '../../model/compared-values.ts';
import type { Field } from '../../model/fields.ts';
import { count, formatIssue, type Path } from '../../model/issues.ts';

/** Returns the value in the form that records have. Texts may have at most `maxLength` characters. */
export function parseArgument(path: Path, field: Pick<Field, 'type'>, sent: unknown, maxLength: number): ComparedValue {
  const parsed = parseComparedValue(field, sent, maxLength);
  if ('problem' in parsed) throw refused(path, parsed.problem);
  return parsed.value;
}

/** Returns a function that rejects a list of more than `maxLength` such items. */
export const lengthLimit =
  (maxLength: number, items: string) =>
  (length: number, name: string): void => {
    if (length > maxLength)
      throw badRequest(`${name}: expected at most ${count(maxLength)} ${items}, received ${count(length)}`);
  };

export const refused = (path: Path, message: string) => badRequest(formatIssue({ path, message }));
