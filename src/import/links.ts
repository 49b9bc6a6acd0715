/**
 * Links of rows: to records that are stored, and to rows of the same import, which have no IDs of the service before they are stored. A link
 * leads to the one record, or row, that its cell names. If several cells say a link, such as an ID and a name, all of them must say the same:
 * what is stored decides nothing, so an import that was stopped decides alike when it goes on.
 */
import type { Yardgraph } from '../../client/index.ts';
import { type Issue, quote } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindOfId } from '../records/index.ts';
import { readRecords } from './requests.ts';
import {
  externalKey,
  type LinkedRow,
  type RecordRow,
  type RowLink,
  type RowState,
  valueAt,
  type Warning,
} from './row.ts';

/** The rows to which links of the same import lead: by kind, by what links say of them (`id`, `name`, `externalIds.erp`), and by its text. */
export type Linked = ReadonlyMap<RecordKind, ReadonlyMap<string, ReadonlyMap<string, RowState[]>>>;

export interface Linking {
  readonly yardgraph: Yardgraph;
  readonly scanned: { readonly linked: Linked };
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** Kinds of which records are created for names that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** What an earlier start has created. */
  readonly createdBefore: ReadonlySet<string>;
  /** Those names: with a preview, they are only counted. */
  readonly missing: Map<RecordKind, Set<string>>;
  readonly isPreview: boolean;
  readonly warn: ((warning: Warning) => void) | undefined;
}

/** A row whose links are being set. */
interface Linkable extends LinkedRow {
  readonly record: Record<string, unknown>;
  readonly issues: Issue[];
  readonly late: { readonly link: RowLink; readonly to: RowState }[];
  readonly unsent: Set<string>;
}

/** Returns the rows with their links. They are sent together: those that are created may lead to each other. */
export async function linkRows(
  linking: Linking,
  kind: RecordKind,
  rows: readonly RecordRow[],
): Promise<readonly LinkedRow[]> {
  const by = linking.upsertKeys.get(kind);
  const linked = rows.map((row): Linkable => {
    const isNew = isCreated(row, by);
    return { row, record: recordOf(row, isNew), issues: [...row.issues], late: [], unsent: new Set() };
  });
  const valid = linked.filter(({ issues }) => issues.length === 0);
  const refs = nameRows(linking, kind, valid);
  const references = valid.flatMap((each) => cellsOf(each.row, by === 'id').map((cells) => ({ each, cells })));
  for (const [target, ofTarget] of grouped(references, ({ cells: [{ target: one }] }) => one)) {
    const targetOf = await targetFinder(linking, target, ofTarget);
    for (const { each, cells } of ofTarget) {
      const [link] = cells;
      const to = targetOf(cells);
      if (to === null || typeof to === 'string') {
        each.record[link.field] = to;
        if (to !== null) warnOfForeign(linking, each.row, cells, to);
      } else if ('message' in to) each.issues.push(to);
      else if (!isRow(to)) each.record[link.name] = to;
      else if (refs.has(to)) each.record[link.name] = { ref: refs.get(to) };
      else if (linking.isPreview) each.unsent.add(link.field);
      else each.late.push({ link, to });
    }
  }
  return linked;
}

/** True if no record is looked for. */
export const isCreated = ({ id }: RecordRow, by: string | undefined): boolean =>
  by === undefined || (by === 'id' && id === undefined);

function recordOf({ fields, externalIds }: RecordRow, isNew: boolean): Record<string, unknown> {
  const ids = Object.entries(externalIds);
  const set = ids.filter(([, value]) => value !== null);
  if (ids.length > 0 && !isNew) return { ...fields, mergeExternalIds: externalIds };
  return set.length > 0 ? { ...fields, externalIds: Object.fromEntries(set) } : { ...fields };
}

/** Gives rows that are created the names by which others of the same request refer to them: their IDs in the file, of which the first counts. */
function nameRows({ scanned, upsertKeys, isPreview }: Linking, kind: RecordKind, rows: readonly Linkable[]) {
  const refs = new Map<RowState, string>();
  const ofKind = scanned.linked.get(kind)?.get('id');
  for (const { row, record, issues } of rows) {
    const { state, id } = row;
    if (!ofKind || !state || id === undefined) continue;
    const first = ofKind.get(id)?.find(({ is }) => is !== 'refused');
    if (first && first !== state) issues.push({ path: ['id'], message: `an earlier row has the ID ${quote(id)}` });
    else if (!upsertKeys.has(kind) && !isPreview) {
      record.ref = id;
      refs.set(state, id);
    }
  }
  return refs;
}

/** All cells of a row that say one link. */
type Cells = readonly [RowLink, ...RowLink[]];

/**
 * The cells of each link of a row. Rows with the IDs of stored records come from an export, which says a link in all ways, so an empty cell
 * says that the target has no such text. In other rows, it says nothing beside one with a value.
 */
function cellsOf({ links }: RecordRow, isExported: boolean): Cells[] {
  return [...grouped(links, ({ field }) => field).values()].map((all) => {
    const given = all.filter(({ value }) => value !== null);
    return (isExported || given.length === 0 ? all : given) as unknown as Cells;
  });
}

/** A record by its ID, or by an external ID that the service looks up; or a row that has no record yet, or gets none. */
type Target = string | { readonly externalId: object } | RowState;

const isRow = (target: Target): target is RowState => typeof target === 'object' && 'is' in target;

/** Reads the records of a kind to which cells may lead. Returns a function that says where the cells of a link lead, or why nowhere. */
async function targetFinder(linking: Linking, target: RecordKind, references: readonly { readonly cells: Cells }[]) {
  const { yardgraph, scanned, upsertKeys, createMissing, createdBefore } = linking;
  const key = upsertKeys.get(target);
  const all = references.flatMap(({ cells }) => cells);
  const fields = [...new Set(all.map(({ by }) => by))];
  const isCompared = references.some(({ cells }) => cells.length > 1);
  const alone = new Set(
    references
      .map(({ cells }) => cells.filter(({ value }) => value !== null))
      .flatMap((given) => (given.length === 1 ? (given[0]?.value ?? []) : [])),
  );
  const records = new Map<unknown, Values>();
  const named = new Map<string, Map<unknown, Target[]>>();
  // External IDs are looked up by the service. An ID is that of the record, which is needed only to compare it with other cells.
  for (const by of fields.filter((each) => (each === 'id' ? isCompared : externalKey(each) === undefined))) {
    const texts = new Set(all.flatMap((link) => (link.by === by ? (link.value ?? []) : [])));
    const found = new Map<unknown, Target[]>();
    for (const record of await readRecords(yardgraph, target, by, [...texts], fields)) {
      records.set(record.id, record);
      found.set(record[by], [...(found.get(record[by]) ?? []), String(record.id)]);
    }
    if (by === 'name' && createMissing.has(target)) {
      // If another cell says the link, too, that leads to the record. And not for a row of the import that was refused: once that is fixed and imported, there would be two of its name.
      const absent = [...texts].filter(
        (text) => alone.has(text) && !found.has(text) && !scanned.linked.get(target)?.get(by)?.has(text),
      );
      for (const [name, created] of await createNamed(linking, target, absent)) found.set(name, [created]);
    }
    named.set(by, found);
  }

  function targetsOf(link: RowLink): readonly Target[] {
    const { by, value } = link;
    const rows = rowsAt(scanned.linked, link);
    const row = rows.find(({ is }) => is !== 'refused');
    if (value === null) return [];
    if (by === 'id') {
      const isOwn = kindOfId(value) === target;
      // A row that was refused leaves an ID of this service to the record that has it.
      const meant = isOwn ? (key === 'id' ? undefined : row) : (row ?? rows[0]);
      return [meant ? (meant.record ?? meant) : value];
    }
    const found = named.get(by)?.get(value) ?? [];
    // A row with this key becomes the record that has it. Of several rows, the first one counts.
    if (by === key) return found.length > 0 || !row ? found : [row.record ?? row];
    const coming = rows.flatMap((each) => (each.is === 'refused' ? [] : (each.record ?? each)));
    // When an import goes on, a row of this part has its record already, but is to be linked as before.
    const stored = coming.length > 0 ? found.filter((one) => !createdBefore.has(String(one))) : found;
    return [...new Set([...stored, ...coming])];
  }

  function says(link: RowLink, one: Target): boolean {
    const text = typeof one === 'string' ? valueAt(records.get(one), link.by) : undefined;
    if (link.value === null) return isBlank(String(text ?? ''));
    return text === link.value || targetsOf(link).includes(one);
  }

  return (cells: Cells): Target | Issue | null => {
    const given = cells.filter(({ value }) => value !== null);
    const [link] = given;
    if (!link) return null;
    const [externalId] = cells.length === 1 ? [externalKey(link.by)] : [];
    const found = [...new Set(given.flatMap(targetsOf))];
    if (externalId !== undefined && found.length === 0) return { externalId: { key: externalId, value: link.value } };
    const [one, another] = found.filter((each) => cells.length === 1 || cells.every((cell) => says(cell, each)));
    if (another !== undefined) return severalIssue(link);
    if (one !== undefined && !(isRow(one) && one.is === 'refused')) return one;
    const lost = given.find((cell) => externalKey(cell.by) === undefined && targetsOf(cell).every(isRefused));
    return lost ? lostIssue(lost, rowsAt(scanned.linked, lost).length > 0, given.length === 1) : contradiction(cells);
  };
}

const isRefused = (target: Target): boolean => isRow(target) && target.is === 'refused';

/** The rows of the import that have this text where a link says `by`. */
const rowsAt = (linked: Linked, { target, by, value }: RowLink): readonly RowState[] =>
  linked
    .get(target)
    ?.get(by)
    ?.get(value ?? '') ?? [];

/** Creates the records to which rows link by their names, or returns rows in their places that a preview would store. */
async function createNamed({ yardgraph, missing, isPreview }: Linking, kind: RecordKind, names: readonly string[]) {
  if (names.length === 0) return [];
  const counted = missing.get(kind) ?? new Set();
  missing.set(kind, counted);
  for (const name of names) counted.add(name);
  if (isPreview) return names.map((name): [string, Target] => [name, { is: 'accepted' }]);
  const created: [string, Target][] = [];
  const rows = names.map((name) => ({ kind: kind.name, record: { name } })) as never[];
  for await (const result of yardgraph.import(rows)) {
    const { record } = result.row as { readonly record: { readonly name: string } };
    if (result.outcome !== 'REJECTED') created.push([record.name, result.id]);
  }
  return created;
}

function warnOfForeign({ warn }: Linking, { source }: RecordRow, cells: Cells, to: string): void {
  const said = cells.find(({ by, value }) => by === 'id' && value === to);
  if (!said || kindOfId(to) === said.target) return;
  const message = `no ${said.target.label} here has such an ID: it is kept as one of another system`;
  warn?.({ line: source.line, column: source.names[said.cell] ?? said.field, message });
}

const textOf = ({ by, value }: RowLink): string => `the ${by === 'id' ? 'ID' : by} ${quote(value ?? '')}`;

const pathOf = ({ by, field, name }: RowLink): [string] => [by === 'id' ? field : name];

function lostIssue(link: RowLink, isOfRow: boolean, mayBeCreated = false): Issue {
  const path = pathOf(link);
  if (isOfRow) return { path, message: `the row with ${textOf(link)} was refused` };
  const { by, target } = link;
  const option = by === 'name' && mayBeCreated ? `: create it with --create-missing ${listField(target)}` : '';
  return { path, message: `no ${target.label} has ${textOf(link)}${option}` };
}

const severalIssue = (link: RowLink): Issue => ({
  path: pathOf(link),
  message: `several ${link.target.pluralLabel} have ${textOf(link)}: say which by an ID`,
});

function contradiction(cells: Cells): Issue {
  const [{ field, target }] = cells;
  const texts = cells.map(
    ({ by, name, value }) => `${by === 'id' ? field : `${name}.${by}`} ${value === null ? 'nothing' : quote(value)}`,
  );
  const help = 'change them alike, or leave a column out with --skip';
  return { path: [field], message: `expected one ${target.label}, received ${texts.join(' and ')}: ${help}` };
}

/** Why a link to a later row is not set: undefined if that row is stored. */
export const lateProblem = ({ link, to }: LinkedRow['late'][number]): string | undefined =>
  to.record === undefined ? lostIssue(link, true).message : undefined;

/** The IDs of the records that rows of this import have become, by the cells of `row` that have the IDs of these rows. */
export function recordIdsIn(linked: Linked, { links }: RecordRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const link of links) {
    const [row] = link.by === 'id' ? rowsAt(linked, link) : [];
    if (row?.record !== undefined) ids.set(link.cell, row.record);
  }
  return ids;
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
