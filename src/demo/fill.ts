/**
 * Imports the files beside this one into the workspace `default`: one for each kind, as `yardgraph import` reads them. They show a
 * fictional rental company as of 20 November 2026; makers, companies and street names are invented.
 *
 * They are stored through the services, and not by a client, for the service is not listening yet; and all at once, so that an
 * interrupted start leaves none behind, and two simultaneous starts create them once.
 */
import { createSessionOpener } from '../auth/authenticate.ts';
import { anonymousIn, anonymousWorkspace } from '../auth/keys.ts';
import { ServiceError } from '../errors.ts';
import { findFiles } from '../import/local-files.ts';
import { rowOptions } from '../import/profiles.ts';
import { readRows } from '../import/read.ts';
import type { RecordRow } from '../import/row.ts';
import { rowReader } from '../import/values.ts';
import { linkFields, linkParser } from '../model/links.ts';
import { createParser } from '../model/schemas.ts';
import { kindNamed, linkOrder, recordKinds } from '../records/index.ts';
import { importRecords } from '../services/write.ts';
import { openWorkspace } from '../store/admin/api-keys.ts';
import type { Database } from '../store/database.ts';

/** Not those of the settings, which may be stricter. */
const limits = { maxTextLength: 1_000, maxExternalIds: 10, maxRecordLength: 10_000 };

/** Does nothing if the workspace has records. */
export async function fillDemo(database: Database): Promise<void> {
  const workspace = await openWorkspace(database, anonymousWorkspace);
  const author = { userId: null, requestId: null, message: 'The demo' };
  const session = createSessionOpener(database)(anonymousIn(workspace), { author });
  for (const kind of recordKinds) if ((await session.store.count(kind)) > 0) return;
  try {
    await importRecords(session, await readBatches(), { limits, onInvalid: 'fail', withBefore: false });
  } catch (error) {
    // The uids of the assets are taken: another process has filled the workspace since this one found it empty.
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
  }
}

async function readBatches() {
  const rows: RecordRow[] = [];
  for (const file of findFiles([__dirname], undefined).files) {
    const { kind } = file;
    if (!kind) continue;
    const read = rowReader(kind, rowOptions({}, kind));
    for await (const row of readRows(file, { isKnown: () => true, warn: () => {} })) rows.push(read(row));
  }
  const refOf = (kindName: string, id: unknown) => `${kindName} ${id}`;
  const refs = new Set(rows.flatMap(({ kind, id }) => (id === undefined ? [] : [refOf(kind.name, id)])));
  return linkOrder.map((kind) => {
    const parse = linkParser({ kind, kindNamed, hasRefs: true }, limits, createParser(kind, limits));
    const records = rows.flatMap(({ kind: kindOfRow, id, fields, externalIds, links }) => {
      if (kindOfRow !== kind) return [];
      const record: Record<string, unknown> = { ...fields, ...(id !== undefined && { ref: refOf(kind.name, id) }) };
      if (Object.keys(externalIds).length > 0) record.externalIds = externalIds;
      for (const [link, field, { target }] of linkFields(kind)) {
        const { value } = links.find((other) => other.field === field) ?? {};
        const ref = refOf(target, value);
        if (refs.has(ref)) record[link] = { ref };
        else record[field] = value;
      }
      return [parse(record)];
    });
    return { kind, records, path: [kind.table], op: 'create' as const, by: undefined };
  });
}
