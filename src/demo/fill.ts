/**
 * Creates the demo's records in the workspace `default`, through the services, so that references and unique values are
 * checked.
 */
import { createSessionOpener } from '../auth/authenticate.ts';
import { anonymousIn, anonymousWorkspace } from '../auth/keyring.ts';
import { ServiceError } from '../errors.ts';
import type { CreateOf, RecordKind } from '../model/record-kind.ts';
import { asset, assetCategory, location, project, recordKinds, transportOrder, workOrder } from '../records/index.ts';
import { createRecords } from '../services/create-records.ts';
import type { Session } from '../services/session.ts';
import type { Database } from '../store/database.ts';
import { openWorkspace } from '../store/workspace-names.ts';
import type { TransactionStore } from '../store/workspace-store.ts';
import { assets } from './assets.ts';
import { families, groups, types } from './categories.ts';
import { locations } from './locations.ts';
import { projects } from './projects.ts';
import { transportOrders } from './transport-orders.ts';
import { workOrders } from './work-orders.ts';

/**
 * Does nothing if the workspace has records. Uses one transaction, so that an interrupted start leaves no records behind,
 * and two simultaneous starts create the records once.
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
  const { store, ...caller } = createSessionOpener(database)(anonymousIn(workspace), { author });
  await store.transaction(async (transaction) => {
    if (await holdsRecords(transaction)) return;
    const session: Session = { ...caller, store: transaction };

    const locationIdOf = await createKeyed(session, location, locations);
    const familyIdOf = await createKeyed(session, assetCategory, families);
    const groupIdOf = await createKeyed(session, assetCategory, groups(familyIdOf));
    await createKeyed(session, assetCategory, types(groupIdOf));
    const projectIdOf = await createKeyed(session, project, projects(locationIdOf));
    await createKeyed(session, asset, assets(locationIdOf));
    await createKeyed(session, workOrder, workOrders(projectIdOf, locationIdOf));
    await createKeyed(session, transportOrder, transportOrders(projectIdOf));
  });
}

async function holdsRecords(store: TransactionStore): Promise<boolean> {
  for (const kind of recordKinds) {
    if ((await store.count(kind)) > 0) return true;
  }
  return false;
}

/** A record to create, and the key by which the demo's rows refer to it. */
interface Keyed<Key extends string, T> {
  readonly key: Key;
  readonly value: T;
}

/** Creates the records, and returns a function from a record's key to its ID. */
async function createKeyed<K extends RecordKind, Key extends string>(
  session: Session,
  kind: K,
  inputs: readonly Keyed<Key, CreateOf<K>>[],
): Promise<(key: Key) => string> {
  const records = await createRecords(
    session,
    kind,
    // In the form of parsed input: the compiler has checked the types, so the schemas are skipped.
    inputs.map(({ value }) => ({ value })),
  );
  const ids = new Map(inputs.map(({ key }, index) => [key, records[index]?.id]));
  return (key) => {
    const id = ids.get(key);
    if (id === undefined) throw new Error(`the demo has no ${kind.label} with the key ${key}`);
    return id;
  };
}
