/** Checks of single arguments, and of parts of them, that GraphQL cannot make. Each throws a ServiceError 400 that says where. */
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import type { Field } from '../../model/fields.ts';
import { count, formatIssue, type Path } from '../../model/issues.ts';
import { type ComparedValue, parseComparedValue } from '../../model/schemas.ts';
import { lengthOf } from '../limits.ts';

/** Returns the value in the form that records have. Texts may have at most `maxLength` characters. */
export function parseArgument(path: Path, field: Pick<Field, 'type'>, sent: unknown, maxLength: number): ComparedValue {
  const parsed = parseComparedValue(field, sent, maxLength);
  if ('problem' in parsed) throw refused(path, parsed.problem);
  return parsed.value;
}

export const parseText = (path: Path, sent: unknown, { maxTextLength }: Pick<Limits, 'maxTextLength'>): string =>
  String(parseArgument(path, { type: 'text' }, sent, maxTextLength));

/** Returns the length of a list as sent. Throws a ServiceError for more items than a page may have. */
export function lengthWithinPage(name: string, items: string, sent: unknown, { maxPageSize }: Limits): number {
  const length = lengthOf(sent);
  if (length <= maxPageSize) return length;
  throw badRequest(`${name}: expected at most ${count(maxPageSize)} ${items}, received ${count(length)}`);
}

export const refused = (path: Path, message: string) => badRequest(formatIssue({ path, message }));
