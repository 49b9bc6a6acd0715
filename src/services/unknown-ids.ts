/** What errors say about an ID that identifies no record of the kind that was expected. */
import { quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';

/** For an ID that must identify a stored record; another workspace's record is as unknown as one that never existed. */
export function noRecord(kind: RecordKind, id: string): string {
  const problem = `there is no ${kind.label} with the ID ${quote(id)}`;
  const actual = kindOfId(id);
  if (actual === kind) return `${problem} in this workspace`;
  if (actual) return `${problem}: this is the ID of ${withArticle(actual.label)}`;
  return `${problem}: only IDs given by this service (${kind.idPrefix}_…) are looked up`;
}

/** For a reference to a record of another kind, or to none where one is required. */
export function wrongKind(kind: RecordKind, id: string): string {
  const actual = kindOfId(id);
  const received = actual ? `that of ${withArticle(actual.label)}, ${quote(id)}` : quote(id);
  return `expected the ID of a stored ${kind.label} (${kind.idPrefix}_…), received ${received}`;
}
