/** Fills an empty database with the demo's workspace, through the services, as a client would. */
import { sessionOf } from '../auth/authenticate.ts';
import { anonymous } from '../auth/keyring.ts';
import { ServiceError } from '../errors.ts';
import type { CreateOf, RecordKind } from '../model/record-kind.ts';
import { asset, assetCategory, location, project, recordKinds, transportOrder, workOrder } from '../records/index.ts';
import { createRecords } from '../services/create-records.ts';
import type { Session } from '../services/session.ts';
import type { Database } from '../store/database.ts';
import type { TransactionStore } from '../store/workspace-store.ts';
import { assets } from './assets.ts';
import { families, groups, types } from './categories.ts';
import { locations } from './locations.ts';
import { projects } from './projects.ts';
import { transportOrders } from './transport-orders.ts';
import { workOrders } from './work-orders.ts';

/**
 * Does nothing to a workspace that has records. One transaction around all of it: a demo that is cut short leaves
 * nothing behind, and two that start at once fill the file once.
 */
export async function fillDemo(database: Database): Promise<void> {
  try {
    await fillEmpty(database);
  } catch (error) {
    // Another one has filled it since this one found it empty.
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
  }
}

async function fillEmpty(database: Database): Promise<void> {
  const { store, ...asker } = sessionOf(database, anonymous);
  await store.transaction(async (transaction) => {
    if (await holdsRecords(transaction)) return;
    const session: Session = { ...asker, store: transaction };

    const locationId = await create(session, location, locations);
    const familyId = await create(session, assetCategory, families);
    const groupId = await create(session, assetCategory, groups(familyId));
    await create(session, assetCategory, types(groupId));
    const projectId = await create(session, project, projects(locationId));
    await create(session, asset, assets(locationId));
    await create(session, workOrder, workOrders(projectId, locationId));
    await create(session, transportOrder, transportOrders(projectId));
  });
}

async function holdsRecords(store: TransactionStore): Promise<boolean> {
  for (const kind of recordKinds) {
    if ((await store.count(kind)) > 0) return true;
  }
  return false;
}

/** A record under the name the demo's tables refer to it by. */
interface Keyed<Key extends string, T> {
  readonly key: Key;
  readonly value: T;
}

/** Creates the records, and returns what finds the ID of one by its key. */
async function create<K extends RecordKind, Key extends string>(
  session: Session,
  kind: K,
  inputs: readonly Keyed<Key, CreateOf<K>>[],
): Promise<(key: Key) => string> {
  const records = await createRecords(
    session,
    kind,
    inputs.map(({ value }) => ({ value })),
  );
  const ids = new Map(inputs.map(({ key }, index) => [key, records[index]?.id]));
  return (key) => {
    const id = ids.get(key);
    if (id === undefined) throw new Error(`the demo has no ${kind.label} called ${key}`);
    return id;
  };
}
