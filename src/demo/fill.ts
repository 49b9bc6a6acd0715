/**
 * Fills the workspace `default` with a fictional rental company as of 20 November 2026. One write stores all records:
 * an interrupted start leaves none, and two simultaneous starts create them once.
 */
import { createSessionOpener } from '../auth/authenticate.ts';
import { anonymousIn, anonymousWorkspace } from '../auth/keyring.ts';
import { ServiceError } from '../errors.ts';
import { buildItems, RowIndex } from '../import/items.ts';
import { findFiles } from '../import/local-files.ts';
import { createFileReader, readTreeOrders, rowsInOrder, scanFiles } from '../import/reading.ts';
import type { FileRow } from '../import/row.ts';
import { linkParser } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { createParser } from '../model/schemas.ts';
import { kindNamed, linkOrder, recordKinds } from '../records/index.ts';
import { importRecords } from '../services/write.ts';
import { findOrCreateWorkspace } from '../store/admin/api-keys.ts';
import type { Database } from '../store/database.ts';
import type { WorkspaceReads } from '../store/workspace-store.ts';

/** The settings may be stricter. */
const limits = { maxTextLength: 1_000, maxExternalIds: 10, maxRecordLength: 10_000 };

/** Does nothing if the workspace has records. */
export async function fillDemo(database: Database): Promise<void> {
  const workspace = await findOrCreateWorkspace(database, anonymousWorkspace);
  const author = { userId: null, requestId: null, message: 'The demo' };
  const session = createSessionOpener(database)(anonymousIn(workspace), { author });
  if (await hasRecords(session.store)) return;
  try {
    await importRecords(session, await readDemoBatches(), { limits, onInvalid: 'fail', withBefore: false });
  } catch (error) {
    // Another process has filled the workspace, with the same uids.
    if (!(error instanceof ServiceError && (await hasRecords(session.store)))) throw error;
  }
}

async function hasRecords(store: WorkspaceReads): Promise<boolean> {
  for (const kind of recordKinds) if ((await store.count(kind)) > 0) return true;
  return false;
}

async function readDemoBatches() {
  const { files } = findFiles([__dirname], undefined);
  const reader = createFileReader({}, { files });
  const scanned = await scanFiles(files, reader);
  const upsertKeys = new Map<RecordKind, string>();
  const orders = await readTreeOrders(reader, scanned, upsertKeys);
  const rows: FileRow[] = [];
  for await (const row of rowsInOrder(reader, scanned, orders)) rows.push(row);
  const index = new RowIndex({ files, scanned, upsertKeys });
  index.startPart(rows);
  const items = buildItems(index, rows);
  return linkOrder.map((kind) => {
    const parse = linkParser({ kind, kindNamed, hasRefs: true }, limits, createParser(kind, limits));
    const records = items.flatMap(({ row, record }) => (row.kind === kind ? [parse(record)] : []));
    return { kind, records, path: [kind.table], op: 'create' as const, by: undefined };
  });
}
