/** Links of rows: to records that are stored, and to rows of the same import, which have no IDs of the service before they are stored. */
import type { Yardgraph } from '../../client/index.ts';
import { type Issue, quote } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindNamed, kindOfId } from '../records/index.ts';
import type { RecordRow, RowLink, Warning } from './row.ts';

/** What has become of a row, for the links that lead to it. */
export interface RowState {
  /** The ID of its record. A preview has that of a record which is there already, and none of one that would be created. */
  record?: string;
  is: 'coming' | 'accepted' | 'refused';
}

/** The rows to which links of the same import lead: by kind, by what links say of them (`id`, `name`, `externalIds.erp`), and by its text. */
export type Linked = ReadonlyMap<RecordKind, ReadonlyMap<string, ReadonlyMap<string, RowState[]>>>;

/** The rows of the import that have this text where a link says `by`. */
const rowsAt = (
  linked: Linked,
  target: RecordKind,
  { by, value }: Pick<RowLink, 'by' | 'value'>,
): readonly RowState[] =>
  linked
    .get(target)
    ?.get(by)
    ?.get(value ?? '') ?? [];

/** What `row` says of itself where a link says `by`. */
export function nameOf({ id, fields, externalIds }: RecordRow, by: string): string | undefined {
  if (by === 'id') return id;
  const key = externalKey(by);
  const name = key === undefined ? fields[by] : (externalIds[key] ?? (fields.externalIds as Values | undefined)?.[key]);
  return typeof name === 'string' ? name : undefined;
}

const externalKey = (by: string): string | undefined => /^externalIds\.(.+)$/s.exec(by)?.[1];

export const targetOf = (kind: RecordKind, field: string): RecordKind =>
  kindNamed(linkFields(kind).find(([, name]) => name === field)?.[2].target ?? '');

/** A row as it is sent. */
export interface LinkedRow {
  readonly row: RecordRow;
  /** Of a row of a kind to which links lead. */
  readonly state: RowState | undefined;
  readonly record: Record<string, unknown>;
  readonly issues: Issue[];
  /** References to rows that are stored later: set when these are. */
  readonly late: Omit<LateLink, 'kind' | 'record'>[];
  /** References that a preview leaves out, because they lead to rows that would be created. */
  readonly unsent: Set<string>;
}

export interface LateLink {
  readonly kind: RecordKind;
  readonly record: string;
  readonly way: RowLink;
}

/** The IDs of the records that rows of this import have become, by the cells of `row` that have the IDs of these rows. */
export function recordIdsIn(linked: Linked, { kind, links }: RecordRow): Map<number, string> {
  const ids = new Map<number, string>();
  for (const link of links) {
    const [row] = link.by === 'id' ? rowsAt(linked, targetOf(kind, link.field), link) : [];
    if (row?.record !== undefined) ids.set(link.cell, row.record);
  }
  return ids;
}

interface Linking {
  readonly yardgraph: Yardgraph;
  readonly linked: Linked;
  /** Kinds of which records are created for names that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** Those names: with a preview, they are only counted. */
  readonly missing: Map<RecordKind, Set<string>>;
  readonly isPreview: boolean;
  readonly warn: (warning: Warning) => void;
  /** Rows of this kind are created, so that they can refer to others that are sent with them. */
  readonly areCreated: boolean;
  /** Rows of this kind have the IDs of stored records: they come from an export, which says a link in all ways, so an empty cell is an edit. */
  readonly areExported: boolean;
  /** The stored records of these rows, before the import has changed any: an upsert finds them, or an update. */
  readonly storedRecords: (rows: readonly RecordRow[]) => Promise<readonly (Values | undefined)[]>;
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Sets the links of `rows`, which are sent together. */
export async function setLinks(linking: Linking, kind: RecordKind, rows: readonly LinkedRow[]): Promise<void> {
  const twofold = rows.filter(({ row }) => waysOf(linking, row).some(([, { length }]) => length > 1));
  const chosen = twofold.length > 0 ? await chooseWays(linking, kind, twofold) : new Map<LinkedRow, RowLink[]>();
  const ways = rows.flatMap((sent) =>
    (chosen.get(sent) ?? waysOf(linking, sent.row).flatMap(([, [way]]) => way ?? []))
      .filter(isLeading)
      .map((way) => ({ sent, way })),
  );
  for (const { row, record } of rows) {
    for (const { field, value } of row.links) if (value === null && !(field in record)) record[field] = null;
  }
  const found = await findByNames(
    linking,
    kind,
    ways.map(({ way }) => way),
  );
  const ofKind = linking.linked.get(kind)?.get('id');
  const together = new Set(rows.map(({ state }) => state));
  for (const { row, state, record, issues } of rows) {
    if (!ofKind || row.id === undefined) continue;
    const first = ofKind.get(row.id)?.find(({ is }) => is !== 'refused');
    if (first && first !== state) issues.push(issueOf(['id'], `an earlier row has the ID ${quote(row.id ?? '')}`));
    if (linking.areCreated && !linking.isPreview) record.ref = row.id;
  }
  for (const { sent, way } of ways) setLink(linking, kind, sent, way, found, together);
}

const issueOf = (path: Issue['path'], message: string): Issue => ({ path, message });

const isLeading = ({ value }: RowLink): boolean => value !== null;

/** The links of a row that lead somewhere, by their references. Of a row of an export, they have the ways that are emptied, too. */
function waysOf(
  { areExported }: Linking,
  { links }: RecordRow,
): (readonly [field: string, ways: readonly RowLink[]])[] {
  const leading = [...grouped(links, ({ field }) => field)].filter(([, ways]) => ways.some(isLeading));
  return areExported ? leading : leading.map(([field, ways]) => [field, ways.filter(isLeading)]);
}

function setLink(
  linking: Linking,
  kind: RecordKind,
  { row: { source }, record, issues, late, unsent }: LinkedRow,
  way: RowLink,
  found: FoundByName,
  together: ReadonlySet<RowState | undefined>,
): void {
  const { field, name, by, cell } = way;
  const value = way.value ?? '';
  const target = targetOf(kind, field);
  const rows = rowsAt(linking.linked, target, way);
  const others = rows.filter(({ is }) => is !== 'refused');
  const key = externalKey(by);
  delete record[field];
  const leave = () => (linking.isPreview ? unsent.add(field) : late.push({ way }));

  if (by === 'id') {
    const [row] = others;
    if (row?.record !== undefined) record[field] = row.record;
    else if (row?.is === 'coming' && linking.areCreated && !linking.isPreview && together.has(row)) {
      record[name] = { ref: value };
    } else if (row) leave();
    else if (rows.length > 0 && kindOfId(value) !== target) {
      issues.push(issueOf([field], `the row with the ID ${quote(value)} was refused`));
    } else {
      record[field] = value;
      if (kindOfId(value) !== target)
        linking.warn({ line: source.line, column: source.names[cell] ?? field, message: foreignId(target) });
    }
  } else if (key !== undefined) {
    if (linking.isPreview && others.some((row) => row.record === undefined)) unsent.add(field);
    else record[name] = { externalId: { key, value } };
  } else {
    // Rows of the own kind may come later, or have come earlier and be found, too: all of these links are set in the end.
    if (!linking.isPreview && target === kind && others.length > 0) return void leave();
    const ids = new Set([
      ...(found.get(`${field}.${by}`)?.get(value) ?? []),
      ...others.flatMap((row) => row.record ?? []),
    ]);
    const [id] = ids;
    // An upsert of the own kind may find the stored record for the row that has its name.
    const mayBeSame = id !== undefined && target === kind && !linking.areCreated;
    const unstored = linking.isPreview && !mayBeSame ? others.filter((row) => row.record === undefined).length : 0;
    if (ids.size + unstored > 1) issues.push(issueOf([name], severalMatch(target, by, value)));
    else if (id !== undefined) record[field] = id;
    else if (unstored > 0 || (linking.isPreview && linking.missing.get(target)?.has(value))) leave();
    else issues.push(issueOf([name], noneMatches(target, by, value)));
  }
}

const severalMatch = ({ pluralLabel }: RecordKind, by: string, value: string): string =>
  `several ${pluralLabel} have the ${by} ${quote(value)}: say which by an ID`;

const noneMatches = (target: RecordKind, by: string, value: string): string => {
  const option = by === 'name' ? `: create it with --create-missing ${listField(target)}` : '';
  return `no ${target.label} has the ${by} ${quote(value)}${option}`;
};

/** The IDs of records, by what they are called: the first map is by the reference and the field, the second by the text. */
type FoundByName = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Finds the records to which links lead by a field such as `name`; creates those that are missing, if that is wanted. */
async function findByNames(linking: Linking, kind: RecordKind, ways: readonly RowLink[]): Promise<FoundByName> {
  const found = new Map<string, Map<string, Set<string>>>();
  const byName = ways.filter(({ by }) => by !== 'id' && externalKey(by) === undefined);
  for (const [at, ofField] of grouped(byName, ({ field, by }) => `${field}.${by}`)) {
    const [{ field, by } = { field: '', by: '' }] = ofField;
    const target = targetOf(kind, field);
    const values = [...new Set(ofField.flatMap(({ value }) => value ?? []))];
    const ids = await findIds(linking.yardgraph, target, by, values);
    found.set(at, ids);
    if (by !== 'name' || !linking.createMissing.has(target)) continue;
    const rows = linking.linked.get(target)?.get(by);
    const missing = values.filter((value) => !ids.has(value) && !rows?.get(value)?.some(({ is }) => is !== 'refused'));
    const named = linking.missing.get(target) ?? new Set();
    linking.missing.set(target, named);
    for (const value of missing) named.add(value);
    if (linking.isPreview) continue;
    const created = missing.map((name) => ({ kind: target.name, record: { name } })) as never[];
    for await (const result of linking.yardgraph.import(created)) {
      const { name = '' } = (result.row as { readonly record: { readonly name?: string } }).record;
      if (result.outcome !== 'REJECTED') ids.set(name, new Set([result.id]));
    }
  }
  return found;
}

async function findIds(yardgraph: Yardgraph, target: RecordKind, by: string, values: readonly string[]) {
  const ids = new Map<string, Set<string>>();
  for (const record of await readRecords(yardgraph, target, by, values, [by])) {
    const value = String(record[by]);
    ids.set(value, (ids.get(value) ?? new Set()).add(String(record.id)));
  }
  return ids;
}

/** What a condition of a filter may have, and a page. */
const maxListed = 1_000;

/** Reads the records of which a field has one of these values. */
export async function readRecords(
  yardgraph: Yardgraph,
  kind: RecordKind,
  field: string,
  values: readonly string[],
  fields: readonly string[],
): Promise<Values[]> {
  const list = listField(kind);
  const query = `query ($where: ${kind.name}Filter, $after: String) {
    ${list}(first: ${maxListed}, after: $after, where: $where) {
      nodes { ${[...new Set(['id', ...fields])].join(' ')} } pageInfo { hasNextPage endCursor }
    }
  }`;
  const records: Values[] = [];
  for (let start = 0; start < values.length; start += maxListed) {
    const where = { [field]: { in: values.slice(start, start + maxListed) } };
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

/**
 * Of links that a row says in several ways, such as by an ID and by an external ID, returns the one that counts: the one that leads elsewhere
 * than the link that is stored. If several do, they must lead to the same record. An emptied one leads to any record that has no such text.
 */
async function chooseWays(linking: Linking, kind: RecordKind, rows: readonly LinkedRow[]) {
  const stored = await linking.storedRecords(rows.map(({ row }) => row));
  const rowOf = (way: RowLink) =>
    rowsAt(linking.linked, targetOf(kind, way.field), way).find(({ is }) => is !== 'refused');
  const ways = rows.flatMap(({ row }) =>
    waysOf(linking, row).flatMap(([, ofField]) => (ofField.length > 1 ? ofField : [])),
  );
  const found = await findByNames({ ...linking, createMissing: new Set() }, kind, ways);
  /** The IDs of the records that may be meant. */
  const idsOf = (way: RowLink): readonly string[] =>
    way.by === 'id'
      ? [rowOf(way)?.record ?? way.value ?? '']
      : [...(found.get(`${way.field}.${way.by}`)?.get(way.value ?? '') ?? [])];

  const records = new Map<unknown, Values>();
  for (const [field, ofField] of grouped(ways, (way) => way.field)) {
    const target = targetOf(kind, field);
    const ids = [...stored.map((record) => String(record?.[field])), ...ofField.flatMap(idsOf)];
    const known = [...new Set(ids)].filter((id) => kindOfId(id) === target);
    const fields = Object.keys(target.fields).filter((name) => ['name', 'reference', 'externalIds'].includes(name));
    for (const record of await readRecords(linking.yardgraph, target, 'id', known, fields))
      records.set(record.id, record);
  }
  const leadsTo = (way: RowLink, id: unknown): boolean => {
    if (way.by === 'id') return idsOf(way)[0] === id;
    const key = externalKey(way.by);
    const record = records.get(id);
    const value = key === undefined ? record?.[way.by] : (record?.externalIds as Values | undefined)?.[key];
    return way.value === null ? value == null || isBlank(String(value)) : value === way.value;
  };
  /** An ID of another workspace leads nowhere, if the row is new here. */
  const isUnknown = (way: RowLink): boolean =>
    way.by === 'id' && !rowOf(way) && kindOfId(way.value ?? '') !== undefined && !records.has(way.value);

  const choose = (ofField: readonly RowLink[], id: unknown): RowLink | undefined => {
    const leading = ofField.filter(isLeading);
    const differing =
      id === undefined ? leading.filter((way) => !isUnknown(way)) : ofField.filter((way) => !leadsTo(way, id));
    if (differing.length < 2 || !differing.some(isLeading)) return differing[0] ?? leading[0];
    // Every record has an ID: an emptied one leads to none.
    if (differing.some((way) => way.by === 'id' && !isLeading(way))) return undefined;
    const [row, ...others] = differing.map(rowOf);
    if (row && others.every((other) => other === row)) return differing.find(({ by }) => by === 'id') ?? differing[0];
    const coming = differing.find((way) => linking.isPreview && rowOf(way) && rowOf(way)?.record === undefined);
    if (coming) return coming;
    const byId = differing
      .toSorted((a, b) => Number(b.by === 'id') - Number(a.by === 'id'))
      .find((way) => idsOf(way).length > 0);
    const value = byId && idsOf(byId).find((one) => differing.every((way) => leadsTo(way, one)));
    return byId && value !== undefined ? { ...byId, by: 'id', value } : undefined;
  };

  return new Map(
    rows.map((sent, index) => {
      const chosen = waysOf(linking, sent.row).flatMap(([field, ofField]) => {
        const way = choose(ofField, stored[index]?.[field] ?? undefined);
        if (way) return [way];
        const texts = ofField.map(
          ({ name, by, value }) => `${by === 'id' ? field : `${name}.${by}`} ${quote(value ?? '')}`,
        );
        sent.issues.push(
          issueOf([field], `expected one ${targetOf(kind, field).label}, received ${texts.join(' and ')}`),
        );
        return [];
      });
      return [sent, chosen];
    }),
  );
}

/** Returns the record to which a late link leads, now that all rows are stored, or why there is none. */
export async function findLate(
  yardgraph: Yardgraph,
  linked: Linked,
  links: readonly LateLink[],
): Promise<readonly { readonly id?: string; readonly message?: string }[]> {
  const names = new Map<string, Map<string, Set<string>>>();
  for (const [at, ofField] of grouped(links, ({ kind, way }) => `${kind.name}.${way.field}.${way.by}`)) {
    const [{ kind, way } = links[0] as LateLink] = ofField;
    if (way.by === 'id') continue;
    const values = [...new Set(ofField.flatMap((link) => link.way.value ?? []))];
    names.set(at, await findIds(yardgraph, targetOf(kind, way.field), way.by, values));
  }
  return links.map(({ kind, way }) => {
    const { field, by, value } = way;
    const target = targetOf(kind, field);
    if (by === 'id') {
      const id = rowsAt(linked, target, way).find(({ is }) => is === 'accepted')?.record;
      return id === undefined ? { message: 'the row with this ID was refused' } : { id };
    }
    const ids = names.get(`${kind.name}.${field}.${by}`)?.get(value ?? '') ?? new Set<string>();
    const [id, second] = ids;
    if (id === undefined) return { message: `no ${target.label} has this ${by}: its row was refused` };
    return second === undefined ? { id } : { message: severalMatch(target, by, value ?? '') };
  });
}

const foreignId = ({ label }: RecordKind): string =>
  `no ${label} here has such an ID: it is kept as one of another system`;
