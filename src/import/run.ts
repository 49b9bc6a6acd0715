/**
 * Sends the rows of an import to the service: `sendAll` in a preview, and to store them. Rows are sent in parts with idempotency keys that
 * follow from the run, the file and the place of the row: so a second start sends all parts again, and the service returns what it has stored
 * already.
 */
import { GraphqlError, ServiceError, type Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { type Issue, quote } from '../model/issues.ts';
import { constantCase, listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindOfId, linkOrder } from '../records/index.ts';
import type { ImportFile } from './file.ts';
import { findLate, type LateLink, type LateResult, type Linked, readRecords, setLinks } from './links.ts';
import { copied, type FileReader, partsOf, type Section } from './reading.ts';
import { externalKey, nameOf, type Outcome, pathOf, type RecordRow, type SentRow } from './row.ts';
import type { UpsertKey } from './upsert-keys.ts';
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
  /** By kind; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, UpsertKey>;
  /** Kinds of which records are created for names of links that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
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

/** What has become of all rows, or would become of them. */
export interface Sent {
  readonly rows: Record<Outcome, number>;
  /** Links to later rows, which are not set yet. */
  readonly late: readonly LateLink[];
  /** Names in links for which records are created. */
  readonly missing: ReadonlyMap<RecordKind, ReadonlySet<string>>;
  /** The records that rows have become, or are: by kind, if all others of these kinds are to be deleted. */
  readonly kept: ReadonlyMap<RecordKind, ReadonlySet<string>>;
}

export interface Run {
  /** Of the keys of all parts. */
  readonly id: string;
  /** By file: its place, and a hash. */
  readonly fileKeys: readonly string[];
  /** Set if the import was stopped, and goes on. */
  readonly earlier: Earlier | undefined;
}

export async function sendAll(work: Import, { run, warns, onSent }: Mode): Promise<Sent> {
  const isPreview = run === undefined;
  const rows = { CREATED: 0, UPDATED: 0, UNCHANGED: 0, REJECTED: 0 };
  const late: LateLink[] = [];
  const missing = new Map<RecordKind, Set<string>>();
  const { sections } = work.scanned;
  const keptKinds = work.deleteMissing === undefined ? [] : sections.map(({ kind }) => kind);
  const kept = new Map(keptKinds.map((kind) => [kind, new Set<string>()]));
  const withKeyIssue = keyChecker(work);
  for (const { states = [] } of sections) {
    for (const state of states) Object.assign(state, { is: 'coming', record: undefined });
  }
  for (const section of sections) {
    const { kind, file } = section;
    const by = work.upsertKeys.get(kind);
    const warn = warns ? work.warnings.get(file)?.warn : undefined;
    const linking = {
      ...work,
      missing,
      isPreview,
      warn,
      created: run?.earlier?.created ?? new Set(),
      storedRecords: (of: readonly RecordRow[]) => storedRecords(work, kind, of, run?.earlier),
    };
    const fileKey = run && `import-${run.id}-${run.fileKeys[work.files.indexOf(file)]}-${kind.name}`;

    /** Links are set in what is sent together: its rows may lead to each other. */
    const send = async (of: readonly RecordRow[]): Promise<SentRow[]> => {
      const sent = of.map((row) => sentRow(row, by));
      await setLinks(linking, kind, sent.filter(isValid));
      await deliver(work, kind, sent.filter(isValid), fileKey && `${fileKey}-${of[0]?.place}`);
      for (const row of sent) settle(row);
      return sent;
    };
    const reject = (row: RecordRow, message: string): SentRow => {
      const sent = sentRow({ ...row, issues: [{ path: [], message }] }, by);
      settle(sent);
      return sent;
    };
    /** Notes what has become of a row, for those that are linked to it. */
    const settle = ({ row: { state }, outcome, id, late: ofRow }: SentRow): void => {
      rows[outcome] += 1;
      if (state) state.is = outcome === 'REJECTED' ? 'refused' : 'accepted';
      if (outcome === 'REJECTED' || id === undefined) return;
      // The ID of a record that a preview would create is not final.
      if (state && !(isPreview && outcome === 'CREATED')) state.record = id;
      for (const link of ofRow) late.push({ ...link, record: id });
      kept.get(kind)?.add(id);
    };

    for await (const part of partsOf(work.reader, section, work.partSize, warn)) {
      work.signal.throwIfAborted();
      const checked = part.map((row) => withKeyIssue(file, row));
      onSent(file, await halving(checked, send, reject));
      work.onProgress(part.length);
    }
  }
  return { rows, late, missing, kept };
}

const isValid = ({ issues }: SentRow): boolean => issues.length === 0;

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

/** True if it is created: no record is looked for. */
const isNew = ({ id }: RecordRow, by: UpsertKey | undefined): boolean =>
  by === undefined || (by === 'id' && id === undefined);

function sentRow(row: RecordRow, by: UpsertKey | undefined): SentRow {
  const record: Record<string, unknown> = { ...row.fields };
  const ownIds = Object.entries(row.externalIds);
  if (ownIds.length > 0 && !isNew(row, by)) record.mergeExternalIds = row.externalIds;
  else if (ownIds.some(([, value]) => value !== null)) {
    record.externalIds = Object.fromEntries(ownIds.filter(([, value]) => value !== null));
  }
  return { row, record, issues: [...row.issues], late: [], unsent: new Set(), outcome: 'REJECTED' };
}

/** Sends items in as few parts as the service accepts: one that it rejects as a whole, for its size or for an item, is sent in halves. */
async function halving<I, R>(
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly R[]>,
  reject: (item: I, message: string) => R,
): Promise<R[]> {
  try {
    return [...(await send(items))];
  } catch (error) {
    const [first] = items;
    if (isKeyReused(error)) {
      // A half of the part was stored with its key, which is the key of the half: by itself, it is found again.
      if (items.length === 1) throw new StartError(storedOtherwise);
    } else if (!isRejected(error)) throw error;
    else if (items.length === 1 && first !== undefined) {
      return [reject(first, error.message)];
    }
    const half = Math.ceil(items.length / 2);
    const results = await halving(items.slice(0, half), send, reject);
    return [...results, ...(await halving(items.slice(half), send, reject))];
  }
}

const storedOtherwise =
  'the import has stored these rows already, with links that are others now: records that they lead to have been renamed, created or deleted meanwhile. Undo its changes, and import the files again';

/** True if the service rejects what was sent, or how much that is, and has done nothing. */
export const isRejected = (error: unknown): error is GraphqlError =>
  error instanceof GraphqlError &&
  !error.mayBeStored &&
  error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');

const isKeyReused = (error: unknown): boolean =>
  error instanceof GraphqlError &&
  error.errors.every(({ extensions }) => extensions?.type === 'urn:yardgraph:idempotency-key-reused');

/** The methods of a kind. The casts are safe: the service checks the records, and the keys are those of the kind. */
const methodsOf = ({ yardgraph }: Pick<Import, 'yardgraph'>, kind: RecordKind) =>
  yardgraph[listField(kind) as 'assets'] as unknown as {
    upsert(by: object, records: readonly object[], options: object): Promise<Upserted[]>;
    update(records: readonly object[], options: object): Promise<Values[]>;
    delete(ids: readonly string[], options: object): Promise<Values[]>;
  };

interface Upserted {
  readonly outcome: Outcome;
  readonly record: Values | null;
  readonly issues?: readonly { readonly path: readonly string[]; readonly message: string }[];
}

/** Sends rows whose links are set. Without a key it is a preview, which has the records of rows that are not created, too. */
async function deliver(work: Import, kind: RecordKind, rows: readonly SentRow[], key?: string): Promise<void> {
  const by = work.upsertKeys.get(kind);
  const added = rows.filter(({ row }) => isNew(row, by));
  const old = rows.filter(({ row }) => !isNew(row, by));
  // First what has no key: if it is refused as a whole, the key has not been used, and those of the halves are free.
  if (old.length > 0 && by === 'id') await update(work, kind, old, key === undefined);
  else if (old.length > 0 && by !== undefined) await upsert(work, kind, by, old, key);
  if (added.length > 0) await create(work, kind, added, key);
}

async function create(work: Import, kind: RecordKind, rows: readonly SentRow[], key?: string): Promise<void> {
  const sent = rows.map((row) => ({ sent: row, kind: kind.name, record: row.record })) as never[];
  const options = { partSize: rows.length, dryRun: key === undefined, idempotencyKey: key };
  for await (const { row, ...result } of work.yardgraph.import(sent, options)) {
    const issues = result.outcome === 'REJECTED' ? withLines(result.issues, rows) : [];
    Object.assign((row as { readonly sent: SentRow }).sent, { ...result, issues });
  }
}

const clientKey = (by: string) => {
  const externalId = externalKey(by);
  return externalId === undefined ? { field: constantCase(by) } : { externalId };
};

async function upsert(work: Import, kind: RecordKind, by: string, rows: readonly SentRow[], key?: string) {
  const isPreview = key === undefined;
  const options = { onInvalid: 'SKIP', dryRun: isPreview, returning: isPreview ? 'record' : 'outcome' };
  const records = rows.map(({ record }) => record);
  const { upsert: send } = methodsOf(work, kind);
  const upserted = await send(clientKey(by), records, { ...options, idempotencyKey: key }).catch((error) => {
    // An earlier start has stored them, as they were to be then. That they are upserted again does no harm.
    if (!isKeyReused(error)) throw error;
    return send(clientKey(by), records, options);
  });
  const changed = upserted.flatMap(({ outcome, record }) =>
    isPreview && outcome === 'UPDATED' ? String(record?.id) : [],
  );
  const stored = await recordsById(work, kind, changed);
  for (const [index, sent] of rows.entries()) {
    const { outcome = 'REJECTED', record, issues = [] } = upserted[index] ?? {};
    const before = outcome === 'UNCHANGED' ? record : stored.get(record?.id);
    Object.assign(sent, { outcome, id: record?.id, after: record, before, issues: withLines(issues, rows) });
  }
}

/** Changes records by their IDs. Those that stay as they are have the same `updatedAt` afterwards. */
async function update(work: Import, kind: RecordKind, rows: readonly SentRow[], isPreview: boolean): Promise<void> {
  const ids = rows.flatMap(({ row }) => row.id ?? []);
  const stored = await recordsById(work, kind, ids);
  const message = `there is no ${kind.label} with this ID in this workspace: leave it empty to create one`;
  for (const { row, issues } of rows) if (!stored.has(row.id)) issues.push({ path: ['id'], message });
  const known = rows.filter(isValid);
  const { update: send } = methodsOf(work, kind);
  const results = await validOnly(
    known.map(({ row, record }) => ({ ...record, id: row.id })),
    (left) => send(left, { dryRun: isPreview }),
  );
  for (const [index, sent] of known.entries()) {
    const { issues = [], result } = results[index] ?? {};
    sent.issues.push(...withLines(issues, known));
    if (!result) continue;
    const { id } = sent.row;
    const before = stored.get(id);
    const isAsBefore = kindFields(kind).every((field) => isSame(before?.[field] ?? null, result[field] ?? null));
    Object.assign(sent, { outcome: isAsBefore ? 'UNCHANGED' : 'UPDATED', id, before, after: result });
  }
}

const kindFields = ({ fields }: RecordKind): string[] => Object.keys(fields);

async function recordsById(work: Import, kind: RecordKind, ids: readonly string[]): Promise<Map<unknown, Values>> {
  const records = await readRecords(work.yardgraph, kind, 'id', ids, kindFields(kind));
  return new Map(records.map((record) => [record.id, record]));
}

/** Writes a batch that is stored as a whole or not at all: without its invalid items, which it returns with their issues. */
async function validOnly<I>(items: readonly I[], send: (items: readonly I[]) => Promise<readonly Values[]>) {
  const results = items.map((): { issues: Issue[]; result?: Values | undefined } => ({ issues: [] }));
  for (let left = [...items.keys()]; left.length > 0; ) {
    try {
      const written = await send(left.flatMap((place) => items.slice(place, place + 1)));
      for (const [index, place] of left.entries()) Object.assign(results[place] ?? {}, { result: written[index] });
      break;
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.items.some(({ index }) => index !== undefined)) throw error;
      for (const { index, field, message } of error.items) {
        results[left[index ?? -1] ?? -1]?.issues.push({ path: field === undefined ? [] : [field], message });
      }
      left = left.filter((place) => results[place]?.issues.length === 0);
    }
  }
  return results;
}

/** Names other rows by their lines in the file, where the service names them by their places in the batch. */
const withLines = (issues: readonly Issue[], rows: readonly SentRow[]): Issue[] =>
  issues.map(({ path, message }) => {
    const place = /^item \[(\d+)\] of this batch/.exec(message);
    const line = rows[Number(place?.[1])]?.row.source.line;
    return { path, message: place && line !== undefined ? message.replace(place[0], `line ${line}`) : message };
  });

/** The records that rows would change, as they were before this run: a dry run of upserts finds them, by their keys alone. */
async function storedRecords(
  work: Import,
  kind: RecordKind,
  rows: readonly RecordRow[],
  earlier: Earlier | undefined,
): Promise<(Values | undefined)[]> {
  const by = work.upsertKeys.get(kind);
  if (by === undefined) return [];
  const texts = rows.map((row) => nameOf(row, by));
  let stored: readonly (Values | null | undefined)[];
  if (by === 'id') {
    const ids = texts.flatMap((id) => id ?? []);
    const records = await recordsById(work, kind, ids);
    stored = texts.map((id) => records.get(id));
  } else {
    const system = externalKey(by);
    const keys = texts.map((text) => (system === undefined ? { [by]: text } : { externalIds: { [system]: text } }));
    const found = await methodsOf(work, kind).upsert(clientKey(by), keys, { onInvalid: 'SKIP', dryRun: true });
    stored = found.map(({ outcome, record }) => (outcome === 'CREATED' ? undefined : record));
  }
  return stored.map((record) => (record ? { ...record, ...earlier?.links.get(record.id) } : undefined));
}

/** What earlier starts of an import have done. */
export interface Earlier {
  /** Links of records that they have changed, as they were: by the ID and the reference. */
  readonly links: ReadonlyMap<unknown, Values>;
  /** The records that they have created of kinds of which names in links create some. */
  readonly created: ReadonlySet<string>;
  /** The number of created records that are not there any more. */
  readonly gone: number;
}

/** Reads all changes with the message of an import since it began. */
export async function readEarlier(
  { yardgraph, createMissing }: Import,
  after: string,
  message: string,
): Promise<Earlier> {
  const links = new Map<unknown, Record<string, unknown>>();
  const created = new Set<string>();
  let gone = 0;
  for (let page: EarlierPage = { nodes: [], endCursor: after, hasMore: true }; page.hasMore; ) {
    ({ changes: page } = (await yardgraph.graphql(earlierQuery, { after: page.endCursor })) as {
      changes: EarlierPage;
    });
    for (const { action, recordId, record, fields } of page.nodes.filter((change) => change.message === message)) {
      const kind = kindOfId(recordId);
      if (action === 'CREATED' && !record) gone += 1;
      if (action === 'CREATED' && kind && createMissing.has(kind)) created.add(recordId);
      if (action !== 'UPDATED') continue;
      const old = fields.filter(({ field }) => /Id$/.test(field)).map(({ field, before }) => [field, before]);
      links.set(recordId, { ...Object.fromEntries(old), ...links.get(recordId) });
    }
  }
  return { links, created, gone };
}

const earlierQuery = `query ($after: String!) {
  changes(after: $after, first: 1000) {
    nodes { action message recordId record { id } fields { field before } } endCursor hasMore
  }
}`;

interface EarlierPage {
  readonly nodes: readonly {
    readonly action: string;
    readonly message: string | null;
    readonly recordId: string;
    readonly record: object | null;
    readonly fields: readonly { readonly field: string; readonly before: unknown }[];
  }[];
  readonly endCursor: string;
  readonly hasMore: boolean;
}

/** Writes items in parts, but for those that the service refuses: returns these, and why. */
async function writeAll<I>(
  { partSize, signal }: Import,
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly Values[]>,
): Promise<{ readonly item: I; readonly message: string }[]> {
  const refused: { item: I; message: string }[] = [];
  for (let start = 0; start < items.length; start += partSize) {
    signal.throwIfAborted();
    const part = items.slice(start, start + partSize);
    const results = await halving(
      part,
      (some) => validOnly(some, send),
      (_, message) => ({ issues: [{ path: [], message }] }),
    );
    for (const [index, item] of part.entries()) {
      const [issue] = results[index]?.issues ?? [];
      if (issue) refused.push({ item, message: issue.message });
    }
  }
  return refused;
}

/** Sets links that led to later rows. Returns what is to be said of those that cannot be set. */
export async function setLateLinks(work: Import, late: readonly LateLink[]): Promise<string[]> {
  const found = await findLate(work, late);
  const unset = found.flatMap((item) => (item.message === undefined ? [] : { item, message: item.message }));
  for (const kind of new Set(late.map((link) => link.kind))) {
    const ready = found.filter((link) => link.kind === kind && link.values);
    const send = (some: readonly LateResult[]) => {
      const records = some.map(({ record, values }) => ({ id: record, ...values }));
      return methodsOf(work, kind).update(records, { returning: 'outcome' });
    };
    unset.push(...(await writeAll(work, ready, send)));
  }
  return unset.map(
    ({ item: { record, way }, message }) => `${record}: ${way.field} ${quote(way.value ?? '')} was not set: ${message}`,
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
function haveKey(by: UpsertKey | undefined) {
  if (by === undefined || by === 'id') return undefined;
  const system = externalKey(by);
  return system === undefined ? { [by]: { isNull: false } } : { externalIds: { key: system } };
}

/** Deletes records. Returns those that others refer to, and are kept. */
export const deleteRecords = (work: Import, kind: RecordKind, ids: readonly string[]) =>
  writeAll(work, ids, (some) => methodsOf(work, kind).delete(some, { returning: 'outcome' }));
