/** What the columns of a file are, by their names and the options. A column is never guessed: an unknown one is refused, or left out by name. */
import { StartError } from '../errors.ts';
import type { Field } from '../model/fields.ts';
import { expected, quote } from '../model/issues.ts';
import { linkField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { suggestion } from '../model/schemas.ts';
import { kindNamed, recordKinds } from '../records/index.ts';

export type Column =
  | { readonly is: 'field'; readonly name: string; readonly field: Field }
  /** One external ID; the others stay as they are. */
  | { readonly is: 'externalId'; readonly key: string }
  /** By `id`, by a field of the target, or by one of its external IDs: `externalIds.erp`. */
  | { readonly is: 'link'; readonly name: string; readonly field: string; readonly by: string }
  /** Names the row, or the stored record. */
  | { readonly is: 'id' }
  /** No row may have a value below an empty name. */
  | { readonly is: 'unnamed' }
  | { readonly is: 'skipped' };

export interface ColumnOptions {
  /** What columns are that have another name: a field, or whatever else the name of a column can be. */
  readonly map: ReadonlyMap<string, string>;
  readonly skip: ReadonlySet<string>;
  /** Leaves out unknown columns, instead of refusing the file. */
  readonly skipsOthers: boolean;
  /** What a column with the name of a link has, if it is not an ID: `location` -> `name`. */
  readonly linkBy: ReadonlyMap<string, string>;
}

/** The column of a file of refused rows that has the reasons. An import of that file leaves it out. */
export const reasonColumn = 'refused because';

/** Returns `currentlocationid` for `Current location ID`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

/** Returns the kind with this name, in the singular or plural, in any case: `Work orders`, `WORK_ORDER`, `workOrders`. */
export const kindCalled = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(plain).includes(plain(name)));

/** The links of a kind, and by which texts of their targets they can be said. */
function linksOf(kind: RecordKind) {
  return linkFields(kind).map(([name, field, { target }]) => {
    const targetKind = kindNamed(target);
    const keys = new Set([...('name' in targetKind.fields ? ['name'] : []), ...matchableFields(targetKind)]);
    return { name, field, target, keys: [...keys], hasExternalIds: targetKind.fields.externalIds !== undefined };
  });
}

type LinkOfKind = ReturnType<typeof linksOf>[number];

const isCalled = ({ name, field, target }: LinkOfKind, called: string): boolean =>
  [name, field, target].map(plain).includes(plain(called));

/** Returns how a column such as `location.NAME` says a link: `name`, `externalIds.erp`; undefined if it cannot be said so. */
function keyOf({ keys, hasExternalIds }: LinkOfKind, [first = '', ...rest]: readonly string[]): string | undefined {
  const key = rest.join('.');
  if (hasExternalIds && plain(first) === 'externalids' && key !== '') return `externalIds.${key}`;
  return key === '' ? keys.find((name) => plain(name) === plain(first)) : undefined;
}

/** Reads `--link-by location=name`. Throws a StartError for a link that no kind has, or that cannot be found by this. */
export function readLinkBy(given: Readonly<Record<string, string>>): ColumnOptions['linkBy'] {
  const all = recordKinds.flatMap(linksOf);
  const found = Object.entries(given).map(([link, key]) => {
    const links = all.filter((known) => isCalled(known, link));
    const names = [...new Set(all.map(({ name }) => name))];
    if (links.length === 0) throw new StartError(`--link-by: ${expected(`a link such as ${names.join(', ')}`, link)}`);
    const by = links.map((known) => (key === 'id' ? key : keyOf(known, key.split('.')))).find((name) => name);
    if (by === undefined) {
      const keys = [...new Set(links.flatMap((known) => known.keys))].join(', ');
      throw new StartError(`--link-by ${link}: ${expected(`id, ${keys} or externalIds.KEY`, key)}`);
    }
    return [plain(link), by] as const;
  });
  return new Map(found);
}

/** True if rows of other kinds may be linked to records of this one by their names. */
export const isLinkedByName = (kind: RecordKind, { linkBy }: ColumnOptions): boolean =>
  recordKinds.flatMap(linksOf).some((link) => link.target === kind.name && byOf(link, linkBy) === 'name');

const byOf = (link: LinkOfKind, linkBy: ColumnOptions['linkBy']): string =>
  [...linkBy].find(([called]) => isCalled(link, called))?.[1] ?? 'id';

/** Returns a function that finds the column with a name. Returns undefined for an unknown column. */
export function columnFinder(kind: RecordKind, options: ColumnOptions): (name: string) => Column | undefined {
  const { map, skip, linkBy } = options;
  const links = linksOf(kind);
  const columns = new Map<string, Column>([['id', { is: 'id' }]]);
  for (const name of [...Object.keys(kind.storedFields), 'kind']) {
    if (!columns.has(plain(name))) columns.set(plain(name), { is: 'skipped' });
  }
  // `location` is the current location of an asset, which has no other; a category's parent is not its category.
  for (const link of links.filter(({ target }) => target !== kind.name)) {
    const isOnly = links.filter(({ target }) => target === link.target).length === 1;
    if (isOnly) columns.set(plain(link.target), linkColumn(link, byOf(link, linkBy)));
  }
  for (const [name, field] of Object.entries(kind.fields)) {
    const column: Column = { is: 'field', name, field };
    columns.set(plain(linkField(name)), column);
    columns.set(plain(name), column);
  }
  for (const link of links) {
    columns.set(plain(link.name), linkColumn(link, byOf(link, linkBy)));
    columns.set(plain(link.field), linkColumn(link, 'id'));
  }

  const find = (name: string): Column | undefined => {
    const [first = '', ...rest] = name.split('.');
    const key = rest.join('.');
    if (plain(first) === 'externalids' && kind.fields.externalIds && key !== '') return { is: 'externalId', key };
    const column = columns.get(plain(first));
    const link = column?.is === 'link' && links.find(({ field }) => field === column.field);
    if (link && key !== '' && plain(first) !== plain(link.field)) {
      const by = keyOf(link, rest);
      return by === undefined ? undefined : linkColumn(link, by);
    }
    return name === reasonColumn ? { is: 'skipped' } : columns.get(plain(name));
  };

  return (name) => {
    const trimmed = name.trim();
    if (skip.has(name) || skip.has(trimmed)) return { is: 'skipped' };
    const mapped = map.get(name) ?? map.get(trimmed);
    return trimmed === '' && mapped === undefined ? { is: 'unnamed' } : find(mapped ?? trimmed);
  };
}

/** The same for two columns that say the same: `name`, `externalIds.erp`, `locationId`, `location.name`. */
export function meaningOf(column: Column): string {
  if (column.is === 'externalId') return `externalIds.${column.key}`;
  if (column.is === 'link') return column.by === 'id' ? column.field : `${column.name}.${column.by}`;
  return column.is === 'field' ? column.name : column.is;
}

const linkColumn = ({ name, field }: LinkOfKind, by: string): Column => ({ is: 'link', name, field, by });

/** The columns with these names, and those of them that are unknown and left out. Throws a StartError instead, unless they may be. */
export function columnsOf(
  kind: RecordKind,
  names: readonly string[],
  options: ColumnOptions,
): { columns: readonly Column[]; leftOut: readonly string[] } {
  const found = names.map(columnFinder(kind, options));
  const leftOut = names.filter((_, index) => !found[index]);
  if (leftOut.length > 0 && !options.skipsOthers) throw unknownColumns(kind, leftOut, options);
  const columns = found.map((column): Column => column ?? { is: 'skipped' });
  const seen = new Map<string, string>();
  for (const [index, column] of columns.entries()) {
    const name = names[index] ?? '';
    const same = meaningOf(column);
    // One column of all external IDs, and others of one, may contradict.
    const [first] = same === 'externalIds' ? [...seen.keys()].filter((key) => key.startsWith('externalIds.')) : [];
    const other = seen.get(first ?? same) ?? (column.is === 'externalId' ? seen.get('externalIds') : undefined);
    if (column.is !== 'skipped' && column.is !== 'unnamed' && other !== undefined) {
      const fix = other === name ? 'rename one in the first line' : `leave one out with --skip ${quote(name)}`;
      throw new StartError(`the columns ${quote(other)} and ${quote(name)} say the same: ${fix}`);
    }
    seen.set(same, name);
  }
  return { columns, leftOut };
}

function unknownColumns(kind: RecordKind, names: readonly string[], { map }: ColumnOptions): StartError {
  const fields = Object.keys(kind.fields);
  const known = [...fields, ...linksOf(kind).flatMap(({ name, keys }) => keys.map((key) => `${name}.${key}`))];
  const listed = names.slice(0, 10).map((name) => {
    const to = map.get(name) ?? map.get(name.trim());
    return `${quote(name)}${to === undefined ? '' : `, mapped to ${quote(to)}`}${suggestion(to ?? name, known)}`;
  });
  const others = names.length > listed.length ? `, and ${names.length - listed.length} more` : '';
  const [first = ''] = names;
  const ways = [
    `map it to a field with --map ${quote(`${first}=…`)}`,
    `leave it out with --skip ${quote(first)}`,
    `or leave out all unknown columns with --skip-others`,
  ];
  return new StartError(
    `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}${others}: ${ways.join(', ')}. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`,
  );
}
