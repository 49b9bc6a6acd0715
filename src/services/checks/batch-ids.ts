/** Loads the records of a batch by their IDs, and reports unknown and duplicate ones. */
import { type Issue, type PathOf, quote } from '../../model/issues.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindOfId } from '../../records/index.ts';
import { noRecord } from './unknown-ids.ts';

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
