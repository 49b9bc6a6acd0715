/** Changes to one record of a batch: which record, in which version, and what to change. */
import { parseComparedValue } from './compared-values.ts';
import { isObject } from './issues.ts';
import { type Linkable, linkParser, withIssues } from './links.ts';
import type { RecordKind, UpdateOf } from './record-kind.ts';
import { updateParser, type ValueLimits } from './schemas.ts';

export interface Patch<K extends RecordKind> {
  readonly id: string;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  /** The fields to change; its issues include those of `ifUpdatedAt`. */
  readonly change: Linkable<UpdateOf<K>>;
}

/** Parses a patch, whose ID must be a text: whether there is such a record is for the service to find out. */
export function patchParser<K extends RecordKind>(kind: K, limits: ValueLimits): (input: unknown) => Patch<K> {
  const parseChange = linkParser(kind, limits, updateParser(kind, limits));
  return (input) => {
    const { id, ifUpdatedAt = null, ...fields } = isObject(input) ? input : {};
    const change = parseChange(fields);
    if (ifUpdatedAt === null) return { id: String(id), change };
    const time = parseComparedValue({ type: 'dateTime' }, ifUpdatedAt, limits.maxTextLength);
    if ('value' in time) return { id: String(id), ifUpdatedAt: String(time.value), change };
    const issue = { path: ['ifUpdatedAt'], message: time.problem };
    return { id: String(id), change: withIssues(change, [issue]) };
  };
}
