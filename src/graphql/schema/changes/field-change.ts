/** Compares a record before and after a change, field by field. */
import { isSame } from '../../../model/fields.ts';
import type { Values } from '../../../model/record-kind.ts';
import { kindNamed, recordKinds } from '../../../records/index.ts';
import type { Change } from '../../../store/log/read-changes.ts';
import type { Context } from '../../execution/context.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The most fields that a change can have. */
export const maxFieldChanges = Math.max(...recordKinds.map(({ fields }) => Object.keys(fields).length));

/** Returns the changed fields that clients may set; for a creation or a deletion, all that have a value. */
export async function fieldChanges(change: Change, { loaders }: Pick<Context, 'loaders'>): Promise<FieldChange[]> {
  const before: Values = change.before ?? {};
  const after = (await loaders.after(change)) ?? {};
  return Object.keys(kindNamed(change.kind).fields)
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((values) => !isSame(values.before, values.after));
}
