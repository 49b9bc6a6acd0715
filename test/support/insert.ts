/** Writes records to a store directly, without the rules of the services. */
import type { CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';

const now = '2026-03-01T00:00:00.000Z';

export const insert = <K extends RecordKind>(
  store: Pick<WorkspaceStore, 'add'>,
  kind: K,
  inputs: readonly CreateOf<K>[],
): Promise<RecordOf<K>[]> => store.add(kind, inputs, { createdAt: now, updatedAt: now });

export const change = <K extends RecordKind>(
  store: Pick<WorkspaceStore, 'transaction'>,
  kind: K,
  id: string,
  changes: Partial<RecordOf<K>>,
): Promise<void> =>
  store.transaction(async (inside) => {
    const [before] = await inside.findToUpdate(kind, [id]);
    if (!before) throw new Error(`there is no record ${id}`);
    await inside.update(kind, [{ before, after: { ...before, ...changes, updatedAt: new Date().toISOString() } }]);
  });
