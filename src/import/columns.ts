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
 * `Current location ID`. It throws a StartError for unknown columns.
 */
export function columnFinder(kind: RecordKind, { map, skip }: ColumnOptions): (name: string) => Column {
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
    if (skip.has(name) || name.trim() === '') return { is: 'skipped' };
    const column = find(map.get(name) ?? name.trim());
    if (column) return column;
    const hint = suggestion(map.get(name) ?? name, Object.keys(kind.fields));
    throw new StartError(
      `unknown column ${quote(name)}${hint}: map it to a field of ${kind.pluralLabel} with --map ${quote(`${name}=…`)}, or leave it out with --skip ${quote(name)}`,
    );
  };
}

/** Returns `currentlocationid` for `Current location ID`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

/** Returns the kind with this name, in the singular or plural, in any case: `Work orders`, `WORK_ORDER`, `workOrders`. */
export const kindCalled = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(plain).includes(plain(name)));
