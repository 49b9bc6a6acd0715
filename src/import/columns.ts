/** A column is never guessed: an unknown column is refused, or left out by name. */
import { StartError } from '../errors.ts';
import type { Field } from '../model/fields.ts';
import { expected, quote } from '../model/issues.ts';
import { linkField, listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { suggestion } from '../model/schemas.ts';
import { kindNamed, label, labelledFields, recordKinds } from '../records/index.ts';

export type Column =
  /** `status` takes the name of a label, too; `statusId` only the ID. */
  | { readonly is: 'field'; readonly name: string; readonly field: Field; readonly isNamed?: boolean }
  | { readonly is: 'externalId'; readonly key: string }
  /**
   * `by` is `id` for a column named after the field, `any` (an ID or a name) for one named after the link, or a field
   * or an external ID of the target: `externalIds.erp`.
   */
  | {
      readonly is: 'link';
      readonly name: string;
      readonly field: string;
      readonly target: RecordKind;
      readonly by: string;
    }
  /** The name of the row, or the ID of a stored record. Beside the type of a label, the ID in the other system. */
  | { readonly is: 'id' }
  /** The type that a label is for. With `id`, it is the key of the label. */
  | { readonly is: 'labelledType' }
  /** A column without a name may have no values. */
  | { readonly is: 'unnamed' }
  | { readonly is: 'skipped' };

export interface ColumnOptions {
  /** By name in the file: the column here, or null to leave it out. */
  readonly map: ReadonlyMap<string, string | null>;
  readonly skipsOthers: boolean;
  /** The key in columns named after a link: `location` -> `name`. */
  readonly linkBy: ReadonlyMap<string, string>;
}

/** In a file of refused rows. An import leaves it out. */
export const reasonColumn = 'refused because';

/** Marks a reason: in a row with too many cells, this column may hold another cell. */
export const reasonMark = 'refused: ';

/** `currentlocationid` for `Current location ID`. */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

export const parseKindName = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(normalizeName).includes(normalizeName(name)));

const columnsByKind = new Map(recordKinds.map((kind) => [kind, new Map(listColumns(kind))]));

function* listColumns(kind: RecordKind): Generator<readonly [string, Column]> {
  const labelled = labelledFields(kind);
  const names = labelled.flatMap(({ field, nameColumn }) => [`${linkField(field)}Id`, nameColumn]);
  for (const name of [...Object.keys(kind.storedFields), ...names, 'kind', reasonColumn])
    yield [normalizeName(name), { is: 'skipped' }];
  yield ['id', { is: 'id' }];
  if (kind === label) yield ['type', { is: 'labelledType' }];
  for (const [name, field] of Object.entries(kind.fields)) {
    const { nameColumn } = labelled.find((labelledField) => labelledField.field === name) ?? {};
    for (const called of nameColumn ? [linkField(name), nameColumn] : [])
      yield [normalizeName(called), { is: 'field', name, field, isNamed: true }];
    yield [normalizeName(name), { is: 'field', name, field }];
  }
  const links = linkFields(kind);
  for (const [name, field, { target: targetName }] of links) {
    const target = kindNamed(targetName);
    const link = { is: 'link', name, field, target } as const;
    // An asset has one location, so `location` is its current one. The parent of a category is not its category.
    const isOnly = target !== kind && links.filter(([, , other]) => other.target === targetName).length === 1;
    const keys = ['name', ...matchableFields(target)].filter((key) => key in target.fields);
    for (const called of isOnly ? [name, targetName] : [name]) {
      for (const by of ['id', ...keys]) yield [normalizeName(`${called}.${by}`), { ...link, by }];
      yield [normalizeName(called), { ...link, by: 'any' }];
    }
    yield [normalizeName(field), { ...link, by: 'id' }];
  }
}

/** Ignores case; undefined for an unknown name. */
function findColumn(kind: RecordKind, name: string): Column | undefined {
  const known = columnsByKind.get(kind);
  // `externalIds.erp` of the record itself, or `location.External ID.erp`.
  const parts = name.split('.');
  const at = parts.slice(0, 2).findIndex((part) => /^externalids?$/.test(normalizeName(part)));
  const key = parts.slice(at + 1).join('.');
  if (at < 0 || key === '') return known?.get(normalizeName(name));
  if (at === 0) return kind.fields.externalIds && { is: 'externalId', key };
  const link = known?.get(normalizeName(parts[0] ?? ''));
  const hasIds = link?.is === 'link' && link.target.fields.externalIds;
  return hasIds ? { ...link, by: `externalIds.${key}` } : undefined;
}

/** Parses `--link-by location=name`. Throws a StartError for an unknown link or key. */
export function parseLinkBy(given: Readonly<Record<string, string>>): ColumnOptions['linkBy'] {
  for (const [link, by] of Object.entries(given)) {
    if (recordKinds.some((kind) => findColumn(kind, `${link}.${by}`)?.is === 'link')) continue;
    const form = 'a link and what its records are found by, such as location=name or project=externalIds.erp';
    throw new StartError(`--link-by: ${expected(form, `${link}=${by}`)}`);
  }
  return new Map(Object.entries(given));
}

export function createColumnFinder(kind: RecordKind, options: ColumnOptions): (name: string) => Column | undefined {
  const namesByLink = new Map<string, string>();
  for (const [link, by] of options.linkBy) {
    const column = findColumn(kind, link);
    if (column?.is === 'link') namesByLink.set(column.field, `${link}.${by}`);
  }
  return (name) => {
    const to = mappedName(name, options);
    if (to === null) return { is: 'skipped' };
    const known = to ?? name.trim();
    if (known === '') return { is: 'unnamed' };
    const column = findColumn(kind, known);
    const keyed = column?.is === 'link' && column.by === 'any' ? namesByLink.get(column.field) : undefined;
    return keyed === undefined ? column : findColumn(kind, keyed);
  };
}

/** The same for two columns of one value: `name`, `externalIds.erp`, `location.name`. */
export function columnKey(column: Column): string {
  if (column.is === 'externalId') return `externalIds.${column.key}`;
  if (column.is === 'link' && column.by === 'id') return column.field;
  if (column.is === 'link') return column.by === 'any' ? column.name : `${column.name}.${column.by}`;
  if (column.is === 'labelledType') return 'key';
  if (column.is === 'field' && column.isNamed) return linkField(column.name);
  return column.is === 'field' ? column.name : column.is;
}

export function columnFields(column: Column): string[] {
  if (column.is === 'externalId') return ['externalIds'];
  if (column.is === 'link') return [column.field];
  if (column.is === 'labelledType') return ['key'];
  return column.is === 'field' ? [column.name] : [];
}

export const keepsWhiteSpace = (column: Column): boolean =>
  column.is === 'field' ? ['text', 'foreignReference'].includes(column.field.type) : column.is !== 'unnamed';

/** Named after a link, a column takes names, and IDs unless another column has them. */
function besideIds(column: Column, others: readonly (Column | undefined)[]): Column {
  const isNamed = column.is === 'field' ? column.isNamed : column.is === 'link' && column.by === 'any';
  const [field] = columnFields(column);
  if (!isNamed || !others.some((other) => other && columnKey(other) === field) || field === undefined) return column;
  return { target: label, ...column, is: 'link', name: linkField(field), field, by: 'name' };
}

/** Problems are repeated columns, and unknown ones that may not be left out. */
export function matchColumns(kind: RecordKind, names: readonly string[], options: ColumnOptions) {
  const found = names.map(createColumnFinder(kind, options));
  const columns = found.map((column): Column => (column ? besideIds(column, found) : { is: 'skipped' }));
  const problems: string[] = [];
  const seen = new Map<string, string>();
  const oneExternalId = names.find((_, index) => columns[index]?.is === 'externalId');
  for (const [index, column] of columns.entries()) {
    if (column.is === 'skipped' || column.is === 'unnamed') continue;
    const name = names[index] ?? '';
    const meaning = columnKey(column);
    // A column of all external IDs may contradict a column of one.
    const other = seen.get(meaning) ?? (meaning === 'externalIds' ? oneExternalId : undefined);
    if (other !== undefined) {
      const fix = other === name ? 'rename one in the first line' : `leave one out with --skip ${quote(name)}`;
      problems.push(`the columns ${quote(other)} and ${quote(name)} mean the same: ${fix}`);
    }
    seen.set(meaning, name);
  }
  const leftOut = names.filter((_, index) => !found[index]);
  // A mapped column is wanted.
  const refused = leftOut.filter((name) => mappedName(name, options) !== undefined || !options.skipsOthers);
  if (refused.length > 0) problems.push(unknownColumns(kind, refused, options));
  return { columns, leftOut, problem: problems.join('; ') };
}

function mappedName(name: string, { map }: ColumnOptions): string | null | undefined {
  const to = map.get(name);
  return to === undefined ? map.get(name.trim()) : to;
}

function unknownColumns(kind: RecordKind, names: readonly string[], options: ColumnOptions): string {
  const fields = Object.keys(kind.fields);
  const listed = names.slice(0, 10).map((name) => {
    const to = mappedName(name, options);
    return `${quote(name)}${to ? `, mapped to ${quote(to)}` : ''}${suggestion(to ?? name, fields)}`;
  });
  if (names.length > listed.length) listed.push(`and ${names.length - listed.length} more`);
  const first = names[0] ?? '';
  return `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}: map it to a field with --map ${quote(`${first}=…`)}, leave it out with --skip ${quote(first)}, or leave out all unknown columns with --skip-others. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`;
}

/**
 * Parses `--upsert-by`: returns by kind the column that finds stored records. An option is a key for all kinds
 * (`externalIds.erp`) or for one (`projects=reference`), or `projects=create`. With any option, every kind needs a key,
 * except labels: a second file can rename them.
 */
export function parseUpsertKeys(kinds: readonly RecordKind[], options: readonly string[]) {
  const named = new Map(options.map(splitOption));
  const keys = new Map<RecordKind, string>();
  const problems: string[] = [];
  for (const kind of new Set(kinds)) {
    const name = named.get(kind) ?? named.get(undefined) ?? '';
    if (name === 'create') continue;
    const choices = [...matchableFields(kind), ...(kind.fields.externalIds ? ['externalIds.erp'] : []), 'id', 'create'];
    const column = findColumn(kind, name);
    const key = column && column.is !== 'labelledType' && columnKey(column);
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
  // The name of a system may contain `=`: `externalIds.a=b`.
  const [, name, key = option] = /^([^.=]*)=(.*)$/s.exec(option) ?? [];
  const kind = name === undefined ? undefined : parseKindName(name);
  if (name !== undefined && !kind) {
    throw new StartError(`--upsert-by: unknown kind ${quote(name)}, expected one such as assets`);
  }
  return [kind, key];
}
