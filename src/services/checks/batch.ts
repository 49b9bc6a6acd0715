/** The limits on the size of a batch, and its IDs: unknown ones, and those that are sent twice. */
import { tooLarge } from '../../errors.ts';
import { externalIdCount } from '../../model/fields.ts';
import {
  count,
  expected,
  type Issue,
  isObject,
  type Parsed,
  type PathOf,
  quote,
  validValues,
} from '../../model/issues.ts';
import { withArticle } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { isBlank } from '../../model/schemas.ts';
import { kindOfId } from '../../records/index.ts';
import { longExternalIds, maxExternalIdsPerWrite } from '../../store/writes/write.ts';

/** Throws a ServiceError 413. Adapters call this before they parse the items, so that a batch that is too large costs nothing. */
export function requireBatchSize(size: number, max: number): void {
  if (size > max) {
    const problem = `expected at most ${count(max)} records, received ${count(size)}: send them in several batches`;
    throw tooLarge(problem, 'batch too large');
  }
}

/** Throws a ServiceError 413 for too many in a batch. Adapters call this before they parse the items, services before any lookup. */
export function requireFewExternalIds(records: readonly unknown[]): void {
  if (records.length <= 1) return;
  let found = 0;
  for (const record of records) {
    const externalIds = isObject(record) ? record.externalIds : undefined;
    if (!isObject(externalIds)) continue;
    found += externalIdCount(externalIds);
    if (found > maxExternalIdsPerWrite) {
      const most = `at most ${count(maxExternalIdsPerWrite)} external IDs in a batch (${longExternalIds})`;
      throw tooLarge(`expected ${most}, received more: send them in several batches`, 'batch too large');
    }
  }
}

export const requireFewParsedExternalIds = (items: readonly Parsed<object>[]): void =>
  requireFewExternalIds(items.map(validValues));

interface Found<K extends RecordKind> {
  /** The record of each item; undefined where there is none, and for an ID that an earlier item has too. */
  readonly records: readonly (RecordOf<K> | undefined)[];
  readonly issues: readonly Issue[];
}

/** Reads the records with `find`, which is called once, with well-formed IDs of the kind. An ID that was not sent is undefined. */
export async function findBatch<K extends RecordKind>(
  kind: K,
  ids: readonly (string | undefined)[],
  pathOf: PathOf,
  find: (ids: readonly string[]) => Promise<RecordOf<K>[]>,
): Promise<Found<K>> {
  const wellFormed = ids.filter((id) => id !== undefined).filter((id) => kindOfId(id) === kind);
  const found = new Map((await find(wellFormed)).map((record) => [record.id, record]));
  const places = new Map<string, number>();
  const issues: Issue[] = [];
  const records = ids.map((id, index) => {
    if (id === undefined) return undefined;
    const record = found.get(id);
    const earlier = places.get(id);
    if (!record) issues.push({ path: pathOf(index), message: noRecord(kind, id) });
    else if (earlier !== undefined) {
      issues.push({ path: pathOf(index), message: `item [${earlier}] of this batch also has the ID ${quote(id)}` });
    } else {
      places.set(id, index);
      return record;
    }
    return undefined;
  });
  return { records, issues };
}

/** Another workspace's record is as unknown as one that never existed. */
export function noRecord(kind: RecordKind, id: string): string {
  const problem = `there is no ${kind.label} with the ID ${quote(id)}`;
  const actual = kindOfId(id);
  if (actual === kind) return `${problem} in this workspace`;
  if (actual) return `${problem}: this is the ID of ${withArticle(actual.label)}`;
  return `${problem}: IDs of this service start with ${kind.idPrefix}_`;
}

export const noRecordWith = (kind: RecordKind, key: string): string =>
  `there is no ${kind.label} with ${key} in this workspace`;

export function wrongKind(kind: RecordKind, id: string): string {
  const actual = kindOfId(id);
  const received = actual ? `that of ${withArticle(actual.label)}, ${quote(id)}` : quote(id);
  return `expected the ID of a stored ${kind.label} (${kind.idPrefix}_…), received ${received}`;
}

/** Any number of records may have an empty text, with nothing else in common. */
export const emptyKeyProblem = (kind: RecordKind, text: string): string | undefined =>
  isBlank(text) ? expected(`a value to find the ${kind.label} by`, text) : undefined;
