/**
 * The order in which records are copied, parents before children: databases check foreign keys at each statement, and not all
 * can defer that to the end of the transaction.
 */
import { StartError } from '../errors.ts';
import type { Table } from '../model/record-kind.ts';
import type { Row } from './driver.ts';

type Page = readonly Row[];

/** Reads records of one workspace, in any order. */
type Find = (workspaceId: string, ids: readonly string[]) => Promise<Page>;

interface Place {
  readonly workspaceId: string;
  readonly id: string;
}

const maxPageSize = 100;

/**
 * The records of these pages, which are in the order of workspaces and IDs, with each parent before its children. A parent may
 * have the greater ID where several processes with different clocks created them. A child that comes first is skipped, and
 * read again after its parent. Only its ID is held until then: a million of them take some 400 MB.
 */
export async function* parentsFirst(table: Table, pages: AsyncIterable<Page>, find: Find): AsyncGenerator<Page> {
  const field = parentField(table);
  if (field === undefined) {
    yield* pages;
    return;
  }
  const waiting = createWaitingList();
  for await (const page of pages) {
    const ready = page.filter((record) => !waiting.takes(placeOf(record), record[field]));
    if (ready.length > 0) yield ready;
    for (const { workspaceId, ids } of inPages(ready.flatMap((record) => waiting.release(placeOf(record))))) {
      const records = new Map((await find(workspaceId, ids)).map((record) => [record.id, record]));
      yield ids.map((id) => records.get(id)).filter((record) => record !== undefined);
    }
  }
  const [first, ...others] = waiting.rest();
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  throw new StartError(`${table.label} records that are their own ancestors cannot be copied: ${first}${more}`);
}

/** The field that refers to a stored record of the same kind. */
const parentField = (table: Table): string | undefined =>
  Object.entries(table.storedFields).find(
    ([, field]) => field.type === 'reference' && field.mustExist && 'name' in table && field.target === table.name,
  )?.[0];

// Sound because every table has both fields, as text.
const placeOf = ({ workspaceId, id }: Row) => ({ workspaceId, id }) as Place;

const keyOf = ({ workspaceId, id }: Place): string => `${workspaceId} ${id}`;

function createWaitingList() {
  const places = new Set<string>();
  const childrenOf = new Map<string, Place[]>();
  return {
    /** Whether a record has to wait for its parent, because that comes later or waits too. */
    takes(place: Place, parentId: unknown): boolean {
      if (typeof parentId !== 'string') return false;
      const parent = keyOf({ ...place, id: parentId });
      if (parentId <= place.id && !places.has(parent)) return false;
      places.add(keyOf(place));
      const siblings = childrenOf.get(parent);
      if (siblings) siblings.push(place);
      else childrenOf.set(parent, [place]);
      return true;
    },

    /** The records that need not wait any longer once this one is written, in the order to write them. */
    release(place: Place): Place[] {
      const released: Place[] = [];
      const parents = [place];
      for (const parent of parents) {
        const children = childrenOf.get(keyOf(parent)) ?? [];
        childrenOf.delete(keyOf(parent));
        for (const child of children) {
          places.delete(keyOf(child));
          released.push(child);
          parents.push(child);
        }
      }
      return released;
    },

    /** The IDs of the records that still wait. */
    rest: (): string[] =>
      [...childrenOf.values()]
        .flat()
        .map(({ id }) => id)
        .toSorted(),
  };
}

/** Consecutive IDs of the same workspace, a page at a time. */
function* inPages(places: readonly Place[]): Generator<{ workspaceId: string; ids: readonly string[] }> {
  let ids: string[] = [];
  for (const [index, { workspaceId, id }] of places.entries()) {
    ids.push(id);
    if (ids.length < maxPageSize && places[index + 1]?.workspaceId === workspaceId) continue;
    yield { workspaceId, ids };
    ids = [];
  }
}
