/** All records of a kind as one JSON array, read slice by slice from one state of the database. */
import type { RecordKind } from '../model/record-kind.ts';
import { mapInSlices } from '../slices.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';
import { toResponse } from './response.ts';
import { type Spooled, spool } from './spool.ts';

type ListStore = Pick<WorkspaceStore, 'list'>;

/** Records per statement: other requests run in between. */
const sliceLength = 1_000;

export async function listBody(store: WorkspaceStore, kind: RecordKind, owner: string): Promise<Spooled> {
  const first = await store.list(kind, { limit: sliceLength });
  // One statement reads one state, so a list that fits into one slice needs no snapshot.
  if (first.length < sliceLength) return spool(only(await toJson(kind, first)), owner);
  return store.snapshot((state) => spool(slices(state, kind), owner));
}

async function* only(text: string): AsyncGenerator<string> {
  yield text;
}

/** The text of the array, in pieces. */
async function* slices(store: ListStore, kind: RecordKind): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const records = await store.list(kind, { after, limit: sliceLength });
    const items = (await toJson(kind, records)).slice(1, -1);
    if (items !== '') yield (after === undefined ? '[' : ',') + items;
    after = records.at(-1)?.id ?? after;
    if (records.length < sliceLength) break;
  }
  yield after === undefined ? '[]' : ']';
}

/** A JSON array of the records as the interface returns them. */
export async function toJson(kind: RecordKind, records: readonly object[]): Promise<string> {
  const items = await mapInSlices(records, (record) => JSON.stringify(toResponse(kind, record)));
  return `[${items.join(',')}]`;
}
