/** Writes all records of a kind as one JSON array, read slice by slice from a consistent snapshot. */

import { type Spooled, spool } from '../http/spool.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { positionOfId } from '../store/query/record-query.ts';
import type { WorkspaceReads } from '../store/workspace-store.ts';
import { toJson } from './response.ts';

type ListStore = Pick<WorkspaceReads, 'list'>;

/** Records per statement. Other requests are handled between statements. */
const sliceLength = 1_000;

export async function listBody(store: WorkspaceReads, kind: RecordKind, workspaceId: string): Promise<Spooled> {
  const first = await store.list(kind, { limit: sliceLength });
  // A single statement is consistent by itself: a list that fits into one slice needs no snapshot.
  if (first.length < sliceLength) return spool([await toJson(kind, first)], workspaceId);
  return store.snapshot((snapshot) => spool(slices(snapshot, kind), workspaceId));
}

/** Yields the text of the array in pieces. */
async function* slices(store: ListStore, kind: RecordKind): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const records = await store.list(kind, {
      after: after === undefined ? undefined : positionOfId(after),
      limit: sliceLength,
    });
    const items = (await toJson(kind, records)).slice(1, -1);
    if (items !== '') yield (after === undefined ? '[' : ',') + items;
    after = records.at(-1)?.id ?? after;
    if (records.length < sliceLength) break;
  }
  yield after === undefined ? '[]' : ']';
}
