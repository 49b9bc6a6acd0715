/** Records of all kinds by the tens of thousands, with values of every field in no particular order. */
import type { Field } from '../../src/model/fields.ts';
import type { CreateOf, RecordKind } from '../../src/model/record-kind.ts';
import {
  asset,
  assetCategory,
  location,
  project,
  recordKinds,
  transportOrder,
  workOrder,
} from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { insert } from './insert.ts';

/** In the order in which they are created: each refers to those before it. */
export const sizes = new Map<RecordKind, number>([
  [location, 5_000],
  [project, 10_000],
  [assetCategory, 5_000],
  [asset, 30_000],
  [workOrder, 40_000],
  [transportOrder, 10_000],
]);
for (const kind of recordKinds) if (!sizes.has(kind)) sizes.set(kind, 5_000);

const recordsPerBatch = 500;

/** Creates `1 / part` of the sizes above, and returns the IDs. */
export async function createRecords(
  store: Pick<WorkspaceStore, 'write'>,
  part: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = new Map<string, string[]>();
  for (const [kind, size] of sizes) {
    const ofKind: string[] = [];
    ids.set(kind.name, ofKind);
    for (let start = 0; start < size / part; start += recordsPerBatch) {
      const count = Math.min(recordsPerBatch, size / part - start);
      const inputs = Array.from({ length: count }, (_, index) => recordOf(kind, start + index, ids));
      const time = new Date(Date.UTC(2026, 0, 1, start / recordsPerBatch)).toISOString();
      const user = `user-${start / recordsPerBatch}`;
      const stamps = { createdAt: time, updatedAt: time };
      const users = Object.fromEntries(kind.stamps.map((stamp) => [stamp, user]));
      // The cast is safe: the records are made from the kind's fields.
      const records = await insert(store, kind, inputs as CreateOf<RecordKind>[], { ...stamps, ...users });
      ofKind.push(...records.map(({ id }) => id));
    }
  }
  return ids;
}

function recordOf(kind: RecordKind, index: number, ids: ReadonlyMap<string, readonly string[]>): object {
  const values = Object.entries(kind.fields).map(([name, field], place) => [
    name,
    // Some have no value, other records for each field.
    field.required || (index + place) % 10 > 0 ? exampleOf(name, field, index, ids) : null,
  ]);
  return Object.fromEntries(values);
}

/** A value of a field; references lead to the first thousand records. */
function exampleOf(name: string, field: Field, index: number, ids: ReadonlyMap<string, readonly string[]>): unknown {
  const scattered = (index * 7_919) % 40_000;
  switch (field.type) {
    case 'id':
    case 'text':
      return name === 'city' || name === 'country' ? `${name} ${index % 200}` : `${name} ${scattered}`;
    case 'reference': {
      const targets = ids.get(field.target) ?? [];
      return targets[(index * 7) % Math.max(1, Math.min(targets.length, 1_000))] ?? null;
    }
    case 'foreignReference':
      return `${name}-${index % 199}`;
    case 'number':
      return ((scattered / 40_000) * (field.max - field.min) + field.min) / 2;
    case 'boolean':
      return index % 2 === 0;
    case 'dateTime':
      return new Date(Date.UTC(2020, 0, 1) + scattered * 3_600_000).toISOString();
    case 'externalIds':
      return { erp: `E-${index}`, system: 'sap' };
  }
}
