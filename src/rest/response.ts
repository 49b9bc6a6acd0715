/** Records as the interface returns them. */
import type { RecordKind } from '../model/record-kind.ts';

/**
 * Returns the record as REST sends it. In an asset, a field that is not set is null. In every other kind it is absent: the
 * interface marks no field there as nullable, and a strict client may reject null.
 */
export function toResponse(kind: RecordKind, record: object): object {
  if (kind.unset === 'null') return record;
  const response: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    if (value !== null) response[field] = value;
  }
  return response;
}

export const toJson = (kind: RecordKind, records: readonly object[]): string =>
  JSON.stringify(records.map((record) => toResponse(kind, record)));
