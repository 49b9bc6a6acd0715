/** Parses changes to one record of a batch: which record, in which version, and what to change. */
import { parseComparedValue } from './compared-values.ts';
import { isObject } from './issues.ts';
import { type Linkable, withIssues } from './links.ts';
import type { RecordKind, UpdateOf } from './record-kind.ts';
import { idProblem, type ValueLimits } from './schemas.ts';

export interface Patch<K extends RecordKind> {
  /** Undefined if none was sent, which is an issue of the change. */
  readonly id?: string | undefined;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  readonly change: Linkable<UpdateOf<K>>;
}

/** Parses a patch, whose ID must be a text: the service finds out whether there is such a record. */
export function patchParser<K extends RecordKind>(
  kind: K,
  limits: ValueLimits,
  parseChange: (input: unknown) => Linkable<UpdateOf<K>>,
): (input: unknown) => Patch<K> {
  return (input) => {
    if (!isObject(input)) return { change: parseChange(input) };
    const { id, ifUpdatedAt = null, ...fields } = input;
    const problem = idProblem(kind, id);
    const issues = problem === undefined ? [] : [{ path: ['id'], message: problem }];
    const time =
      ifUpdatedAt === null ? undefined : parseComparedValue({ type: 'dateTime' }, ifUpdatedAt, limits.maxTextLength);
    if (time && 'problem' in time) issues.push({ path: ['ifUpdatedAt'], message: time.problem });
    return {
      change: withIssues(parseChange(fields), issues),
      ...(typeof id === 'string' && { id }),
      ...(time && 'value' in time && { ifUpdatedAt: String(time.value) }),
    };
  };
}
