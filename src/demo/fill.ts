/**
 * Creates the demo's records in the workspace `default`, through the services, so that references and unique values are
 * checked.
 */
import { createSessionOpener } from '../auth/authenticate.ts';
import { anonymousIn, anonymousWorkspace } from '../auth/keyring.ts';
import { ServiceError } from '../errors.ts';
import { type Linkable, linkFields } from '../model/links.ts';
import type { CreateOf, RecordKind } from '../model/record-kind.ts';
import { asset, assetCategory, location, project, recordKinds, transportOrder, workOrder } from '../records/index.ts';
import { importRecords } from '../services/import-records.ts';
import type { NewRecords } from '../services/planned-ids.ts';
import { openWorkspace } from '../store/admin/workspace-names.ts';
import type { Database } from '../store/database.ts';
import type { WorkspaceReads } from '../store/workspace-store.ts';
import { assets } from './assets.ts';
import { families, groups, types } from './categories.ts';
import { locations } from './locations.ts';
import { projects } from './projects.ts';
import { transportOrders } from './transport-orders.ts';
import { workOrders } from './work-orders.ts';

/**
 * Does nothing if the workspace has records. They are created all at once, so that an interrupted start leaves none behind, and two
 * simultaneous starts create them once.
 */
export async function fillDemo(database: Database): Promise<void> {
  try {
    await fillEmpty(database);
  } catch (error) {
    // The uids of the assets are taken: another process has filled the workspace since this one found it empty.
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
  }
}

const author = { userId: null, requestId: null, message: 'The demo' };

async function fillEmpty(database: Database): Promise<void> {
  const workspace = await openWorkspace(database, anonymousWorkspace);
  const session = createSessionOpener(database)(anonymousIn(workspace), { author });
  if (await holdsRecords(session.store)) return;
  const locationRef = refTo(location);
  const categoryRef = refTo(assetCategory);
  const projectRef = refTo(project);
  const categories = [...families, ...groups(categoryRef), ...types(categoryRef)];
  await importRecords(session, [
    batch(location, locations),
    batch(assetCategory, categories),
    batch(project, projects(locationRef)),
    batch(asset, assets(locationRef)),
    batch(workOrder, workOrders(projectRef, locationRef)),
    batch(transportOrder, transportOrders(projectRef)),
  ]);
}

async function holdsRecords(store: WorkspaceReads): Promise<boolean> {
  for (const kind of recordKinds) {
    if ((await store.count(kind)) > 0) return true;
  }
  return false;
}

/** A record to create, and the key by which the demo's rows refer to it. */
interface Keyed<T> {
  readonly key: string;
  readonly value: T;
}

/** Returns the placeholder for a record's ID in the demo's rows, until the record has one. */
const refTo =
  (kind: RecordKind) =>
  (key: string): string =>
    `${kind.name} ${key}`;

/** Returns records in the form of parsed input: the compiler has checked the types, so the schemas are skipped. */
const batch = <K extends RecordKind>(kind: K, rows: readonly Keyed<CreateOf<K>>[]): NewRecords => ({
  kind,
  items: rows.map(({ key, value }) => linked(kind, refTo(kind)(key), value)),
  pathOf: (index) => [kind.table, index],
});

/** Returns the record with links instead of IDs. */
function linked(kind: RecordKind, ref: string, sent: Readonly<Record<string, unknown>>): Linkable<never> {
  const value = { ...sent };
  const links = linkFields(kind).flatMap(([name, field, { target }]) => {
    const to = value[field];
    if (typeof to !== 'string' || !to.startsWith(`${target} `)) return [];
    delete value[field];
    return [{ name, field, target, to: { ref: to } }];
  });
  return { value: value as never, ref, links };
}
