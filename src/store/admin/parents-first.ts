/**
 * Orders records for a copy, parents before children: databases check foreign keys at each statement, and not all of them can
 * defer the check to the end of the transaction.
 */
import { StartError } from '../../errors.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';

type Page = readonly Row[];

/** Reads the records with these IDs, in any order. */
type Find = (workspaceId: number, ids: readonly string[]) => Promise<Page>;

interface RecordKey {
  readonly workspaceId: number;
  readonly id: string;
}

const maxPageSize = 100;

/**
 * Yields the records of these pages, which are ordered by workspace and ID, with each parent before its children. A parent has
 * the greater ID if a category was moved below a newer one, or if processes with different clocks created the two. A child that
 * comes before its parent is deferred, and read again after it. Only its ID is held until then: a million of them take about 400 MB.
 */
export async function* parentsFirst(table: Table, pages: AsyncIterable<Page>, find: Find): AsyncGenerator<Page> {
  const field = parentField(table);
  if (field === undefined) {
    yield* pages;
    return;
  }
  const waiting = createWaitingList();
  for await (const page of pages) {
    const ready = page.filter((record) => !waiting.deferIfEarly(keyOf(record), record[field]));
    if (ready.length > 0) yield ready;
    for (const { workspaceId, ids } of inPages(ready.flatMap((record) => waiting.release(keyOf(record))))) {
      const records = new Map((await find(workspaceId, ids)).map((record) => [record.id, record]));
      yield ids.map((id) => records.get(id)).filter((record) => record !== undefined);
    }
  }
  const [first, ...others] = waiting.rest();
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  throw new StartError(`${table.label} records that are their own ancestors cannot be copied: ${first}${more}`);
}

/** Returns the field that refers to a stored record of the same kind. */
const parentField = (table: Table): string | undefined =>
  Object.entries(table.storedFields).find(
    ([, field]) => field.type === 'reference' && field.mustExist && 'name' in table && field.target === table.name,
  )?.[0];

// The cast is safe: every table has both fields, as text.
const keyOf = ({ workspaceId, id }: Row) => ({ workspaceId, id }) as RecordKey;

const textOf = ({ workspaceId, id }: RecordKey): string => `${workspaceId} ${id}`;

function createWaitingList() {
  const deferred = new Set<string>();
  const childrenOf = new Map<string, RecordKey[]>();
  return {
    /** Defers a record whose parent comes later, or is itself deferred. Returns whether it did. */
    deferIfEarly(key: RecordKey, parentId: unknown): boolean {
      if (typeof parentId !== 'string') return false;
      const parent = textOf({ ...key, id: parentId });
      if (parentId <= key.id && !deferred.has(parent)) return false;
      deferred.add(textOf(key));
      const siblings = childrenOf.get(parent);
      if (siblings) siblings.push(key);
      else childrenOf.set(parent, [key]);
      return true;
    },

    /** Returns the descendants that were deferred because of this record, in the order to write them after it. */
    release(key: RecordKey): RecordKey[] {
      const released: RecordKey[] = [];
      const parents = [key];
      for (const parent of parents) {
        const children = childrenOf.get(textOf(parent)) ?? [];
        childrenOf.delete(textOf(parent));
        for (const child of children) {
          deferred.delete(textOf(child));
          released.push(child);
          parents.push(child);
        }
      }
      return released;
    },

    /** Returns the IDs of the records that are still deferred. */
    rest: (): string[] =>
      [...childrenOf.values()]
        .flat()
        .map(({ id }) => id)
        .toSorted(),
  };
}

/** Yields consecutive IDs of the same workspace, a page at a time. */
function* inPages(keys: readonly RecordKey[]): Generator<{ workspaceId: number; ids: readonly string[] }> {
  let ids: string[] = [];
  for (const [index, { workspaceId, id }] of keys.entries()) {
    ids.push(id);
    if (ids.length < maxPageSize && keys[index + 1]?.workspaceId === workspaceId) continue;
    yield { workspaceId, ids };
    ids = [];
  }
}
