/** Writes records to a store directly, without the rules of the services. */

import type { AnyRecord, CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import { newIds } from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import type { IdempotencyKey } from '../../src/store/writes/idempotency.ts';
import type { Change, Tx } from '../../src/store/writes/tx.ts';

const now = '2026-03-01T00:00:00.000Z';
const stampsNow = { createdAt: now, updatedAt: now };

type Stamps = typeof stampsNow & { readonly createdBy?: string | null; readonly updatedBy?: string | null };

/** Without a name, what is written is returned without its workspace. */
type Writable = Pick<WorkspaceStore, 'transaction'> & Partial<Pick<WorkspaceStore, 'workspaceName'>>;

function newRecords<K extends RecordKind>(
  kind: K,
  inputs: readonly CreateOf<K>[],
  stamps: Stamps,
  workspaceId?: string,
): RecordOf<K>[] {
  const ids = newIds(kind.idPrefix, inputs.length);
  const unset = Object.fromEntries(Object.keys(kind.storedFields).map((field) => [field, null]));
  return inputs.map((input, index) => ({
    ...unset,
    ...input,
    ...stamps,
    workspaceId,
    id: ids[index],
  })) as object[] as RecordOf<K>[];
}

const created = (kind: RecordKind, records: readonly object[]): Change[] =>
  (records as AnyRecord[]).map((after) => ({ kind, action: 'created', before: null, after, at: after.createdAt }));

/** Together with what others insert at the same time. */
export function insert<K extends RecordKind>(
  { transaction, workspaceName }: Writable,
  kind: K,
  inputs: readonly CreateOf<K>[],
  stamps: Stamps = stampsNow,
): Promise<RecordOf<K>[]> {
  const decide = () => {
    const records = newRecords(kind, inputs, stamps, workspaceName);
    return { changes: created(kind, records), returned: records };
  };
  const values = inputs as readonly object[] as readonly AnyRecord[];
  return transaction(async () => decide(), { creation: { kind, values, references: new Map(), decide } });
}

interface Replacement {
  readonly before: AnyRecord;
  readonly after: AnyRecord;
}

/** The transaction of a write, and the changes that it makes, one after the other. */
interface Steps extends Tx {
  add<K extends RecordKind>(kind: K, inputs: readonly CreateOf<K>[], stamps?: Stamps): RecordOf<K>[];
  update(kind: RecordKind, records: readonly Replacement[]): void;
  delete(kind: RecordKind, records: readonly AnyRecord[], at: string): void;
}

export const inSteps = <T>({ transaction, workspaceName }: Writable, work: (steps: Steps) => Promise<T>): Promise<T> =>
  transaction(async (tx) => {
    const changes: Change[] = [];
    const returned = await work({
      ...tx,
      add(kind, inputs, stamps = stampsNow) {
        const records = newRecords(kind, inputs, stamps, workspaceName);
        changes.push(...created(kind, records));
        return records;
      },
      update(kind, records) {
        for (const { before, after } of records) {
          changes.push({ kind, action: 'updated', before, after, at: after.updatedAt });
        }
      },
      delete(kind, records, at) {
        for (const before of records) changes.push({ kind, action: 'deleted', before, after: null, at });
      },
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
export const withKey = ({ transaction, ...store }: Writable, key: IdempotencyKey): Writable => ({
  ...store,
  transaction: (work, options) => transaction(work, { ...options, key: { ...key, onRepeat: () => {} } }),
});

/** The store, for writes that change nothing. */
export const dry = ({ transaction, ...store }: Writable): Writable => ({
  ...store,
  transaction: (work) => transaction(work, { isDryRun: true }),
});
