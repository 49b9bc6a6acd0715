/** A row of a file on its way: as it was read, as what its cells mean, and as what has become of it. */
import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import type { Issue } from '../model/issues.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';

/** A row as it stands in the file. */
export interface SourceRow {
  /** The line of the file at which it begins, from 1. */
  readonly line: number;
  /** The one that it says: the kind of the file is that of all other rows. */
  readonly kind?: RecordKind | undefined;
  /** The names of the columns: the same array for all rows of a table. */
  readonly names: readonly string[];
  /** By name. A row that ends early has fewer. */
  readonly cells: readonly Cell[];
  /** Why it cannot be read, such as quotes that do not add up: it is refused, with `text` as it stands. */
  readonly problem?: string | undefined;
  readonly text: string;
}

/**
 * Null for an empty cell; an empty text where it is quoted (`""`), unless the program quotes all cells. Values of JSON are as they are,
 * numbers with the digits as they are written.
 */
export type Cell = string | null | boolean | LosslessNumber | object;

/** The text of a cell, with all digits of a number; undefined for other values of JSON. */
export function textOf(cell: unknown): string | undefined {
  if (isLosslessNumber(cell)) return cell.value;
  return typeof cell === 'string' ? cell : undefined;
}

/** A row as a record of its kind. Fields that it does not say are absent; null clears one. */
export interface RecordRow {
  readonly kind: RecordKind;
  readonly source: SourceRow;
  /** What the column `id` says: a name for the row, or the ID of a stored record. */
  readonly id?: string | undefined;
  /** Without references, and without the external IDs that have columns of their own. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** External IDs that have columns of their own: each is set, or cleared by null, and leaves the others as they are. */
  readonly externalIds: Readonly<Record<string, string | null>>;
  readonly links: readonly RowLink[];
  readonly issues: readonly Issue[];
  /** Among the rows of its kind in its file. */
  readonly place: number;
}

/** What a cell says of a link: `locationId`, `location`, `location.externalIds.erp`, `location.name`. */
export interface RowLink {
  /** `location` */
  readonly name: string;
  /** `locationId` */
  readonly field: string;
  readonly target: RecordKind;
  /** `id`, a field of the target such as `name`, or `externalIds.erp`. */
  readonly by: string;
  /** Null clears the link. */
  readonly value: string | null;
  /** The place in `source.cells`. */
  readonly cell: number;
}

/** All cells of a row that say one link. */
export type LinkCells = readonly [RowLink, ...RowLink[]];

/** A row with its links, to be sent unless it has issues. */
export interface LinkedRow {
  readonly row: RecordRow;
  readonly record: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
  /** Links to rows that are stored later: they are set at the end. */
  readonly late: readonly LinkCells[];
  /** The fields of links that a preview leaves out, because they lead to records that would be created. */
  readonly unsent: ReadonlySet<string>;
}

/** What has become of a row, or would become of it. */
export interface Fate {
  readonly outcome: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REJECTED';
  readonly id?: string | undefined;
  readonly issues?: readonly Issue[] | undefined;
  /** Of a preview: the record as it is, and as it would be. */
  readonly before?: Values | undefined;
  readonly after?: Values | undefined;
}

export type SentRow = LinkedRow & Fate;

/** `erp` of `externalIds.erp`, which is what a link says by, or a key of upserts. */
export const externalKey = (by: string): string | undefined =>
  by.startsWith('externalIds.') ? by.slice('externalIds.'.length) : undefined;

/** Where a row says this: `['externalIds', 'sap.de']` for `externalIds.sap.de`. */
export function pathOf(meaning: string): string[] {
  const key = externalKey(meaning);
  return key === undefined ? meaning.split('.') : ['externalIds', key];
}

/** What a record has where a link or a column says `by`. */
export function valueAt(record: Values | undefined, by: string): unknown {
  const key = externalKey(by);
  return key === undefined ? record?.[by] : (record?.externalIds as Values | undefined)?.[key];
}

/** What `row` says of itself where a link says `by`. */
export function nameOf({ id, fields, externalIds }: RecordRow, by: string): string | undefined {
  if (by === 'id') return id;
  const key = externalKey(by);
  const name = (key === undefined ? undefined : externalIds[key]) ?? valueAt(fields, by);
  return typeof name === 'string' ? name : undefined;
}

/** Something that is allowed, and probably wrong. */
export interface Warning {
  readonly line: number;
  readonly column: string;
  /** The same for all warnings of a sort, which are counted together. */
  readonly message: string;
  /** What it is about, such as the value, quoted. */
  readonly detail?: string;
}
