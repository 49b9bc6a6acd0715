/** Error messages for IDs and other keys that identify no record of the expected kind. */
import { expected, quote } from '../../model/issues.ts';
import { withArticle } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { isBlank } from '../../model/schemas.ts';
import { kindOfId } from '../../records/index.ts';

/**
 * Returns the message for an ID that identifies no stored record; another workspace's record is as unknown as one that never
 * existed.
 */
export function noRecord(kind: RecordKind, id: string): string {
  const problem = `there is no ${kind.label} with the ID ${quote(id)}`;
  const actual = kindOfId(id);
  if (actual === kind) return `${problem} in this workspace`;
  if (actual) return `${problem}: this is the ID of ${withArticle(actual.label)}`;
  return `${problem}: IDs of this service start with ${kind.idPrefix}_`;
}

/** Returns the message for a key that identifies no stored record. */
export const noRecordWith = (kind: RecordKind, key: string): string =>
  `there is no ${kind.label} with ${key} in this workspace`;

/** Returns the message for a reference to a record of another kind, or to none where one is required. */
export function wrongKind(kind: RecordKind, id: string): string {
  const actual = kindOfId(id);
  const received = actual ? `that of ${withArticle(actual.label)}, ${quote(id)}` : quote(id);
  return `expected the ID of a stored ${kind.label} (${kind.idPrefix}_…), received ${received}`;
}

/** Returns what is wrong with an empty text as a key: any number of records may have it, with nothing else in common. */
export const emptyKeyProblem = (kind: RecordKind, text: string): string | undefined =>
  isBlank(text) ? expected(`a value to find the ${kind.label} by`, text) : undefined;
