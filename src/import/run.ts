/**
 * Sends the rows of an import to the service: `sendAll` in a preview, and to store them. Rows that are created are sent in parts with
 * idempotency keys that follow from the run, the file and the place of the rows: so a second start sends all parts again, and the service
 * returns what it has stored already. Rows that are upserted need none: sent again, they find what they have stored.
 */
import { GraphqlError, type Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { type Issue, quote } from '../model/issues.ts';
import { constantCase, listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { linkOrder } from '../records/index.ts';
import type { ImportFile } from './file.ts';
import { isCreated, type Linked, lateProblem, linkRows } from './links.ts';
import { copied, type FileReader, partsOf, type Section } from './reading.ts';
import { halving, methodsOf, readRecords, validOnly, writeAll } from './requests.ts';
import { externalKey, type Fate, type LinkedRow, nameOf, pathOf, type RecordRow, type SentRow } from './row.ts';
import type { collectWarnings } from './warnings.ts';

export interface Import {
  readonly yardgraph: Yardgraph;
  readonly files: readonly ImportFile[];
  readonly reader: FileReader;
  readonly scanned: {
    /** In the order in which they are stored. */
    readonly sections: readonly Section[];
    /** The number of rows. */
    readonly total: number;
    readonly linked: Linked;
  };
  /** By kind, what the stored record of a row is found by; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** Kinds of which records are created for names of links that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** What an earlier start has created, if rows may be linked to each other: each of them is the record of a row, which comes once more. */
  readonly createdBefore: Set<string>;
  /** The most records that are deleted because they are not in the files. */
  readonly deleteMissing: number | undefined;
  /** What is probably wrong in the files. */
  readonly warnings: ReadonlyMap<ImportFile, ReturnType<typeof collectWarnings>>;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** How a run through all rows differs: a preview, or storing, which is bound to a run. */
export interface Mode {
  readonly run?: Run;
  readonly warns: boolean;
  readonly onSent: (file: ImportFile, rows: readonly SentRow[]) => void;
}

export interface Run {
  /** Of the keys of all parts. */
  readonly id: string;
  /** By file: its place, and a hash. */
  readonly fileKeys: readonly string[];
}

type LateLink = LinkedRow['late'][number] & { readonly record: string; readonly kind: RecordKind };

/** What has become of all rows, or would become of them. */
export interface Sent {
  readonly rows: Record<Fate['outcome'], number>;
  /** Links to later rows, which are not set yet. */
  readonly late: readonly LateLink[];
  /** Names in links for which records are created. */
  readonly missing: ReadonlyMap<RecordKind, ReadonlySet<string>>;
  /** The records that rows have become, or are: by kind, if all others of these kinds are to be deleted. */
  readonly kept: ReadonlyMap<RecordKind, ReadonlySet<string>>;
}

export async function sendAll(work: Import, { run, warns, onSent }: Mode): Promise<Sent> {
  const isPreview = run === undefined;
  const { sections } = work.scanned;
  const rows = { CREATED: 0, UPDATED: 0, UNCHANGED: 0, REJECTED: 0 };
  const late: LateLink[] = [];
  const missing = new Map<RecordKind, Set<string>>();
  const kept = new Map<RecordKind, Set<string>>();
  const withKeyIssue = keyChecker(work);
  for (const { states = [] } of sections) {
    for (const state of states) Object.assign(state, { is: 'coming', record: state.changes });
  }

  /** Notes what has become of a row, for those that are linked to it. */
  function settle({ row: { kind, state }, outcome, id, late: ofRow }: SentRow): void {
    rows[outcome] += 1;
    if (state) state.is = outcome === 'REJECTED' ? 'refused' : 'accepted';
    if (outcome === 'REJECTED' || id === undefined) return;
    // The ID of a record that a preview would create is not final.
    if (state && !(isPreview && outcome === 'CREATED')) state.record = id;
    for (const link of ofRow) late.push({ ...link, record: id, kind });
    kept.get(kind)?.add(id);
  }

  for (const section of sections) {
    const { kind, file } = section;
    const warn = warns ? work.warnings.get(file)?.warn : undefined;
    const linking = { ...work, missing, isPreview, warn };
    const fileKey = run && `import-${run.id}-${run.fileKeys[work.files.indexOf(file)]}-${kind.name}`;
    /** Links are set in what is sent together: its rows may lead to each other. */
    const send = async (part: readonly RecordRow[]): Promise<SentRow[]> => {
      const linked = await linkRows(linking, kind, part);
      // A part and its first half are different requests.
      const sent = await deliver(work, kind, linked, fileKey && `${fileKey}-${part[0]?.place}-${part.length}`);
      for (const row of sent) settle(row);
      return sent;
    };
    const reject = (row: RecordRow, message: string): SentRow => {
      const issues = [{ path: [], message }];
      const sent = { row, record: {}, issues, late: [], unsent: new Set<string>(), outcome: 'REJECTED' as const };
      settle(sent);
      return sent;
    };
    for await (const part of partsOf(work.reader, section, work.partSize, warn)) {
      work.signal.throwIfAborted();
      // All records of a kind of which the files have no row stay: a file may be empty because an export has failed.
      if (work.deleteMissing !== undefined && !kept.has(kind)) kept.set(kind, new Set());
      const checked = part.map((row) => withKeyIssue(file, row));
      onSent(file, await halving(checked, send, reject));
      work.onProgress(part.length);
    }
  }
  return { rows, late, missing, kept };
}

/**
 * Returns a function that is called with each row once, and refuses it if an earlier row has the same upsert key: the later one would overwrite
 * what the earlier one has stored. A refused row counts, too, so that a preview and each start decide alike.
 */
function keyChecker({ files, upsertKeys }: Import) {
  /** By the key: the line and the place of the file, as one number. */
  const firstRows = new Map<RecordKind, Map<string, number>>([...upsertKeys.keys()].map((kind) => [kind, new Map()]));
  return (file: ImportFile, row: RecordRow): RecordRow => {
    const by = upsertKeys.get(row.kind) ?? '';
    const key = nameOf(row, by);
    if (key === undefined || isBlank(key)) return row;
    const first = firstRows.get(row.kind)?.get(key);
    if (first === undefined) {
      firstRows.get(row.kind)?.set(copied(key), row.source.line * files.length + files.indexOf(file));
      return row;
    }
    const firstFile = files[first % files.length];
    const line = `line ${Math.floor(first / files.length)}${firstFile === file ? '' : ` of ${firstFile?.name}`}`;
    const message = `${line} also has the ${by} ${quote(key)}`;
    return { ...row, issues: [...row.issues, { path: pathOf(by), message }] };
  };
}

/** Sends rows whose links are set. Without a key it is a preview, which has the records of rows that are not created, too. */
async function deliver(
  work: Import,
  kind: RecordKind,
  rows: readonly LinkedRow[],
  key: string | undefined,
): Promise<SentRow[]> {
  const by = work.upsertKeys.get(kind);
  const valid = rows.filter(({ issues }) => issues.length === 0);
  const added = valid.filter(({ row }) => isCreated(row, by));
  const old = valid.filter(({ row }) => !isCreated(row, by));
  const fates = new Map<LinkedRow, Fate & Pick<LinkedRow, 'issues'>>();
  const note = (sent: readonly LinkedRow[], found: readonly Fate[]) => {
    for (const [index, { issues = [], ...fate }] of found.entries()) {
      const row = sent[index];
      if (row) fates.set(row, { ...fate, issues: withLines(issues, sent) });
    }
  };
  // First what may be sent twice: if it is refused as a whole, nothing is stored, and all is sent in halves.
  if (old.length > 0 && by === 'id') note(old, await update(work, kind, old, key === undefined));
  else if (old.length > 0 && by !== undefined) note(old, await upsert(work, kind, by, old, key === undefined));
  if (added.length > 0) note(added, await create(work, kind, added, key));
  return rows.map((row) => ({ ...row, ...(fates.get(row) ?? { outcome: 'REJECTED', issues: row.issues }) }));
}

async function create(work: Import, kind: RecordKind, rows: readonly LinkedRow[], key?: string): Promise<Fate[]> {
  const sent = rows.map(({ record }) => ({ kind: kind.name, record })) as never[];
  const fates: Fate[] = [];
  try {
    const options = { partSize: rows.length, dryRun: key === undefined, idempotencyKey: key };
    for await (const { row: _, ...fate } of work.yardgraph.import(sent, options)) fates.push(fate);
  } catch (error) {
    const types = error instanceof GraphqlError ? error.errors.map(({ extensions }) => extensions?.type) : [];
    if (!types.includes('urn:yardgraph:idempotency-key-reused')) throw error;
    throw new StartError(
      'the import has stored these rows already, with links that are others now: records that they lead to have been renamed, created or deleted meanwhile. Undo its changes, and import the files again',
    );
  }
  return fates;
}

async function upsert(
  work: Import,
  kind: RecordKind,
  by: string,
  rows: readonly LinkedRow[],
  isPreview: boolean,
): Promise<Fate[]> {
  const externalId = externalKey(by);
  const upserted = await methodsOf(work.yardgraph, kind).upsert(
    externalId === undefined ? { field: constantCase(by) } : { externalId },
    rows.map(({ record }) => record),
    { onInvalid: 'SKIP', dryRun: isPreview, returning: isPreview ? 'record' : 'outcome' },
  );
  const changed = upserted.flatMap(({ outcome, record }) =>
    isPreview && outcome === 'UPDATED' ? String(record?.id) : [],
  );
  const stored = await recordsById(work, kind, changed);
  return upserted.map(({ outcome, record, issues }) => {
    const before = outcome === 'UNCHANGED' ? record : stored.get(record?.id);
    return { outcome, issues, id: record?.id as string, before: before ?? undefined, after: record ?? undefined };
  });
}

/** Changes records by their IDs. */
async function update(work: Import, kind: RecordKind, rows: readonly LinkedRow[], isPreview: boolean): Promise<Fate[]> {
  const ids = rows.flatMap(({ row }) => row.id ?? []);
  const stored = await recordsById(work, kind, ids);
  const known = rows.flatMap(({ row, record }) => (stored.has(row.id) ? { ...record, id: row.id } : []));
  const rejected = new Map<unknown, readonly Issue[]>();
  const rowsById = new Map(rows.map((row) => [row.row.id, row]));
  const written = await validOnly<(typeof known)[number], Values>(
    known,
    (some) => methodsOf(work.yardgraph, kind).update(some, { dryRun: isPreview }),
    ({ id }, issues, among) => {
      rejected.set(
        id,
        withLines(
          issues,
          among.map((other) => rowsById.get(other.id)),
        ),
      );
      return {};
    },
  );
  const writtenById = new Map(written.map((record) => [record.id, record]));
  const message = `there is no ${kind.label} with this ID in this workspace: leave it empty to create one`;
  return rows.map(({ row: { id } }): Fate => {
    const [before, after] = [stored.get(id), writtenById.get(id)];
    if (!before || !after) return { outcome: 'REJECTED', issues: rejected.get(id) ?? [{ path: ['id'], message }] };
    const isAsBefore = Object.keys(kind.fields).every((field) => isSame(before[field] ?? null, after[field] ?? null));
    return { outcome: isAsBefore ? 'UNCHANGED' : 'UPDATED', id, before, after };
  });
}

async function recordsById(work: Import, kind: RecordKind, ids: readonly string[]): Promise<Map<unknown, Values>> {
  const records = await readRecords(work.yardgraph, kind, 'id', ids, Object.keys(kind.fields));
  return new Map(records.map((record) => [record.id, record]));
}

/** Names other rows by their lines in the file, where the service names them by their places in the batch. */
const withLines = (issues: readonly Issue[], rows: readonly (LinkedRow | undefined)[]): Issue[] =>
  issues.map(({ path, message }) => {
    const place = /^item \[(\d+)\] of this batch/.exec(message);
    const line = rows[Number(place?.[1])]?.row.source.line;
    return { path, message: place && line !== undefined ? message.replace(place[0], `line ${line}`) : message };
  });

/** Sets links that led to later rows. Returns what is to be said of those that cannot be set. */
export async function setLateLinks(work: Import, late: readonly LateLink[]): Promise<string[]> {
  const unset = late.flatMap((item) => {
    const message = lateProblem(item);
    return message === undefined ? [] : { item, message };
  });
  for (const kind of new Set(late.map((link) => link.kind))) {
    const ready = late.filter((link) => link.kind === kind && link.to.record !== undefined);
    const send = (some: readonly LateLink[]) => {
      const records = some.map(({ record, link, to }) => ({ id: record, [link.field]: to.record }));
      return methodsOf(work.yardgraph, kind).update(records, { returning: 'outcome' });
    };
    unset.push(...(await writeAll(work, ready, send)));
  }
  return unset.map(
    ({ item: { record, link }, message }) =>
      `${record}: ${link.field} ${quote(link.value ?? '')} was not set: ${message}`,
  );
}

/** The stored records that have a key and are not in the files: by kind, those first that link to others. */
export async function missingRecords(work: Import, { kept }: Sent): Promise<Map<RecordKind, string[]>> {
  const missing = new Map<RecordKind, string[]>();
  for (const kind of linkOrder.toReversed()) {
    const ids = kept.get(kind);
    if (!ids) continue;
    const options = { where: haveKey(work.upsertKeys.get(kind)), signal: work.signal };
    const others: string[] = [];
    for await (const { id } of work.yardgraph.export(listField(kind) as 'assets', options)) {
      if (!ids.has(id)) others.push(id);
    }
    if (others.length > 0) missing.set(kind, others);
  }
  return missing;
}

/** The filter for records that an upsert by this key may find. */
function haveKey(by: string | undefined) {
  if (by === undefined || by === 'id') return undefined;
  const system = externalKey(by);
  return system === undefined ? { [by]: { isNull: false } } : { externalIds: { key: system } };
}

/** Deletes records. Returns those that others refer to, and are kept. */
export const deleteRecords = (work: Import, kind: RecordKind, ids: readonly string[]) =>
  writeAll(work, ids, (some) => methodsOf(work.yardgraph, kind).delete(some, { returning: 'outcome' }));
