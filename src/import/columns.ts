/**
 * What the columns of a file are, by their names and the options, and by which of them stored records are found. A column is never guessed: an
 * unknown one is refused, or left out by name.
 */
import { StartError } from '../errors.ts';
import type { Field } from '../model/fields.ts';
import { expected, quote } from '../model/issues.ts';
import { linkField, listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { suggestion } from '../model/schemas.ts';
import { kindNamed, label, labelledFields, recordKinds } from '../records/index.ts';

export type Column =
  | { readonly is: 'field'; readonly name: string; readonly field: Field }
  /** One external ID; the others stay as they are. */
  | { readonly is: 'externalId'; readonly key: string }
  /** By `id`, by a field of the target, or by one of its external IDs: `externalIds.erp`. */
  | {
      readonly is: 'link';
      readonly name: string;
      readonly field: string;
      readonly target: RecordKind;
      readonly by: string;
    }
  /** Names the row, or the stored record; beside the type of a label, the ID in the other system. */
  | { readonly is: 'id' }
  /** Of a label: what it is for, of which `id` is the ID. Both are its key. */
  | { readonly is: 'labelledType' }
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

/** The links of a kind, what columns of them are called, and the fields of the target by which they can be said. */
function linksOf(kind: RecordKind) {
  const links = linkFields(kind);
  return links.map(([name, field, { target }]) => {
    // `location` is the current location of an asset, which has no other; a category's parent is not its category.
    const isOnly = target !== kind.name && links.filter(([, , other]) => other.target === target).length === 1;
    const targetKind = kindNamed(target);
    const keys = ['id', 'name', ...matchableFields(targetKind)].filter((key) => key in targetKind.storedFields);
    return { name, field, target: targetKind, names: [name, ...(isOnly ? [target] : [])].map(plain), keys };
  });
}

type LinkOfKind = ReturnType<typeof linksOf>[number];

/** Reads `--link-by location=name`. Throws a StartError for a link that no kind has, or that cannot be found by this. */
export function readLinkBy(given: Readonly<Record<string, string>>): ColumnOptions['linkBy'] {
  const all = recordKinds.flatMap(linksOf);
  for (const [called, by] of Object.entries(given)) {
    const links = all.filter(({ names }) => names.includes(plain(called)));
    const known = [...new Set(all.map(({ name }) => name))].join(', ');
    if (links.length === 0) throw new StartError(`--link-by: ${expected(`a link such as ${known}`, called)}`);
    if (links.some((link) => linkColumn(link, by))) continue;
    const keys = [...new Set(links.flatMap((link) => link.keys))].join(', ');
    throw new StartError(`--link-by ${called}: ${expected(`${keys} or externalIds.KEY`, by)}`);
  }
  return new Map(Object.entries(given).map(([called, by]) => [plain(called), by]));
}

/** Returns the column of a link such as `location.NAME`; undefined if its records are not found by this. */
function linkColumn({ name, field, target, keys }: LinkOfKind, said: string): Column | undefined {
  const externalId = externalIdIn(target, said);
  const by = externalId ? `externalIds.${externalId.key}` : keys.find((key) => plain(key) === plain(said));
  return by === undefined ? undefined : { is: 'link', name, field, target, by };
}

/** Returns the column of one external ID such as `externalIds.erp`, in any case, also in the singular. */
function externalIdIn(kind: RecordKind, name: string) {
  const [first = '', ...rest] = name.split('.');
  const key = rest.join('.');
  const isOne = 'externalIds' in kind.fields && /^externalids?$/.test(plain(first)) && key !== '';
  return isOne ? ({ is: 'externalId', key } as const) : undefined;
}

const byOf = ({ names }: LinkOfKind, linkBy: ColumnOptions['linkBy']): string =>
  names.map((name) => linkBy.get(name)).find((by) => by !== undefined) ?? 'id';

/** Returns a function that finds the column with a name. Returns undefined for an unknown column. */
export function columnFinder(kind: RecordKind, options: ColumnOptions): (name: string) => Column | undefined {
  const { skip, linkBy } = options;
  const links = linksOf(kind);
  const columns = new Map<string, Column>();
  for (const name of [...Object.keys(kind.storedFields), 'kind', reasonColumn]) {
    columns.set(plain(name), { is: 'skipped' });
  }
  columns.set('id', { is: 'id' });
  if (kind === label) columns.set('type', { is: 'labelledType' });
  for (const [name, field] of Object.entries(kind.fields)) {
    for (const called of [linkField(name), name]) columns.set(plain(called), { is: 'field', name, field });
  }
  for (const { name, field, target } of links) columns.set(plain(field), { is: 'link', name, field, target, by: 'id' });

  function find(name: string): Column | undefined {
    const [first = '', ...rest] = name.split('.');
    const link = links.find(({ names }) => names.includes(plain(first)));
    if (link) return linkColumn(link, rest.length > 0 ? rest.join('.') : byOf(link, linkBy));
    return externalIdIn(kind, name) ?? columns.get(plain(name));
  }

  return (name) => {
    const trimmed = name.trim();
    if (skip.has(name) || skip.has(trimmed)) return { is: 'skipped' };
    const said = mappedTo(name, options) ?? trimmed;
    return said === '' ? { is: 'unnamed' } : find(said);
  };
}

/** The same for two columns that say the same: `name`, `externalIds.erp`, `locationId`, `location.name`. */
export function meaningOf(column: Column): string {
  if (column.is === 'externalId') return `externalIds.${column.key}`;
  if (column.is === 'link') return column.by === 'id' ? column.field : `${column.name}.${column.by}`;
  if (column.is === 'labelledType') return 'key';
  return column.is === 'field' ? column.name : column.is;
}

/** True for a column whose values are kept as they are, with white space around them. */
export const isVerbatim = (column: Column): boolean =>
  column.is === 'field' ? ['text', 'foreignReference'].includes(column.field.type) : column.is !== 'unnamed';

/**
 * The columns with these names, those of them that have no field and are left out, and all that is wrong with them: columns that say the same,
 * and unknown ones unless they may be left out and are not mapped.
 */
export function columnsOf(
  kind: RecordKind,
  names: readonly string[],
  options: ColumnOptions,
): { readonly columns: readonly Column[]; readonly leftOut: readonly string[]; readonly problem: string } {
  const found = names.map(columnFinder(kind, options));
  // An export has the names of labels beside the IDs, which decide. Alone, such a column would be lost without a word.
  const isNamed = (column: string) => names.some((name) => plain(name) === plain(column));
  const besideIds = labelledFields(kind).filter(({ field }) => isNamed(field));
  const isBesideId = (name: string) => besideIds.some(({ nameColumn }) => plain(nameColumn) === plain(name));
  const leftOut = names.filter((_, index) => !found[index]);
  // What a column is mapped to is meant.
  const refused = leftOut.filter(
    (name) => mappedTo(name, options) !== undefined || !(options.skipsOthers || isBesideId(name)),
  );
  const problems: string[] = [];
  const columns = found.map((column): Column => column ?? { is: 'skipped' });
  const oneExternalId = names.find((_, index) => columns[index]?.is === 'externalId');
  const seen = new Map<string, string>();
  for (const [index, column] of columns.entries()) {
    if (column.is === 'skipped' || column.is === 'unnamed') continue;
    const name = names[index] ?? '';
    const meaning = meaningOf(column);
    // One column of all external IDs, and others of one, may contradict.
    const other = seen.get(meaning) ?? (meaning === 'externalIds' ? oneExternalId : undefined);
    if (other !== undefined) {
      const fix = other === name ? 'rename one in the first line' : `leave one out with --skip ${quote(name)}`;
      problems.push(`the columns ${quote(other)} and ${quote(name)} say the same: ${fix}`);
    }
    seen.set(meaning, name);
  }
  if (refused.length > 0) problems.push(unknownColumns(kind, refused, options));
  return { columns, leftOut, problem: problems.join('; ') };
}

const mappedTo = (name: string, { map }: ColumnOptions): string | undefined => map.get(name) ?? map.get(name.trim());

function unknownColumns(kind: RecordKind, names: readonly string[], options: ColumnOptions): string {
  const fields = Object.keys(kind.fields);
  const listed = names.slice(0, 10).map((name) => {
    const to = mappedTo(name, options);
    return `${quote(name)}${to === undefined ? '' : `, mapped to ${quote(to)}`}${suggestion(to ?? name, fields)}`;
  });
  if (names.length > listed.length) listed.push(`and ${names.length - listed.length} more`);
  const first = names[0] ?? '';
  return `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}: map it to a field with --map ${quote(`${first}=…`)}, leave it out with --skip ${quote(first)}, or leave out all unknown columns with --skip-others. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`;
}

/** The word in place of a key for a kind whose rows are all created. */
const createWord = 'create';

/**
 * Returns by which columns the stored records of these kinds are found. Each option is a key for all kinds, `externalIds.erp`, or for one,
 * `projects=reference`. Labels have a key without an option: a second file is to rename what the first one has named. There is a problem unless
 * there is no option, or a key for each kind.
 */
export function upsertKeysOf(
  kinds: readonly RecordKind[],
  options: readonly string[],
): { readonly keys: Map<RecordKind, string>; readonly problems: string[] } {
  const keys = new Map<RecordKind, string>();
  const named = new Map(options.map(splitOption));
  const problems: string[] = [];
  for (const kind of new Set(kinds)) {
    const ownName = named.get(kind);
    const name = ownName ?? named.get(undefined) ?? '';
    if (name === createWord) continue;
    const key = keyOf(kind, name) ?? (kind === label && ownName === undefined ? keyOf(label, 'key') : undefined);
    if (key) keys.set(kind, key);
    else if (options.length > 0) {
      const external = kind.fields.externalIds ? ['externalIds.erp'] : [];
      const known = [...matchableFields(kind), ...external, 'id', createWord];
      const choices = known.map((choice) => `--upsert-by ${listField(kind)}=${choice}`).join(', or ');
      const problem =
        name === ''
          ? `say how ${kind.pluralLabel} are found:`
          : `${kind.pluralLabel} cannot be found by ${quote(name)}: expected`;
      problems.push(`--upsert-by: ${problem} ${choices}`);
    }
  }
  return { keys, problems };
}

function splitOption(option: string): [RecordKind | undefined, string] {
  const at = option.indexOf('=');
  const [kindName, key] = [option.slice(0, Math.max(0, at)), option.slice(at + 1)];
  // The name of a system may have the character, too: `externalIds.a=b`.
  if (at < 0 || kindName.includes('.')) return [undefined, option];
  const kind = kindCalled(kindName);
  if (!kind) throw new StartError(`--upsert-by: unknown kind ${quote(kindName)}, expected one such as assets`);
  return [kind, key];
}

function keyOf(kind: RecordKind, name: string): string | undefined {
  if (plain(name) === 'id') return 'id';
  const externalId = externalIdIn(kind, name);
  if (externalId) return `externalIds.${externalId.key}`;
  return matchableFields(kind).find((candidate) => plain(candidate) === plain(name));
}
