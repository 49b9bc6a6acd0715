import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Stamps } from '../store/writes/work.ts';
import type { Session } from './session.ts';

/** A new record counts as last changed by its creator. */
export function creationStamps(
  kind: RecordKind,
  { userId }: Pick<Session, 'userId'>,
  now = new Date().toISOString(),
): Stamps {
  const users = Object.fromEntries(kind.stamps.map((stamp) => [stamp, userId]));
  return { createdAt: now, updatedAt: now, ...users };
}

type UpdateStamps<K extends RecordKind> = Partial<RecordOf<K>> & Pick<Stamps, 'updatedAt'>;

/** No two versions of a record have the same `updatedAt`, even when the clock is behind. */
export const updateStamps = <K extends RecordKind>(
  kind: K,
  { userId }: Pick<Session, 'userId'>,
  current: RecordOf<K>,
): UpdateStamps<K> =>
  // The cast is safe: these are fields of the kind, with values that they may have.
  ({
    updatedAt: timeAfter(current),
    ...(kind.stamps.includes('updatedBy') && { updatedBy: userId }),
  }) as object as UpdateStamps<K>;

export const timeAfter = ({ updatedAt }: { readonly updatedAt: string }): string =>
  new Date(Math.max(Date.now(), Date.parse(updatedAt) + 1)).toISOString();
