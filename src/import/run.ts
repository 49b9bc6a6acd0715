/**
 * A part that may create records has an idempotency key of the run and the place of its rows: a resumed run sends all
 * parts again, and gets stored results. Parts whose rows are all found by a key need none.
 */
import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { linkField, listField, pluralize, withArticle, words } from '../model/labels.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { kindNamed, label, linkOrder } from '../records/index.ts';
import { describeDifference } from './alike.ts';
import { columnFields, reasonColumn } from './columns.ts';
import { applyEdits, type Edit, findEdits } from './edits.ts';
import type { ImportFile } from './file.ts';
import {
  alikeHelp,
  alikeKey,
  buildItems,
  describeLine,
  type ImportedFiles,
  type RowIndex,
  type RowItem,
  refusedTarget,
} from './items.ts';
import { LabelNames } from './label-names.ts';
import { findPaths } from './paths.ts';
import { type Reading, readParts, type Scanned, type WarnOf } from './reading.ts';
import { cellsOf } from './report.ts';
import {
  countStored,
  deleteUnreferenced,
  findStoredNames,
  type ImportItem,
  type ItemResult,
  importItems,
  isRejectedRequest,
  readNodes,
  sendInHalves,
  slices,
} from './requests.ts';
import {
  columnPath,
  externalSystem,
  type FileRow,
  keyValue,
  type LinkCell,
  type Outcome,
  type RowIssue,
  type RowOutcome,
  rowKeyText,
} from './row.ts';
import type { WarningCollector } from './warnings.ts';

export interface Import extends ImportedFiles, Reading {
  readonly yardgraph: Yardgraph;
  /** Kinds whose records are created for unknown names in links, and types whose labels are. */
  readonly createMissing: ReadonlySet<RecordKind>;
  readonly createdTypes: readonly string[];
  /** The most records to delete because the files lack them. */
  readonly deleteMissing: number | undefined;
  readonly warnings: ReadonlyMap<ImportFile, WarningCollector>;
  /** As in an `ImportRun`, found by a preview. */
  readonly labels: Record<string, string>;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** Saved before an import stores anything: a second start resumes it. */
export interface ImportRun {
  readonly id: string;
  readonly startedAt: number;
  readonly workspace: string;
  /** By idempotency key, the kinds and names of records that a part creates for links. */
  readonly missing: Record<string, readonly (readonly [kind: string, name: string])[]>;
  /** By type and name, the ID of the label with this name. */
  readonly labels: Record<string, string>;
  /** By the idempotency key of a part, the edits in its rows. */
  edits?: Record<string, readonly Edit[]>;
  /** As in the options of a reader. */
  readonly answers?: Readonly<Record<string, string>>;
}

export interface Storing {
  readonly run: ImportRun;
  readonly save: () => void;
  /** The place and a hash of each file. */
  readonly fileKeys: readonly string[];
  /** Set if the run is resumed: how to start over instead. */
  readonly restart: string | undefined;
}

/** One pass over all rows: a preview, unless `storing` is set. */
interface Pass {
  readonly index: RowIndex;
  readonly storing?: Storing;
  readonly warns: boolean;
  readonly onPart: (outcomes: readonly RowOutcome[]) => void;
}

export interface Totals {
  readonly rows: Record<Outcome, number>;
  readonly missing: ReadonlyMap<RecordKind, Set<string>>;
  /**
   * By kind, with `deleteMissing`: the records of all rows. A kind without rows has no entry: its export may have
   * failed.
   */
  readonly kept: Map<RecordKind, Set<string>>;
  readonly unchecked: { count: number; first: FileRow | undefined };
}

export async function sendRows(work: Import, pass: Pass): Promise<Totals> {
  const totals: Totals = {
    rows: { CREATED: 0, UPDATED: 0, UNCHANGED: 0, REJECTED: 0 },
    missing: new Map([...work.createMissing].map((kind) => [kind, new Set()])),
    kept: new Map(),
    unchecked: { count: 0, first: undefined },
  };
  const { run, save } = pass.storing ?? {};
  // Rows are stored as the preview has shown them, even if somebody renames a label meanwhile.
  if (run && save && Object.keys(work.labels).length > 0) {
    Object.assign(run.labels, work.labels);
    save();
  }
  // Labels of the same import are not stored yet.
  const keepsUnknown = bringsLabels(work);
  const labels = new LabelNames({ ...work, keepsUnknown, stored: run?.labels ?? work.labels, save });
  const warnOf = (file: ImportFile) => (pass.warns ? work.warnings.get(file)?.warn : undefined);
  for await (const part of readParts(work, warnOf)) {
    work.signal.throwIfAborted();
    const added = part.map((row) => pass.index.add(row));
    const rows = await labels.resolve(applyEdits(added, await editsOf(work, pass, added, warnOf)));
    pass.index.paths = await findPathTargets(work, pass, rows);
    const outcomes = await sendInHalves(
      rows,
      (some) => sendPart(work, pass, totals, some),
      (row, message) => rejectRow(pass.index, row, message),
    );
    for (const outcome of outcomes) {
      addToTotals(totals, outcome, work.deleteMissing !== undefined);
      warnOfForeignIds(outcome, warnOf(outcome.row.file));
    }
    if (!pass.storing) await warnOfAlikeKeys(work, outcomes);
    if (!pass.storing) warnOfReplaced(work, outcomes);
    pass.onPart(outcomes);
    work.onProgress(part.length);
  }
  return totals;
}

/** They are kept: a resumed import would compare its rows with records that it has stored itself. */
async function editsOf(work: Import, { index, storing }: Pass, rows: readonly FileRow[], warnOf: WarnOf) {
  const key = storing && partKey(work, storing, rows);
  const noted = key === undefined ? undefined : storing?.run.edits?.[key];
  if (noted) return noted;
  const edits = await findEdits(work, index, rows, bringsLabels(work), warnOf);
  if (storing && key !== undefined && edits.length > 0) {
    storing.run.edits = { ...storing.run.edits, [key]: edits };
    storing.save();
  }
  return edits;
}

/** A resumed import might find other targets, and the service would not know its rows again. */
async function findPathTargets(work: Import, { index, storing }: Pass, rows: readonly FileRow[]) {
  const targets = new Map<RecordKind, ReadonlyMap<string, readonly string[]>>();
  const restart = storing && partKey(work, storing, rows) === undefined ? undefined : storing?.restart;
  for (const [kind, texts] of index.pathsIn(rows)) {
    for (const name of await findStoredNames(work.yardgraph, kind, [...texts])) index.addStoredName(kind, name);
    const paths = [...texts].filter((text) => !index.isName(kind, text));
    if (restart !== undefined && paths.length > 0) {
      throw new StartError(
        `the import cannot continue, because rows are linked by paths such as ${quote(paths[0] ?? '')}, which may lead elsewhere now. Undo its changes, and ${restart}`,
      );
    }
    targets.set(kind, await findPaths(work.yardgraph, kind, paths));
  }
  return targets;
}

function addToTotals({ rows, kept, unchecked }: Totals, outcome: RowOutcome, keepsIds: boolean): void {
  const { row, id } = outcome;
  rows[outcome.outcome] += 1;
  if (keepsIds) {
    const ids = kept.get(row.kind) ?? new Set();
    kept.set(row.kind, ids);
    if (id !== undefined) ids.add(id);
  }
  if (outcome.outcome === 'REJECTED' || outcome.unchecked.size === 0) return;
  unchecked.count += 1;
  unchecked.first ??= row;
}

function warnOfForeignIds({ row: { source }, foreign }: RowOutcome, warn?: WarningCollector['warn']): void {
  for (const { field, target, cell } of foreign) {
    const message = `no ${target.label} here has this ID: it is stored as an ID of another system`;
    warn?.({ line: source.line, column: source.names[cell] ?? field, message });
  }
}

const bringsLabels = ({ scanned }: Import): boolean => scanned.sections.some(({ kind }) => kind === label);

/** New rows whose key is that of a stored record but for case, or white space around it. */
async function warnOfAlikeKeys({ yardgraph, upsertKeys, warnings }: Import, outcomes: readonly RowOutcome[]) {
  for (const [kind, by] of upsertKeys) {
    if (!matchableFields(kind).includes(by)) continue;
    const created = outcomes.flatMap(({ row, outcome }) => {
      const text = row.kind === kind && outcome === 'CREATED' ? rowKeyText(row, by) : undefined;
      return text !== undefined && isShortLatin.test(text) ? [{ row, text, key: text.trim() }] : [];
    });
    const stored = new Map<string, string>();
    for (const keys of slices(created.map(({ key }) => key)))
      for await (const node of readNodes(yardgraph, kind, by, { [by]: { in: keys, ignoreCase: true } }))
        stored.set(String(node[by]).toLowerCase(), String(node[by]));
    for (const { row, text, key } of created) {
      const other = stored.get(key.toLowerCase());
      const message = `a stored ${kind.label} has nearly the same ${by}`;
      const detail = `${quote(text)} and ${quote(other ?? '')}`;
      if (other !== undefined) warnings.get(row.file)?.warn({ line: row.source.line, column: '', message, detail });
    }
  }
}

/**
 * Keys that a spreadsheet has taken for numbers, but for their last digits, and letters that it has lost. Values newer
 * than an export, and those of an earlier row, after which this one was refused.
 */
function warnOfReplaced({ warnings }: Import, outcomes: readonly RowOutcome[]): void {
  for (const settled of outcomes.filter(({ outcome }) => outcome === 'UPDATED')) {
    const { row, isOlder } = settled;
    const warn = (message: string, detail = '', isAsked = false) =>
      warnings.get(row.file)?.warn({ isAsked, line: row.source.line, column: '', message, detail });
    for (const { column, old, now } of cellsOf(settled)) {
      if (typeof old !== 'string' || typeof now !== 'string' || old === now) continue;
      const isNumber = old.trim() && now.trim() && Math.abs(Number(old) - Number(now)) <= Math.abs(Number(old)) * 1e-14;
      // Windows-1252 lacks the minus sign, for example.
      const isLost =
        old.length === now.length && old.split('').every((unit, at) => [unit, '?'].includes(now[at] ?? ''));
      if (isNumber || isLost)
        warn(`a spreadsheet has probably changed the ${column}`, `from ${quote(old)} to ${quote(now)}`);
    }
    const { names, cells } = row.source;
    if (cells[names.indexOf(reasonColumn)])
      warn('the row was refused before, and would replace values of a stored record');
    if (isOlder)
      warn('the stored record was changed after the file was written: the file replaces its values', '', true);
  }
}

/** The service ignores the case of other texts in parts only. */
const isShortLatin = /^[ -~\u00a0-\u017f]{1,100}$/;

function rejectRow(index: RowIndex, row: FileRow, message: string): RowOutcome {
  const issues = [{ path: [], message }];
  const outcome = { row, outcome: 'REJECTED', issues, unchecked: new Set<string>(), foreign: [] } as const;
  index.addOutcome(outcome);
  return outcome;
}

/** Later refused rows get the issues of their cells alone, and no request. */
const maxExplained = 1_000;

async function sendPart(work: Import, pass: Pass, { missing, rows: counts }: Totals, rows: readonly FileRow[]) {
  const { index, storing } = pass;
  index.startPart(rows);
  for (const [kind, ids] of index.idsInDoubt(rows)) {
    for (const name of await findStoredNames(work.yardgraph, kind, [...ids])) index.addStoredName(kind, name);
  }
  const items = buildItems(index, rows);
  const valid = items.filter(({ issues }) => issues.length === 0);
  const sent = valid.map(({ row, record }): ImportItem => ({ kind: row.kind, record }));
  const idempotencyKey = storing && partKey(work, storing, rows);
  const invalid = items.filter(({ row, issues }) => issues.length > 0 && row.source.problem === undefined);
  const others = counts.REJECTED < maxExplained ? await findOtherIssues(work, sent, invalid) : [];
  const checked = await findNamesToCreate(work, pass, valid, sent, idempotencyKey);
  for (const { kind, record } of checked.names) missing.get(kind)?.add(String(record.key ?? record.name));
  const compared = linkTexts(work.scanned);
  const results = storing
    ? await importItems(work.yardgraph, [...sent, ...checked.names], { ...work, compared, idempotencyKey })
    : checked.results;
  if (storing?.restart !== undefined && idempotencyKey) await requireStored(work, sent, results, storing.restart);
  const resultOf = new Map<RowItem, Partial<ItemResult> | undefined>([
    ...valid.map((item, at) => [item, results[at]] as const),
    ...invalid.map((item, at) => [item, { issues: [...item.issues, ...(others[at] ?? [])] }] as const),
  ]);
  const unknown = [...resultOf].flatMap(([{ row }, result]) => unknownNameCells(row, result));
  const alike = await findAlikeNames(work.yardgraph, index, unknown);
  const sentItems = [...resultOf.keys()];
  const outcomes = items.map((item): RowOutcome => {
    const { outcome = 'REJECTED', record, before, issues = item.issues } = resultOf.get(item) ?? {};
    // They are no reason: without the other issues, the name would be created.
    const creatable = (issue: RowIssue) => {
      const cell = unknownNameCell(issue, item.row);
      return cell !== undefined && isCreatable(work, index, cell) && !alike.has(cell);
    };
    const reasons = issues.every(creatable) ? issues : issues.filter((issue) => !creatable(issue));
    const explained = reasons.map((issue) => explainIssue(issue, item, sentItems, { ...work, alike }));
    const id = record?.id as string | undefined;
    const isOlder = !storing && outcome === 'UPDATED' && work.reader.isOlder(item.row, before);
    const compared = { before: before ?? undefined, after: record ?? undefined, isOlder };
    return { ...item, outcome, id, issues: explained, ...compared };
  });
  for (const outcome of outcomes) index.addOutcome(outcome);
  return outcomes;
}

/** Finds issues of the other fields of refused rows: people correct all at once. The valid rows are targets. */
async function findOtherIssues(
  { yardgraph, upsertKeys }: Import,
  sent: readonly ImportItem[],
  items: readonly RowItem[],
): Promise<readonly (readonly RowIssue[])[]> {
  if (items.length === 0) return [];
  const all = [...sent, ...items.map(({ row: { kind }, record }) => ({ kind, record }))];
  const options = { upsertKeys, compared: new Map(), dryRun: true };
  const results = await importItems(yardgraph, all, options).catch((error) => {
    if (isRejectedRequest(error)) return [];
    throw error;
  });
  return items.map(({ row, issues, unchecked }, at) => {
    // The key of a label is made of other cells.
    const made = row.kind === label ? ['key'] : [];
    const known = new Set([...issues.map(({ path }) => String(path[0])), ...unchecked, ...made].map(linkField));
    return (results[sent.length + at]?.issues ?? []).filter(({ path }) => !known.has(linkField(String(path[0]))));
  });
}

/** Undefined if every row is found by a key. The length tells a part from its first half. */
function partKey({ files, upsertKeys }: Import, { run, fileKeys }: Storing, rows: readonly FileRow[]) {
  const [first] = rows;
  if (!first || rows.every(({ kind }) => (upsertKeys.get(kind) ?? 'id') !== 'id')) return undefined;
  return `import-${run.id}-${fileKeys[files.indexOf(first.file)]}-${first.kind.name}-${first.place}-${rows.length}`;
}

/**
 * The records that a part creates for names in links, found by dry runs, and the results of the last one. Several are
 * needed if rows depend on rows that an unknown name refuses. A resumed run reuses the names saved by its first start.
 */
async function findNamesToCreate(
  work: Import,
  { index, storing }: Pass,
  items: readonly RowItem[],
  sent: readonly ImportItem[],
  key: string | undefined,
): Promise<{ readonly names: readonly ImportItem[]; readonly results: readonly ItemResult[] }> {
  const { yardgraph, upsertKeys, createMissing } = work;
  const noted = key === undefined ? undefined : storing?.run.missing[key];
  if (noted) return { names: noted.map(([kind, name]) => namedItem(kindNamed(kind), name)), results: [] };
  if (storing && createMissing.size === 0) return { names: [], results: [] };
  const names = new Map<string, ImportItem>();
  const compared = storing ? new Map() : fieldsToCompare(work);
  for (;;) {
    const results = await importItems(yardgraph, [...sent, ...names.values()], { upsertKeys, compared, dryRun: true });
    const { size } = names;
    const wanted = items.map(({ row }, at) =>
      unknownNameCells(row, results[at]).filter((cell) => isCreatable(work, index, cell)),
    );
    const alike = await findAlikeNames(yardgraph, index, wanted.flat());
    for (const [at, cells] of wanted.entries()) {
      const creatable = cells.filter((cell) => !alike.has(cell));
      // Nothing is created for a row with other issues.
      if (creatable.length < (results[at]?.issues.length ?? 0)) continue;
      for (const key of items[at]?.row.newLabels ?? []) names.set(key, namedItem(label, key));
      for (const cell of creatable) {
        const name = cell.value ?? '';
        const key = alikeKey(cell.target, name);
        if (names.has(key)) continue;
        names.set(key, namedItem(cell.target, name));
        index.addAlikeName(cell.target, name);
      }
    }
    if (names.size > size) continue;
    if (storing && key !== undefined && size > 0) {
      const note = ({ kind, record }: ImportItem) => [kind.name, String(record.key ?? record.name)] as const;
      storing.run.missing[key] = [...names.values()].map(note);
      storing.save();
    }
    return { names: [...names.values()], results };
  }
}

const isCreatable = ({ createMissing }: Import, index: RowIndex, { target, value }: LinkCell): boolean =>
  createMissing.has(target) && !index.isRowName(target, value ?? '');

/** The name of a label is its key here. */
const namedItem = (kind: RecordKind, name: string): ImportItem =>
  kind === label
    ? { kind, record: { key: name, name: name.slice(name.indexOf(':') + 1) } }
    : { kind, record: { name }, isCreated: true };

const unknownNameCells = (row: FileRow, result: Partial<ItemResult> | undefined): LinkCell[] =>
  (result?.issues ?? []).flatMap((issue) => unknownNameCell(issue, row) ?? []);

/** Names alike to unknown ones: of stored records, of rows, and of records to create. */
async function findAlikeNames(
  yardgraph: Yardgraph,
  index: RowIndex,
  cells: readonly LinkCell[],
): Promise<ReadonlyMap<LinkCell, string>> {
  const stored = new Map<string, string>();
  for (const kind of new Set(cells.map(({ target }) => target))) {
    const unknown = new Set(cells.flatMap(({ target, value }) => (target === kind && value !== null ? [value] : [])));
    for (const name of await findStoredNames(yardgraph, kind, [...unknown], 'alike'))
      stored.set(alikeKey(kind, name), name);
  }
  return new Map(
    cells.flatMap((cell) => {
      const key = alikeKey(cell.target, cell.value ?? '');
      const alike = stored.get(key) ?? index.alikeName(key);
      return alike === undefined || alike === cell.value ? [] : [[cell, alike] as const];
    }),
  );
}

function unknownNameCell({ code, path }: RowIssue, { links }: FileRow): LinkCell | undefined {
  if (code !== 'no-record' || path[1] !== 'name') return undefined;
  return links.find(({ name, by, value }) => name === path[0] && ['name', 'any'].includes(by) && value !== null);
}

/** The texts by which links find records. */
const linkTexts = ({ linkKeys }: Scanned) =>
  new Map([...linkKeys].map(([target, keys]) => [target, new Set([...keys].flatMap((by) => columnPath(by)[0] ?? []))]));

function fieldsToCompare({ scanned, upsertKeys }: Import): Map<RecordKind, Set<string>> {
  const fields = new Map(
    [...scanned.columns].map(([kind, ofKind]) => [kind, new Set([...ofKind.values()].flatMap(columnFields))]),
  );
  for (const [target, texts] of linkTexts(scanned)) for (const text of texts) fields.get(target)?.add(text);
  for (const [kind, by] of upsertKeys) if (by === 'id') fields.get(kind)?.add('updatedAt');
  return fields;
}

/** Replaces paths of items by lines of files, and adds the options that help. */
function explainIssue(
  issue: RowIssue,
  { row, record }: RowItem,
  items: readonly RowItem[],
  { createMissing, upsertKeys, alike }: Import & { readonly alike: ReadonlyMap<LinkCell, string> },
): RowIssue {
  const { code, path, message, other } = issue;
  const explained = (text: string): RowIssue => ({ ...issue, message: text });
  const ofKind = other ? items.filter((item) => listField(item.row.kind) === other[0]) : [];
  const { row: otherRow } = ofKind[Number(other?.[1])] ?? {};
  const line = otherRow && describeLine(otherRow.source.line, otherRow.file);
  const link = row.links.find(({ name, value }) => name === path[0] && value !== null);
  if (code === 'taken' && line) {
    return explained(`${line} also has the ${path[0]} ${quote(String(keyValue(record, String(path[0]))))}`);
  }
  if (code === 'rejected-target' && link && path[1] === 'ref') return refusedTarget(link.field, link.value ?? '').issue;
  if (code === 'several' && link && line)
    return explained(`several ${link.target.pluralLabel} have it, one of them in ${line}`);
  if (line) return explained(`${message} (${line})`);
  if (code === 'no-match') return { ...issue, help: alikeHelp };
  const by = upsertKeys.get(row.kind) ?? '';
  const key = rowKeyText(row, by);
  if (code === 'required' && key !== undefined)
    return explained(
      `no ${row.kind.label} has the ${by} ${quote(key)}, and a new one needs ${withArticle(words(linkField(String(path[0]))))}`,
    );
  const cell = unknownNameCell(issue, row);
  if (!cell) return issue;
  const name = alike.get(cell);
  if (name !== undefined) {
    const difference = describeDifference(name, cell.value ?? '');
    const question = `there is ${quote(name)}, did you mean it? It differs in ${difference}`;
    return { ...issue, message: `${message}: ${question}`, alike: name };
  }
  const column = quote(`${row.source.names[cell.cell]}=${cell.field}`);
  const help = [
    ...(createMissing.has(cell.target) ? [] : [`create it with --create-missing ${listField(cell.target)}`]),
    ...(cell.by === 'any' ? [`--map ${column} for IDs of another system`] : []),
  ];
  return help.length > 0 ? { ...issue, help: help.join(', or use ') } : issue;
}

/** Throws a StartError if records of a stored result are gone, as after an undo: they would not be stored again. */
async function requireStored(
  { yardgraph }: Import,
  sent: readonly ImportItem[],
  results: readonly ItemResult[],
  restart: string,
): Promise<void> {
  for (const kind of new Set(sent.map((item) => item.kind))) {
    const created = sent.flatMap((item, at) => {
      const { outcome, record } = results[at] ?? {};
      return item.kind === kind && outcome === 'CREATED' ? [String(record?.id)] : [];
    });
    const gone = created.length - (await countStored(yardgraph, kind, created));
    if (gone === 0) continue;
    throw new StartError(
      `the import cannot continue: records that it has stored are gone, as after an undo, and would not be stored again (${pluralize(gone, kind)}). Undo the rest of its changes, and ${restart}`,
    );
  }
}

/** By kind, the stored records with the upsert key and without a row, in an order for deletion. */
export async function findMissingRecords(work: Import, { kept }: Totals): Promise<Map<RecordKind, string[]>> {
  const missing = new Map<RecordKind, string[]>();
  for (const kind of linkOrder.toReversed()) {
    const ids = kept.get(kind);
    if (!ids) continue;
    const options = { where: keyFilter(work.upsertKeys.get(kind)), signal: work.signal };
    const withoutRow: string[] = [];
    for await (const { id } of work.yardgraph.export(listField(kind) as 'assets', options)) {
      if (!ids.has(id)) withoutRow.push(id);
    }
    if (withoutRow.length > 0) missing.set(kind, withoutRow);
  }
  return missing;
}

function keyFilter(by: string | undefined) {
  if (by === undefined || by === 'id') return undefined;
  const system = externalSystem(by);
  return system === undefined ? { [by]: { isNull: false } } : { externalIds: { key: system } };
}

/** Returns the records that others refer to, which stay. */
export async function deleteInParts({ yardgraph, partSize, signal }: Import, kind: RecordKind, ids: readonly string[]) {
  const referenced: Awaited<ReturnType<typeof deleteUnreferenced>> = [];
  for (let start = 0; start < ids.length; start += partSize) {
    signal.throwIfAborted();
    referenced.push(...(await deleteUnreferenced(yardgraph, kind, ids.slice(start, start + partSize))));
  }
  return referenced;
}
