/** Writes records to a store directly, without the rules of the services. */
import type { CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import type { IdempotencyKey } from '../../src/store/writes/idempotency.ts';
import type { Lookups } from '../../src/store/writes/lookups.ts';
import {
  type Change,
  created,
  deleted,
  draftOf,
  newRecords,
  type Replacement,
  type Stamps,
  updated,
  type Work,
} from '../../src/store/writes/work.ts';

const now = '2026-03-01T00:00:00.000Z';
const stampsNow: Stamps = { createdAt: now, updatedAt: now };

type Writable = Pick<WorkspaceStore, 'write'>;

/** A work that only creates records, and the same as an addition. */
export function creationOf<K extends RecordKind>(kind: K, inputs: readonly CreateOf<K>[], stamps = stampsNow) {
  const drafts = inputs.map((input) => draftOf(kind, input, stamps));
  const work: Work<RecordOf<K>[]> = async () => {
    const records = newRecords(kind, drafts);
    return { changes: [created(kind, records)], returned: records };
  };
  return { work, addition: { kind, drafts, references: new Map() } };
}

/** Together with what others insert at the same time. */
export function insert<K extends RecordKind>(
  { write }: Writable,
  ...creation: Parameters<typeof creationOf<K>>
): Promise<RecordOf<K>[]> {
  const { work, addition } = creationOf(...creation);
  return write(work, { addition });
}

/** The lookups of a write, and the changes that it makes, one after the other. */
export interface Steps extends Lookups {
  add<K extends RecordKind>(kind: K, inputs: readonly CreateOf<K>[], stamps?: Stamps): RecordOf<K>[];
  update<K extends RecordKind>(kind: K, records: readonly Replacement<RecordOf<K>>[]): void;
  delete<K extends RecordKind>(kind: K, records: readonly RecordOf<K>[], at: string): void;
}

/** A write in several steps. */
export const inSteps = <T>({ write }: Writable, work: (steps: Steps) => Promise<T>): Promise<T> =>
  write(async (find) => {
    const changes: Change[] = [];
    const returned = await work({
      ...find,
      add(kind, inputs, stamps = stampsNow) {
        const drafts = inputs.map((input) => draftOf(kind, input, stamps));
        const records = newRecords(kind, drafts);
        changes.push(created(kind, records));
        return records;
      },
      update: (kind, records) => void changes.push(updated(kind, records)),
      delete: (kind, records, at) => void changes.push(deleted(kind, records, at)),
    });
    return { changes, returned };
  });

export const change = <K extends RecordKind>(
  store: Writable,
  kind: K,
  id: string,
  changes: Partial<RecordOf<K>>,
): Promise<void> =>
  inSteps(store, async (steps) => {
    const [before] = await steps.findToUpdate(kind, [id]);
    if (!before) throw new Error(`there is no record ${id}`);
    steps.update(kind, [{ before, after: { ...before, ...changes, updatedAt: new Date().toISOString() } }]);
  });

/** The store, for writes that are carried out once for this key. */
export const withKey = ({ write }: Writable, key: IdempotencyKey): Writable => ({
  write: (work, options) => write(work, { ...options, key: { ...key, onRepeat: () => {} } }),
});

/** The store, for writes that change nothing. */
export const dry = ({ write }: Writable): Writable => ({ write: (work) => write(work, { isDryRun: true }) });
