/** Records as the interface answers them. */
import type { RecordKind } from '../model/record-kind.ts';

/**
 * An asset answers null for what is not set; every other kind leaves the key out, since the interface marks nothing
 * there as nullable and a strict client may refuse null.
 */
export function toResponse(kind: RecordKind, record: object): object {
  if (kind.unset === 'null') return record;
  const answer: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    if (value !== null) answer[field] = value;
  }
  return answer;
}
