/**
 * Examples of requests and of successful responses, from one story. The reference offers the requests to try: each must
 * succeed in any workspace, again and again, so none has a unique value or the ID of a record of this service.
 */
import type { CreateOf, RecordKind, UpdateOf } from '../../model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../records/index.ts';
import { toResponse } from '../response.ts';
import type { Route } from '../routes.ts';

interface Examples<K extends RecordKind = RecordKind> {
  readonly create: CreateOf<K>;
  readonly update?: UpdateOf<K>;
  /** Bodies that are invalid. */
  readonly invalid: { readonly create: readonly object[]; readonly update?: object };
}

const examples = new Map<RecordKind, Examples>();

const add = <K extends RecordKind>(kind: K, ofKind: Examples<K>) => examples.set(kind, ofKind);

add(asset, {
  create: {
    name: 'Crane',
    assetTypeId: 'ERP-TYPE-12',
    trackUtilization: true,
    manufacturedAt: '2019-05-01',
    acquiredAt: '2020-02-17T09:30:00+01:00',
    manufacturerId: 'ERP-COMPANY-3',
    externalIds: { erp: '4711' },
  },
  invalid: { create: [{ name: 'Excavator' }, { nmae: 'Crane' }, { name: 'Pump', acquiredAt: 'soon' }] },
});

add(workOrder, {
  create: {
    name: 'Set up the crane',
    reference: 'WO-1',
    projectId: 'ERP-PROJECT-7',
    startDate: '2026-03-02T07:00:00+01:00',
    endDate: '2026-03-02T12:00:00+01:00',
    notes: 'The road to the quay is closed until 06:30.',
    externalIds: { erp: '4711' },
  },
  invalid: { create: [{ name: 'Set up the crane', startDate: 'tomorrow' }] },
});

add(project, {
  create: {
    name: 'Harbour wall',
    reference: 'P-7',
    startDate: '2026-03-01',
    companyId: 'ERP-COMPANY-5',
    locationId: 'ERP-LOCATION-2',
    externalIds: { erp: '4711' },
  },
  update: { name: 'Harbour wall, phase 2', startDate: null },
  invalid: { create: [{ nmae: 'Harbour wall' }], update: { name: null, startDate: '2026-02-30' } },
});

add(location, {
  create: {
    name: 'North yard',
    latitude: 53.08,
    longitude: 8.8,
    city: 'Bremen',
    country: 'DE',
    externalIds: { erp: '4711' },
  },
  invalid: { create: [{ name: 'North yard', latitude: 530.8 }] },
});

add(transportOrder, {
  create: {
    name: 'Bring the crane to the harbour wall',
    reference: 'TO-1',
    number: '2026-0001',
    projectId: 'ERP-PROJECT-7',
  },
  invalid: { create: [{ name: 'Bring the crane to the harbour wall', number: 1 }] },
});

add(assetCategory, {
  create: { name: 'Cranes', description: 'Mobile cranes and tower cranes.' },
  invalid: { create: [{ name: 'Cranes', parent: 'Machines' }] },
});

function examplesOf(kind: RecordKind): Examples {
  const found = examples.get(kind);
  if (!found) throw new Error(`add examples of ${kind.name}`);
  return found;
}

/** A body that the operation accepts. */
export function validBody({ kind, operation }: Route): unknown {
  const { create, update } = examplesOf(kind);
  return operation === 'create' ? [create] : update;
}

/** A body that gets a 400. */
export function invalidBody({ kind, operation }: Route): unknown {
  const { create, update } = examplesOf(kind).invalid;
  return operation === 'create' ? create : update;
}

/** The ID's prefix shows the kind. */
export const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

/** The response to the valid body. */
export function successBody({ kind, operation }: Route): unknown {
  const { create, update } = examplesOf(kind);
  if (operation !== 'update') return [storedExample(kind, create, '2026-03-01T07:30:00.000Z')];
  return storedExample(kind, { ...create, ...update }, '2026-03-01T07:45:00.000Z');
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
