/** What the columns of a file are, derived from the declaration of its kind: fields, external IDs, and links by external IDs. */
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { linkField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { suggestion } from '../model/schemas.ts';
import { recordKinds } from '../records/index.ts';

export type Column =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'externalId'; readonly key: string }
  /** An external ID of the record that a link leads to: `project.externalIds.erp`. */
  | { readonly is: 'link'; readonly name: string; readonly key: string }
  /** Names the row: links of other rows may have it. */
  | { readonly is: 'id' }
  /** No row may have a value below an empty name. */
  | { readonly is: 'unnamed' }
  | { readonly is: 'skipped' };

export interface ColumnOptions {
  /** Names of fields, by the columns that have another name. */
  readonly map: ReadonlyMap<string, string>;
  /** The columns to leave out. */
  readonly skip: ReadonlySet<string>;
}

/** The column of a file of refused rows that has the reasons. An import of that file leaves it out. */
export const reasonColumn = 'refused because';

/**
 * Returns a function that finds the column with a name, which may be the name of a field in any case, with or without spaces:
 * `Current location ID`. Returns undefined for an unknown column.
 */
export function columnFinder(kind: RecordKind, { map, skip }: ColumnOptions): (name: string) => Column | undefined {
  const fields = new Map<string, string>();
  for (const name of Object.keys(kind.fields)) {
    fields.set(plain(linkField(name)), name);
    fields.set(plain(name), name);
  }
  const links = new Map(linkFields(kind).map(([link]) => [plain(link), link]));
  const ofService = new Set(Object.keys(kind.storedFields).map(plain));

  const find = (name: string): Column | undefined => {
    const [first = '', second = '', ...rest] = name.split('.');
    const key = rest.join('.');
    if (plain(first) === 'externalids' && kind.fields.externalIds && second !== '') {
      return { is: 'externalId', key: [second, ...rest].join('.') };
    }
    const link = links.get(plain(first));
    if (link !== undefined && plain(second) === 'externalids' && key !== '') return { is: 'link', name: link, key };
    const field = fields.get(plain(name));
    if (field !== undefined) return { is: 'field', name: field };
    if (plain(name) === 'id') return { is: 'id' };
    return ofService.has(plain(name)) || name === reasonColumn ? { is: 'skipped' } : undefined;
  };

  return (name) => {
    if (skip.has(name)) return { is: 'skipped' };
    return name.trim() === '' ? { is: 'unnamed' } : find(map.get(name) ?? name.trim());
  };
}

/** Returns the error for columns that are unknown, the first of which it takes as an example. */
export function unknownColumns(kind: RecordKind, names: readonly string[], { map }: ColumnOptions): StartError {
  const [first = ''] = names;
  const fields = Object.keys(kind.fields);
  const listed = names.slice(0, 10).map((name) => {
    const field = map.get(name);
    return `${quote(name)}${field === undefined ? '' : `, mapped to ${quote(field)}`}${suggestion(field ?? name, fields)}`;
  });
  const others = names.length > listed.length ? `, and ${names.length - listed.length} more` : '';
  return new StartError(
    `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}${others}: map it to a field with --map ${quote(`${first}=…`)}, or leave it out with --skip ${quote(first)}. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`,
  );
}

/** Returns `currentlocationid` for `Current location ID`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

/** Returns the kind with this name, in the singular or plural, in any case: `Work orders`, `WORK_ORDER`, `workOrders`. */
export const kindCalled = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(plain).includes(plain(name)));
