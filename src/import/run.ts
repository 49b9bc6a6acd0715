/**
 * Sends the rows of an import to the service, part by part: each part is one mutation. A preview sends the same parts as dry runs. Parts that
 * may create records without a key have idempotency keys that follow from the run and the place of their rows: a second start sends all parts
 * again, and the service returns what it has stored already. Rows that are upserted by a key need none: sent again, they find their records.
 */
import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { listField, pluralize } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, linkOrder } from '../records/index.ts';
import { fieldOf } from './columns.ts';
import type { ImportFile } from './file.ts';
import { itemsOf, lineOf, type RowIndex, type RowItem, refusedRow, sayAlike } from './items.ts';
import { type FileReader, partsOf, type Scanned, type TreeOrders } from './reading.ts';
import { deleteUnreferenced, halving, type Item, type ItemResult, importItems, storedTexts } from './requests.ts';
import {
  externalKey,
  type FileRow,
  type LinkCell,
  type Outcome,
  type RowIssue,
  type RowOutcome,
  valueAt,
} from './row.ts';
import type { collectWarnings } from './warnings.ts';

export interface Import {
  readonly yardgraph: Yardgraph;
  readonly files: readonly ImportFile[];
  readonly reader: FileReader;
  readonly scanned: Scanned;
  readonly treeOrders: TreeOrders;
  /** By kind, how the stored record of a row is found; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** Kinds of which records are created for names of links that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** Those of them whose rows are found by a key that a name does not have: a part creates records for names, or has such rows. */
  readonly keyedApart: ReadonlySet<RecordKind>;
  /** The most records that are deleted because they are not in the files. */
  readonly deleteMissing: number | undefined;
  /** What is probably wrong in the files. */
  readonly warnings: ReadonlyMap<ImportFile, ReturnType<typeof collectWarnings>>;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** What is noted of an import before it stores anything, so that it can be resumed. */
export interface ImportRun {
  readonly id: string;
  /** The cursor of the last change before. */
  readonly after: string;
  /** In milliseconds. */
  readonly startedAt: number;
  /** The ID of the workspace. */
  readonly workspace: string;
  /** The kinds and names of the records that parts create for links, by their idempotency keys. */
  readonly missing: Record<string, readonly (readonly [kind: string, name: string])[]>;
}

/** How the rows are stored. */
export interface Storing {
  readonly run: ImportRun;
  /** Keeps the run, as it is now, for another start. */
  readonly save: () => void;
  /** By file: its place, and a hash. */
  readonly fileKeys: readonly string[];
  /** Set if the run is resumed: how to begin anew. */
  readonly restart: string | undefined;
}

/** One way through all rows: a preview, unless they are stored. */
export interface Pass {
  readonly index: RowIndex;
  readonly storing?: Storing;
  readonly warns: boolean;
  readonly onPart: (outcomes: readonly RowOutcome[]) => void;
}

/** Totals of an import, or of a preview. */
export interface Totals {
  readonly rows: Record<Outcome, number>;
  /** By kind, the names for which records are created. */
  readonly missing: ReadonlyMap<RecordKind, Set<string>>;
  /** By kind, if all other records are to be deleted: the records of the rows. */
  readonly kept: Map<RecordKind, Set<string>>;
  /** Of rows with links that a preview cannot check. */
  readonly unchecked: { count: number; first: FileRow | undefined };
}

export async function sendAll(work: Import, pass: Pass): Promise<Totals> {
  const totals: Totals = {
    rows: { CREATED: 0, UPDATED: 0, UNCHANGED: 0, REJECTED: 0 },
    missing: new Map([...work.createMissing].map((kind) => [kind, new Set()])),
    // All records of a kind of which the files have no row stay: a file may be empty because an export has failed.
    kept: new Map(),
    unchecked: { count: 0, first: undefined },
  };
  const warnOf = (file: ImportFile) => (pass.warns ? work.warnings.get(file)?.warn : undefined);
  for await (const part of partsOf(work, warnOf)) {
    work.signal.throwIfAborted();
    const rows = part.map((row) => pass.index.note(row));
    const outcomes = await halving(
      rows,
      (some) => sendPart(work, pass, totals.missing, some),
      (row, message) => refuse(pass.index, row, message),
    );
    for (const outcome of outcomes) addTo(totals, outcome, work.deleteMissing !== undefined);
    for (const { row, foreign } of outcomes) {
      const { source, file } = row;
      for (const { field, target, cell } of foreign) {
        const message = `no ${target.label} here has such an ID: it is kept as one of another system`;
        warnOf(file)?.({ line: source.line, column: source.names[cell] ?? field, message });
      }
    }
    pass.onPart(outcomes);
    work.onProgress(part.length);
  }
  return totals;
}

function addTo({ rows, kept, unchecked }: Totals, { row, outcome, id, ...others }: RowOutcome, keeps: boolean): void {
  rows[outcome] += 1;
  if (keeps) {
    const ids = kept.get(row.kind) ?? new Set();
    kept.set(row.kind, ids);
    if (id !== undefined) ids.add(id);
  }
  if (outcome === 'REJECTED' || others.unchecked.size === 0) return;
  unchecked.count += 1;
  unchecked.first ??= row;
}

function refuse(index: RowIndex, row: FileRow, message: string): RowOutcome {
  const issues = [{ path: [], message }];
  const refused = { row, outcome: 'REJECTED', issues, unchecked: new Set<string>(), foreign: [] } as const;
  index.settle(refused);
  return refused;
}

async function sendPart(work: Import, pass: Pass, missing: Totals['missing'], rows: readonly FileRow[]) {
  const { index, storing } = pass;
  index.begin(rows);
  for (const [kind, ids] of index.idsLikeNames(rows)) {
    for (const name of await storedTexts(work.yardgraph, kind, 'name', [...ids])) index.noteStoredName(kind, name);
  }
  const items = itemsOf(index, rows);
  const valid = items.filter(({ issues }) => issues.length === 0);
  const sent = valid.map(({ row, record }): Item => ({ kind: row.kind, record }));
  const idempotencyKey = storing && keyOfPart(work, storing, rows);
  const checked = await checkNames(work, pass, valid, sent, idempotencyKey);
  for (const { kind, record } of checked.names) missing.get(kind)?.add(String(record.name));
  const results = storing
    ? await importItems(work.yardgraph, [...sent, ...checked.names], { ...work, idempotencyKey })
    : checked.results;
  if (storing?.restart !== undefined && idempotencyKey) await requireStored(work, sent, results, storing.restart);
  const resultOf = new Map(valid.map((item, at) => [item, results[at]]));
  const outcomes = items.map((item): RowOutcome => {
    const { outcome = 'REJECTED', record, before, issues = item.issues } = resultOf.get(item) ?? {};
    const explained = issues.map((issue) => explain(issue, item, valid, work.createMissing));
    const id = record?.id as string | undefined;
    return { ...item, outcome, id, issues: explained, before: before ?? undefined, after: record ?? undefined };
  });
  for (const outcome of outcomes) index.settle(outcome);
  return outcomes;
}

/** Unset if nothing can be stored twice: records of all rows are found by a key. A part and its first half are different requests. */
function keyOfPart({ files, upsertKeys }: Import, { run, fileKeys }: Storing, rows: readonly FileRow[]) {
  const [first] = rows;
  if (!first || rows.every(({ kind }) => (upsertKeys.get(kind) ?? 'id') !== 'id')) return undefined;
  return `import-${run.id}-${fileKeys[files.indexOf(first.file)]}-${first.kind.name}-${first.place}-${rows.length}`;
}

/**
 * Returns the records that a part must create for names in its links, which dry runs find out, and the results of the last dry run. Other
 * rows may depend on rows that such a name refuses, so several dry runs may be needed. A resumed run keeps to what it has sent.
 */
async function checkNames(
  { yardgraph, upsertKeys, createMissing, scanned }: Import,
  { index, storing }: Pass,
  items: readonly RowItem[],
  sent: readonly Item[],
  key: string | undefined,
): Promise<{ readonly names: readonly Item[]; readonly results: readonly ItemResult[] }> {
  const noted = key === undefined ? undefined : storing?.run.missing[key];
  if (noted) return { names: noted.map(([kind, name]) => nameItem(kindNamed(kind), name)), results: [] };
  if (storing && createMissing.size === 0) return { names: [], results: [] };
  const names = new Map<string, Item>();
  const compared = storing ? new Map() : comparedFields(scanned);
  for (;;) {
    const results = await importItems(yardgraph, [...sent, ...names.values()], { upsertKeys, compared });
    const { size } = names;
    for (const [at, { row }] of items.entries()) {
      const cells = (results[at]?.issues ?? []).map((issue) => missingName(issue, row));
      // Of rows that are refused for another reason, nothing is created.
      const creatable = cells.flatMap((cell) =>
        cell && createMissing.has(cell.target) && !index.isNameOfRow(cell.target, cell.value ?? '') ? [cell] : [],
      );
      if (creatable.length < cells.length) continue;
      for (const { target, value } of creatable) {
        names.set(`${target.name} ${value}`, nameItem(target, value));
      }
    }
    if (names.size > size) continue;
    if (storing && key !== undefined && size > 0) {
      storing.run.missing[key] = [...names.values()].map(({ kind, record }) => [kind.name, String(record.name)]);
      storing.save();
    }
    return { names: [...names.values()], results };
  }
}

const nameItem = (kind: RecordKind, name: string | null): Item => ({ kind, record: { name }, isCreated: true });

/** The cell with a name that no record has. */
function missingName({ code, path }: RowIssue, { links }: FileRow): LinkCell | undefined {
  if (code !== 'no-record' || path[1] !== 'name') return undefined;
  return links.find(({ name, by, value }) => name === path[0] && ['name', 'any'].includes(by) && value !== null);
}

/** By kind, the fields that columns have, and those by which links lead to its records. */
function comparedFields({ columns, linkKeys }: Scanned): Map<RecordKind, Set<string>> {
  const fields = new Map([...columns].map(([kind, ofKind]) => [kind, new Set([...ofKind.values()].flatMap(fieldOf))]));
  for (const [target, keys] of linkKeys) {
    for (const by of keys) fields.get(target)?.add(externalKey(by) === undefined ? by : 'externalIds');
  }
  return fields;
}

/** Names other rows by their lines, where the service names other items, and the options that help. */
function explain(
  issue: RowIssue,
  { row, record }: RowItem,
  items: readonly RowItem[],
  created: ReadonlySet<RecordKind>,
): RowIssue {
  const { code, path, message, other } = issue;
  const say = (text: string): RowIssue => ({ ...issue, message: text });
  const [list, place] = other ?? [];
  const { row: otherRow } = items.filter((item) => listField(item.row.kind) === list)[Number(place)] ?? {};
  const line = otherRow && lineOf(otherRow.source.line, otherRow.file, row.file);
  const link = row.links.find(({ name, value }) => name === path[0] && value !== null);
  if (code === 'taken' && line) {
    return say(`${line} also has the ${path[0]} ${quote(String(valueAt(record, String(path[0]))))}`);
  }
  if (code === 'rejected-target' && link && path[1] === 'ref') return refusedRow(link.field, link.value ?? '').issue;
  if (code === 'several' && link && line)
    return say(`several ${link.target.pluralLabel} have it, one of them in ${line}`);
  if (line) return say(`${message} (${line})`);
  if (code === 'no-match') return say(`${message}: ${sayAlike}`);
  const cell = missingName(issue, row);
  if (!cell) return issue;
  const help = [
    ...(created.has(cell.target) ? [] : [`create it with --create-missing ${listField(cell.target)}`]),
    ...(cell.by === 'any'
      ? [`--map ${quote(`${row.source.names[cell.cell]}=${cell.field}`)} for IDs of another system`]
      : []),
  ];
  return help.length > 0 ? say(`${message}: ${help.join(', or use ')}`) : issue;
}

/** Throws a StartError if the service returns records that it has stored before, and that are not there any more. */
async function requireStored(
  { yardgraph }: Import,
  sent: readonly Item[],
  results: readonly ItemResult[],
  restart: string,
): Promise<void> {
  for (const kind of new Set(sent.map((item) => item.kind))) {
    const created = sent.flatMap((item, at) => {
      const { outcome, record } = results[at] ?? {};
      return item.kind === kind && outcome === 'CREATED' ? [String(record?.id)] : [];
    });
    const stored = await storedTexts(yardgraph, kind, 'id', created);
    const gone = created.filter((id) => !stored.has(id));
    if (gone.length === 0) continue;
    throw new StartError(
      `the import cannot go on: records that it has stored are not there any more, as after an undo, and would not be stored again (${pluralize(gone.length, kind)}, such as ${gone[0]}). Undo the rest of its changes, and ${restart}`,
    );
  }
}

/** The stored records that have a key and are not in the files: by kind, those first that link to others. */
export async function missingRecords(work: Import, { kept }: Totals): Promise<Map<RecordKind, string[]>> {
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
export async function deleteRecords({ yardgraph, partSize, signal }: Import, kind: RecordKind, ids: readonly string[]) {
  const refused: Awaited<ReturnType<typeof deleteUnreferenced>> = [];
  for (let start = 0; start < ids.length; start += partSize) {
    signal.throwIfAborted();
    refused.push(...(await deleteUnreferenced(yardgraph, kind, ids.slice(start, start + partSize))));
  }
  return refused;
}
