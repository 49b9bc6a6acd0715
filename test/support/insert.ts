/** Adds records to a store directly, without the rules of the services. */
import type { CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import type { TransactionStore } from '../../src/store/transaction-store.ts';

const now = '2026-03-01T00:00:00.000Z';

export const insert = <K extends RecordKind>(
  store: Pick<TransactionStore, 'add'>,
  kind: K,
  inputs: readonly CreateOf<K>[],
): Promise<RecordOf<K>[]> => store.add(kind, inputs, { createdAt: now, updatedAt: now });
