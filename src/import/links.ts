/**
 * Links of rows: to records that are stored, and to rows of the same import, which have no IDs of the service before they are stored. Each
 * cell that says a link leads to targets: `findTargets` finds those of all rows of a part at once. From the targets of its cells and the link
 * that is stored, `decide` says where a link leads; `setLinks` puts that into the records that are sent, and refuses rows whose links lead
 * nowhere. A link to a row that is not stored yet is left out: `findLate` decides it again, in the same way, when all rows are stored.
 */
import type { Yardgraph } from '../../client/index.ts';
import { type Issue, quote } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindOfId } from '../records/index.ts';
import {
  externalKey,
  type RecordRow,
  type Reference,
  type RowLink,
  type RowState,
  type SentRow,
  type Warning,
} from './row.ts';

/** The rows to which links of the same import lead: by kind, by what links say of them (`id`, `name`, `externalIds.erp`), and by its text. */
export type Linked = ReadonlyMap<RecordKind, ReadonlyMap<string, ReadonlyMap<string, RowState[]>>>;

/** A record by its ID, or by an external ID that the service looks up; or a row that has no record yet, or none at all. */
type Target = string | { readonly externalId: object } | RowState;

const isRow = (target: Target): target is RowState => typeof target === 'object' && 'is' in target;

/** What a cell says of a link, and where that leads. */
export interface LinkCell {
  readonly link: RowLink;
  readonly targets: ReadonlySet<Target>;
}

type LinkValue = Exclude<Target, RowState> | { readonly ref: string } | null;

/** Where a link of a row leads. */
export type Decision =
  | { readonly is: 'set'; readonly to: LinkValue }
  /** To a row that is stored later, or that a preview does not store; perhaps it changes this record. */
  | { readonly is: 'late'; readonly perhaps?: string | undefined }
  | Refusal;

interface Refusal {
  readonly is: 'none' | 'several' | 'contradiction';
  readonly link: RowLink;
}

interface Known {
  /** The link that is stored, if several cells say it. */
  readonly stored?: string | undefined;
  /** The rows that are created in the same request, by which others can refer to them. */
  readonly refs: ReadonlyMap<RowState, string>;
  /** Rows that are still coming may change records that are stored, instead of creating others. */
  readonly areUpserted: boolean;
}

/**
 * If several cells say a link, such as by an ID and by an external ID, those count that lead elsewhere than the link that is stored, and all
 * of them must lead to the same record. Of a row that is new, those count that lead anywhere. An empty cell is given only if it is an edit.
 */
export function decide(cells: readonly LinkCell[], { stored, refs, areUpserted }: Known): Decision {
  if (cells.every(isEmpty)) return { is: 'set', to: null };
  const counting = cells.filter((cell) => {
    if (stored !== undefined) return !cell.targets.has(stored);
    return !isEmpty(cell) && (cell.link.by !== 'id' || cell.targets.size > 0);
  });
  if (stored !== undefined && counting.length === 0) return { is: 'set', to: stored };
  // If none counts, all with a value do, so that the row is refused: a link is cleared only by empty cells.
  const deciding = counting.length > 0 ? counting : cells.filter((cell) => !isEmpty(cell));
  const [first, ...others] = deciding;
  if (!first || deciding.every(isEmpty)) return { is: 'set', to: null };
  const { link } = first;
  const common = [...first.targets].filter((target) => others.every(({ targets }) => targets.has(target)));
  const [target, another] = common;
  if (target === undefined) return { is: others.length > 0 ? 'contradiction' : 'none', link };
  if (another !== undefined) {
    const [id, second] = common.filter((one) => typeof one === 'string');
    const isOne = areUpserted && second === undefined && common.some((one) => isRow(one) && one.is === 'coming');
    return isOne ? { is: 'late', perhaps: id } : { is: 'several', link };
  }
  if (!isRow(target)) return { is: 'set', to: target };
  if (target.is === 'refused') return { is: 'none', link };
  const ref = refs.get(target);
  return ref === undefined ? { is: 'late' } : { is: 'set', to: { ref } };
}

const isEmpty = ({ link }: LinkCell): boolean => link.value === null;

/** A link that the stored record does not have yet. */
export interface LateLink extends Reference {
  readonly record: string;
}

interface Finding {
  readonly yardgraph: Yardgraph;
  readonly scanned: { readonly linked: Linked };
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
}

interface Linking extends Finding {
  /** Kinds of which records are created for names that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** Those names: with a preview, they are only counted. */
  readonly missing: Map<RecordKind, Set<string>>;
  /** Records that an earlier start of the import has created, for names that none had. */
  readonly created: ReadonlySet<string>;
  readonly isPreview: boolean;
  readonly warn: ((warning: Warning) => void) | undefined;
  /** The stored records of these rows, before the import has changed any: an upsert finds them, or an update. */
  readonly storedRecords: (rows: readonly RecordRow[]) => Promise<readonly (Values | undefined)[]>;
}

/** Sets the links of `rows`, which are sent together. */
export async function setLinks(linking: Linking, kind: RecordKind, rows: readonly SentRow[]): Promise<void> {
  const { createMissing, isPreview, scanned } = linking;
  const refs = nameRows(linking, kind, rows);
  const references = await referencesOf(linking, kind, rows);
  const unnamed: Unnamed[] = [];
  // Not for a row that was refused: once that is fixed and imported, there would be two of its name.
  const mayCreate = (link: RowLink) =>
    link.by === 'name' && createMissing.has(link.target) && rowsAt(scanned.linked, link).length === 0;
  for (const [reference, decision] of await decideAll(linking, [...references.keys()], refs)) {
    const sent = references.get(reference);
    if (!sent) continue;
    if (decision.is === 'set') {
      setLink(linking, sent, reference, decision.to);
      const by = typeof decision.to === 'string' && linking.created.has(decision.to) ? reference.links : [];
      for (const link of by) if (mayCreate(link)) namesOf(linking, link.target).add(link.value ?? '');
    } else if (decision.is === 'late') {
      if (!isPreview) sent.late.push(reference);
      else if (decision.perhaps === undefined) sent.unsent.add(reference.field);
      else setLink(linking, sent, reference, decision.perhaps);
    } else if (decision.is === 'none' && mayCreate(decision.link)) {
      unnamed.push({ sent, reference, link: decision.link });
    } else sent.issues.push(issueOf(linking, reference, decision));
  }
  // Nothing is created for a row that is refused.
  const needed = unnamed.filter(({ sent }) => sent.issues.length === 0);
  for (const [target, ofTarget] of grouped(needed, ({ link }) => link.target)) {
    const ids = await createNamed(linking, target, ofTarget);
    for (const { sent, reference, link } of ofTarget) {
      const id = ids.get(link.value ?? '');
      if (id !== undefined) setLink(linking, sent, reference, id);
      else if (isPreview) sent.unsent.add(reference.field);
      else sent.issues.push(issueOf(linking, reference, { is: 'none', link }));
    }
  }
}

/** Gives rows that are created the names by which others of the same request refer to them: their IDs in the file, of which the first counts. */
function nameRows({ scanned, upsertKeys, isPreview }: Linking, kind: RecordKind, rows: readonly SentRow[]) {
  const refs = new Map<RowState, string>();
  const ofKind = scanned.linked.get(kind)?.get('id');
  for (const { row, record, issues } of rows) {
    const { state } = row;
    if (!ofKind || !state || row.id === undefined) continue;
    const first = ofKind.get(row.id)?.find(({ is }) => is !== 'refused');
    if (first && first !== state) {
      issues.push({ path: ['id'], message: `an earlier row has the ID ${quote(row.id)}` });
    } else if (!upsertKeys.has(kind) && !isPreview) {
      record.ref = row.id;
      refs.set(state, row.id);
    }
  }
  return refs;
}

/**
 * The links of rows. Rows with the IDs of stored records come from an export, which says a link in all ways, so an empty cell is an edit. In
 * other rows, it says nothing beside one with a value.
 */
async function referencesOf(linking: Linking, kind: RecordKind, rows: readonly SentRow[]) {
  const areExported = linking.upsertKeys.get(kind) === 'id';
  const found = rows.flatMap((sent) =>
    [...grouped(sent.row.links, ({ field }) => field).values()].flatMap((all) => {
      const leading = all.filter(({ value }) => value !== null);
      const links = areExported || leading.length === 0 ? all : leading;
      const [first] = links;
      return first ? { sent, field: first.field, target: first.target, links } : [];
    }),
  );
  const twofold = [...new Set(found.flatMap(({ sent, links }) => (links.length > 1 ? sent.row : [])))];
  const stored = twofold.length > 0 ? await linking.storedRecords(twofold) : [];
  const storedOf = new Map(twofold.map((row, index) => [row, stored[index]]));
  return new Map<Reference, SentRow>(
    found.map(({ sent, field, target, links }) => {
      const id = links.length > 1 ? storedOf.get(sent.row)?.[field] : undefined;
      return [{ kind, field, target, links, stored: typeof id === 'string' ? id : undefined }, sent];
    }),
  );
}

/** Decides links of rows of one kind. */
async function decideAll(finding: Finding, references: readonly Reference[], refs: Known['refs']) {
  const decisions = new Map<Reference, Decision>();
  for (const [target, ofTarget] of grouped(references, ({ target: one }) => one)) {
    const areUpserted = finding.upsertKeys.has(target);
    const cellsOf = await findTargets(finding, target, ofTarget);
    for (const reference of ofTarget) {
      decisions.set(reference, decide(cellsOf(reference), { stored: reference.stored, refs, areUpserted }));
    }
  }
  return decisions;
}

/** Reads the records to which links may lead. Returns a function that returns the cells of a link with their targets. */
async function findTargets({ yardgraph, scanned, upsertKeys }: Finding, target: RecordKind, all: readonly Reference[]) {
  const links = all.flatMap((reference) => reference.links);
  const fields = links.map(({ by }) => by);
  const records = new Map<unknown, Values>();
  const read = async (by: string, values: readonly unknown[]): Promise<void> => {
    const texts = values.filter((value) => typeof value === 'string');
    for (const record of await readRecords(yardgraph, target, by, texts, fields)) records.set(record.id, record);
  };
  // Of cells that are compared with others, the records are needed, too.
  const twofold = all.filter((reference) => reference.links.length > 1);
  const ids = twofold.flatMap((reference) => [
    reference.stored,
    ...reference.links.flatMap((link) => byId(link, reference)),
  ]);
  await read('id', ids);
  const byField = grouped(
    links.filter((link) => link.by !== 'id' && !isCompared(link)),
    ({ by }) => by,
  );
  for (const [by, ofBy] of byField) {
    const values = ofBy.map(({ value }) => value);
    await read(by, values);
  }
  const byText = new Map(
    [...byField.keys()].map((by) => [by, grouped([...records.values()], (one) => textIn(one, by))]),
  );

  /** A row of the import, or the ID itself: that of another system is kept. */
  function byId(link: RowLink, { stored }: Reference): Target[] {
    const { by, value } = link;
    if (by !== 'id' || value === null) return [];
    const isOwn = kindOfId(value) === target;
    const rows = isOwn && upsertKeys.get(target) === 'id' ? [] : rowsAt(scanned.linked, link);
    const row = rows.find(({ is }) => is !== 'refused') ?? (isOwn ? undefined : rows[0]);
    return [row ? (row.record ?? (value === stored ? value : row)) : value];
  }

  const rowsOf = (link: RowLink) =>
    rowsAt(scanned.linked, link).flatMap((row) => (row.is === 'refused' ? [] : (row.record ?? row)));

  /** Those of the other cells' targets that are as this cell says, and rows; or an external ID, for the service to look up. */
  function compared(link: RowLink, others: readonly Target[]): Target[] {
    const { by, value } = link;
    const same = others.filter((one) => {
      if (typeof one !== 'string') return value === null && by !== 'id';
      const text = by === 'id' ? one : textIn(records.get(one), by);
      return value === null ? isBlank(String(text ?? '')) : value === text;
    });
    const found = [...same, ...rowsOf(link).filter(isRow)];
    return found.length > 0 || value === null ? found : [{ externalId: { key: externalKey(by), value } }];
  }

  return (reference: Reference): LinkCell[] => {
    const { stored } = reference;
    const leading = reference.links.filter(({ value }) => value !== null);
    /** An ID of another workspace says nothing of a new record beside other cells. */
    const isForeign = (id: Target) =>
      stored === undefined &&
      leading.length > 1 &&
      typeof id === 'string' &&
      kindOfId(id) !== undefined &&
      !records.has(id);
    const targets = new Map<RowLink, Target[]>();
    for (const link of leading.filter((one) => !isCompared(one))) {
      const found = link.by === 'id' ? byId(link, reference).filter((id) => !isForeign(id)) : rowsOf(link);
      const named = byText.get(link.by)?.get(link.value) ?? [];
      targets.set(link, [...named.map(({ id }) => String(id)), ...found]);
    }
    const others = [stored ?? [], ...targets.values()].flat();
    return reference.links.map((link) => ({ link, targets: new Set(targets.get(link) ?? compared(link, others)) }));
  };
}

/** Records are not looked up by empty texts, and by external IDs only in the service. */
const isCompared = ({ by, value }: RowLink): boolean => value === null || externalKey(by) !== undefined;

/** The rows of the import that have this text where a link says `by`. */
const rowsAt = (linked: Linked, { target, by, value }: RowLink): readonly RowState[] =>
  linked
    .get(target)
    ?.get(by)
    ?.get(value ?? '') ?? [];

function textIn(record: Values | undefined, by: string): unknown {
  const key = externalKey(by);
  return key === undefined ? record?.[by] : (record?.externalIds as Values | undefined)?.[key];
}

/** Puts a link into the record that is sent. */
function setLink({ warn }: Linking, { row, record }: SentRow, reference: Reference, to: LinkValue): void {
  Object.assign(record, valuesOf(reference, to));
  const { target } = reference;
  const said = reference.links.find(({ by, value }) => by === 'id' && value === to);
  if (!said || typeof to !== 'string' || kindOfId(to) === target) return;
  const message = `no ${target.label} here has such an ID: it is kept as one of another system`;
  warn?.({ ...placeOf(row, said), message });
}

const valuesOf = ({ field, links: [link] }: Reference, to: LinkValue): object => ({
  [typeof to === 'string' || to === null ? field : (link?.name ?? field)]: to,
});

const placeOf = ({ source }: RecordRow, { cell, field }: RowLink) => ({
  line: source.line,
  column: source.names[cell] ?? field,
});

interface Unnamed {
  readonly sent: SentRow;
  readonly reference: Reference;
  readonly link: RowLink;
}

/** Creates the records to which rows link by their names. Returns the IDs by the names; none with a preview, which counts them only. */
async function createNamed(
  linking: Linking,
  target: RecordKind,
  rows: readonly Unnamed[],
): Promise<Map<string, string>> {
  const { yardgraph, isPreview } = linking;
  const counted = namesOf(linking, target);
  const byName = grouped(rows, ({ link }) => link.value ?? '');
  await warnOfAlike(
    linking,
    target,
    [...byName].filter(([name]) => !counted.has(name)),
  );
  for (const name of byName.keys()) counted.add(name);
  const ids = new Map<string, string>();
  if (isPreview) return ids;
  const created = [...byName.keys()].map((name) => ({ kind: target.name, record: { name } })) as never[];
  for await (const result of yardgraph.import(created)) {
    const { name = '' } = (result.row as { readonly record: { readonly name?: string } }).record;
    if (result.outcome !== 'REJECTED') ids.set(name, result.id);
  }
  return ids;
}

function namesOf({ missing }: Linking, target: RecordKind): Set<string> {
  const names = missing.get(target) ?? new Set();
  missing.set(target, names);
  return names;
}

/** A filter that ignores case may have 20 texts with letters beyond A to Z. */
const maxAccented = 20;

/** Warns of names that stored records have in another form. It takes one query, which reads all records of the kind. */
async function warnOfAlike({ yardgraph, warn }: Linking, target: RecordKind, added: [string, Unnamed[]][]) {
  if (!warn) return;
  const formOf = (name: unknown) => String(name).split(/\s/).filter(Boolean).join(' ').toLowerCase();
  const forms = added.map(([name]) => formOf(name)).filter((form) => form.length <= 500);
  const isAccented = (form: string) => /[^ -~]/.test(form);
  const texts = [...forms.filter((form) => !isAccented(form)), ...forms.filter(isAccented).slice(0, maxAccented)];
  const records = await readRecords(yardgraph, target, 'name', texts, ['name'], { ignoreCase: true });
  const stored = new Map(records.map(({ name }) => [formOf(name), String(name)]));
  for (const [name, [first]] of added) {
    const other = stored.get(formOf(name));
    if (other === undefined || !first) continue;
    const message = `a ${target.label} is created whose name differs from a stored one only in case or white space`;
    warn({ ...placeOf(first.sent.row, first.link), message, detail: `${quote(name)} and ${quote(other)}` });
  }
}

function issueOf({ scanned }: Finding, { field, target, links }: Reference, { is, link }: Refusal): Issue {
  const { by, name } = link;
  const path = [by === 'id' ? field : name];
  const text = `the ${by === 'id' ? 'ID' : by} ${quote(link.value ?? '')}`;
  if (is === 'several') return { path, message: `several ${target.pluralLabel} have ${text}: say which by an ID` };
  if (is === 'contradiction') {
    const texts = links.map((one) => `${one.by === 'id' ? field : `${name}.${one.by}`} ${quote(one.value ?? '')}`);
    return { path: [field], message: `expected one ${target.label}, received ${texts.join(' and ')}` };
  }
  if (rowsAt(scanned.linked, link).length > 0) return { path, message: `the row with ${text} was refused` };
  const option = by === 'name' ? `: create it with --create-missing ${listField(target)}` : '';
  return { path, message: `no ${target.label} has ${text}${option}` };
}

/** What a late link sets in its record, now that all rows are stored, or why it cannot be set. */
export interface LateResult {
  readonly kind: RecordKind;
  readonly record: string;
  /** A cell that says it. */
  readonly way: RowLink;
  readonly values?: object;
  readonly message?: string;
}

export async function findLate(finding: Finding, late: readonly LateLink[]): Promise<LateResult[]> {
  const decisions = await decideAll(finding, late, new Map());
  return late.flatMap((reference): LateResult[] => {
    const { kind, record, links } = reference;
    const way = links.find(({ value }) => value !== null);
    const decision = decisions.get(reference);
    // No row is still to come.
    if (!way || !decision || decision.is === 'late') return [];
    if (decision.is === 'set') return [{ kind, record, way, values: valuesOf(reference, decision.to) }];
    return [{ kind, record, way, message: issueOf(finding, reference, decision).message }];
  });
}

/** The IDs of the records that rows of this import have become, by the cells of `row` that have the IDs of these rows. */
export function recordIdsIn(linked: Linked, { links }: RecordRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const link of links) {
    const [row] = link.by === 'id' ? rowsAt(linked, link) : [];
    if (row?.record !== undefined) ids.set(link.cell, row.record);
  }
  return ids;
}

/** What a condition of a filter may have, and a page. */
const maxListed = 1_000;

/** Reads the records that have one of these texts in a field, with what links may say of them. */
export async function readRecords(
  yardgraph: Yardgraph,
  kind: RecordKind,
  by: string,
  texts: readonly string[],
  fields: readonly string[],
  options: { readonly ignoreCase?: boolean } = {},
): Promise<Values[]> {
  const list = listField(kind);
  const selected = ['id', ...fields].map((field) => (externalKey(field) === undefined ? field : 'externalIds'));
  const query = `query ($where: ${kind.name}Filter, $after: String) {
    ${list}(first: ${maxListed}, after: $after, where: $where) {
      nodes { ${[...new Set(selected)].join(' ')} } pageInfo { hasNextPage endCursor }
    }
  }`;
  // Other IDs are of other systems, and of no record.
  const known = [...new Set(texts)].filter((text) => by !== 'id' || kindOfId(text) === kind);
  const records: Values[] = [];
  for (let start = 0; start < known.length; start += maxListed) {
    const where = { [by]: { in: known.slice(start, start + maxListed), ...options } };
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { [list]: page } = (await yardgraph.graphql(query, { where, after })) as Record<string, Page>;
      records.push(...(page?.nodes ?? []));
      after = page?.pageInfo.endCursor;
      isLast = !page?.pageInfo.hasNextPage;
    }
  }
  return records;
}

interface Page {
  readonly nodes: readonly Values[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string };
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
