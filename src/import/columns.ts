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
  /**
   * By `id`, if it is called as the field; by `any`, an ID or a name, if it is called as the link; by a field of the target; or by one of its
   * external IDs: `externalIds.erp`.
   */
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
  /** What columns are that have another name: a field, or whatever else the name of a column can be; null for one that is left out. */
  readonly map: ReadonlyMap<string, string | null>;
  /** Leaves out unknown columns, instead of refusing the file. */
  readonly skipsOthers: boolean;
  /** What columns with the name of a link have, if it is not an ID: `location` -> `name`. */
  readonly linkBy: ReadonlyMap<string, string>;
}

/** The column of a file of refused rows that has the reasons. An import of that file leaves it out. */
export const reasonColumn = 'refused because';

/** Reasons begin with this in a table: of a row with too many cells, another one may stand below the name of the column. */
export const reasonMark = 'refused: ';

/** Returns `currentlocationid` for `Current location ID`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

/** Returns the kind with this name, in the singular or plural, in any case: `Work orders`, `WORK_ORDER`, `workOrders`. */
export const kindCalled = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(plain).includes(plain(name)));

/** By kind and plain name, all columns but those of external IDs. */
const columnsByKind = new Map(recordKinds.map((kind) => [kind, new Map(namedColumns(kind))]));

function* namedColumns(kind: RecordKind): Generator<readonly [string, Column]> {
  for (const name of [...Object.keys(kind.storedFields), 'kind', reasonColumn]) yield [plain(name), { is: 'skipped' }];
  yield ['id', { is: 'id' }];
  if (kind === label) yield ['type', { is: 'labelledType' }];
  for (const [name, field] of Object.entries(kind.fields)) {
    for (const called of [linkField(name), name]) yield [plain(called), { is: 'field', name, field }];
  }
  const links = linkFields(kind);
  for (const [name, field, { target: targetName }] of links) {
    const target = kindNamed(targetName);
    const link = { is: 'link', name, field, target } as const;
    // `location` is the current location of an asset, which has no other; a category's parent is not its category.
    const isOnly = target !== kind && links.filter(([, , other]) => other.target === targetName).length === 1;
    const keys = ['name', ...matchableFields(target)].filter((key) => key in target.fields);
    for (const called of isOnly ? [name, targetName] : [name]) {
      for (const by of ['id', ...keys]) yield [plain(`${called}.${by}`), { ...link, by }];
      yield [plain(called), { ...link, by: 'any' }];
    }
    yield [plain(field), { ...link, by: 'id' }];
  }
}

/** Returns the column with a name, in any case; undefined for an unknown one. The key of an external ID may be any text. */
function columnCalled(kind: RecordKind, name: string): Column | undefined {
  const known = columnsByKind.get(kind);
  // `externalIds.erp` of the record itself, or `location.External ID.erp`.
  const parts = name.split('.');
  const at = parts.slice(0, 2).findIndex((part) => /^externalids?$/.test(plain(part)));
  const key = parts.slice(at + 1).join('.');
  if (at < 0 || key === '') return known?.get(plain(name));
  if (at === 0) return kind.fields.externalIds && { is: 'externalId', key };
  const link = known?.get(plain(parts[0] ?? ''));
  const hasIds = link?.is === 'link' && link.target.fields.externalIds;
  return hasIds ? { ...link, by: `externalIds.${key}` } : undefined;
}

/** Reads `--link-by location=name`. Throws a StartError for a link that no kind has, or that cannot be found by this. */
export function readLinkBy(given: Readonly<Record<string, string>>): ColumnOptions['linkBy'] {
  for (const [link, by] of Object.entries(given)) {
    if (recordKinds.some((kind) => columnCalled(kind, `${link}.${by}`)?.is === 'link')) continue;
    const form = 'a link and what its records are found by, such as location=name or project=externalIds.erp';
    throw new StartError(`--link-by: ${expected(form, `${link}=${by}`)}`);
  }
  return new Map(Object.entries(given));
}

/** Returns a function that finds the column with a name. Returns undefined for an unknown column. */
export function columnFinder(kind: RecordKind, options: ColumnOptions): (name: string) => Column | undefined {
  const ways = new Map<string, string>();
  for (const [link, by] of options.linkBy) {
    const column = columnCalled(kind, link);
    if (column) ways.set(meaningOf(column), `${link}.${by}`);
  }
  return (name) => {
    const to = mappedTo(name, options);
    if (to === null) return { is: 'skipped' };
    const said = to ?? name.trim();
    if (said === '') return { is: 'unnamed' };
    const column = columnCalled(kind, said);
    const way = column?.is === 'link' && column.by === 'any' ? ways.get(column.field) : undefined;
    return way === undefined ? column : columnCalled(kind, way);
  };
}

/** The same for two columns that say the same: `name`, `externalIds.erp`, `locationId`, `location.name`. */
export function meaningOf(column: Column): string {
  if (column.is === 'externalId') return `externalIds.${column.key}`;
  if (column.is === 'link') return ['id', 'any'].includes(column.by) ? column.field : `${column.name}.${column.by}`;
  if (column.is === 'labelledType') return 'key';
  return column.is === 'field' ? column.name : column.is;
}

/** The field of a record that a column has, if any. */
export function fieldOf(column: Column): string[] {
  if (column.is === 'externalId') return ['externalIds'];
  if (column.is === 'link') return [column.field];
  if (column.is === 'labelledType') return ['key'];
  return column.is === 'field' ? [column.name] : [];
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
  const columns = found.map((column): Column => column ?? { is: 'skipped' });
  const problems: string[] = [];
  const seen = new Map<string, string>();
  const oneExternalId = names.find((_, index) => columns[index]?.is === 'externalId');
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
  const leftOut = names.filter((_, index) => !found[index]);
  // An export has the names of labels beside the IDs, which decide. Alone, such a column would be lost without a word.
  const given = new Set(names.map(plain));
  const besideIds = labelledFields(kind).filter(({ field }) => given.has(plain(field)));
  const mayBeLeftOut = (name: string) =>
    options.skipsOthers || besideIds.some(({ nameColumn }) => plain(nameColumn) === plain(name));
  // What a column is mapped to is meant.
  const refused = leftOut.filter((name) => mappedTo(name, options) !== undefined || !mayBeLeftOut(name));
  if (refused.length > 0) problems.push(unknownColumns(kind, refused, options));
  return { columns, leftOut, problem: problems.join('; ') };
}

function mappedTo(name: string, { map }: ColumnOptions): string | null | undefined {
  const to = map.get(name);
  return to === undefined ? map.get(name.trim()) : to;
}

function unknownColumns(kind: RecordKind, names: readonly string[], options: ColumnOptions): string {
  const fields = Object.keys(kind.fields);
  const listed = names.slice(0, 10).map((name) => {
    const to = mappedTo(name, options);
    return `${quote(name)}${to ? `, mapped to ${quote(to)}` : ''}${suggestion(to ?? name, fields)}`;
  });
  if (names.length > listed.length) listed.push(`and ${names.length - listed.length} more`);
  const first = names[0] ?? '';
  return `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}: map it to a field with --map ${quote(`${first}=…`)}, leave it out with --skip ${quote(first)}, or leave out all unknown columns with --skip-others. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`;
}

/**
 * Returns by which columns the stored records of these kinds are found. Each option is a key for all kinds, `externalIds.erp`, or for one,
 * `projects=reference`, or `projects=create` for a kind whose rows are all created. Labels have a key without an option: a second file is to
 * rename what the first one has named. There is a problem unless there is no option, or a key for each kind.
 */
export function upsertKeysOf(
  kinds: readonly RecordKind[],
  options: readonly string[],
): { readonly keys: Map<RecordKind, string>; readonly problems: string[] } {
  const named = new Map(options.map(splitOption));
  const keys = new Map<RecordKind, string>();
  const problems: string[] = [];
  for (const kind of new Set(kinds)) {
    const name = named.get(kind) ?? named.get(undefined) ?? '';
    if (name === 'create') continue;
    const choices = [...matchableFields(kind), ...(kind.fields.externalIds ? ['externalIds.erp'] : []), 'id', 'create'];
    const column = columnCalled(kind, name);
    const key = column && column.is !== 'labelledType' && meaningOf(column);
    if (key && (choices.includes(key) || column.is === 'externalId')) keys.set(kind, key);
    else if (kind === label && !named.has(kind)) keys.set(kind, 'key');
    else if (options.length > 0) {
      const known = choices.map((choice) => `--upsert-by ${listField(kind)}=${choice}`).join(', or ');
      const what =
        name === ''
          ? `say how ${kind.pluralLabel} are found:`
          : `${kind.pluralLabel} cannot be found by ${quote(name)}: expected`;
      problems.push(`--upsert-by: ${what} ${known}`);
    }
  }
  return { keys, problems };
}

function splitOption(option: string): [RecordKind | undefined, string] {
  // The name of a system may have the character, too: `externalIds.a=b`.
  const [, name, key = option] = /^([^.=]*)=(.*)$/s.exec(option) ?? [];
  const kind = name === undefined ? undefined : kindCalled(name);
  if (name !== undefined && !kind) {
    throw new StartError(`--upsert-by: unknown kind ${quote(name)}, expected one such as assets`);
  }
  return [kind, key];
}
