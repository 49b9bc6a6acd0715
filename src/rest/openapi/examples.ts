/** Example bodies of requests and responses, made from the examples of the record kinds. The reference offers the requests to try. */
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, location, transportOrder, workOrder } from '../../records/index.ts';
import { toResponse } from '../response.ts';
import type { Route } from '../routes.ts';

/** Invalid bodies for kinds where more than a misspelled name is worth showing. */
const invalidBatches = new Map<RecordKind, readonly object[]>([
  [asset, [{ name: 'Excavator' }, { nmae: 'Crane' }, { name: 'Pump', acquiredAt: 'soon' }]],
  [workOrder, [{ name: 'Set up the crane', startDate: 'tomorrow' }]],
  [location, [{ name: 'North yard', latitude: 530.8 }]],
  [transportOrder, [{ name: 'Bring the crane to the harbour wall', number: 1 }]],
  [assetCategory, [{ name: 'Cranes', parent: 'Machines' }]],
]);

/** A change of the only kind that an operation changes. */
const change = { name: 'Harbour wall, phase 2', startDate: null };
const invalidChange = { name: null, startDate: '2026-02-30' };

/** Returns a body that the operation accepts. */
export function validBody({ kind, operation }: Route): unknown {
  return operation === 'create' ? [kind.example] : change;
}

/** Returns a body that gets a 400. */
export function invalidBody({ kind, operation }: Route): unknown {
  if (operation === 'update') return invalidChange;
  return invalidBatches.get(kind) ?? [{ nmae: kind.example.name }];
}

/** Returns an example of an ID, whose prefix shows the kind. */
export const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

/** Returns the response to the valid body. */
export function successBody({ kind, operation }: Route): unknown {
  if (operation !== 'update') return [storedExample(kind, kind.example, '2026-03-01T07:30:00.000Z')];
  return storedExample(kind, { ...kind.example, ...change }, '2026-03-01T07:45:00.000Z');
}

function storedExample(kind: RecordKind, sent: object, updatedAt: string): object {
  const set: Record<string, unknown> = {
    ...sent,
    id: exampleId(kind),
    workspaceId: 'acme',
    createdAt: '2026-03-01T07:30:00.000Z',
    updatedAt,
    createdBy: 'erp-sync',
    updatedBy: 'erp-sync',
  };
  const stored = Object.entries(kind.storedFields).map(([name, { type }]) => {
    const value = set[name] ?? null;
    return [name, type === 'dateTime' && value !== null ? new Date(String(value)).toISOString() : value];
  });
  return toResponse(kind, Object.fromEntries(stored));
}
