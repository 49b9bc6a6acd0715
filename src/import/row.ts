/** A row on its way: as it stands in the file, as the record that its cells describe, and what became of it. */
import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import type { RecordKind, Values } from '../model/record-kind.ts';
import type { ImportFile } from './file.ts';

/** A row as it stands in the file. */
export interface SourceRow {
  /** The line of the file at which it begins, from 1. */
  readonly line: number;
  /** The kind that the row names: the kind of the file is that of all other rows. */
  readonly kind?: RecordKind | undefined;
  /** The names of the columns: the same array for all rows of a table. */
  readonly names: readonly string[];
  /** By name. A row that ends early has fewer. */
  readonly cells: readonly Cell[];
  /** Why the row cannot be read, such as quotes that do not add up: it is refused, with `text` as it stands. */
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

/** Why a row is refused: the service adds a code, and the path of another item that the issue is about. */
export interface RowIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly code?: string;
  readonly other?: readonly (string | number)[] | null;
}

/** A row as a record of its kind. Fields without a cell are absent; null clears one. */
export interface RecordRow {
  readonly kind: RecordKind;
  readonly source: SourceRow;
  /** The column `id`: a name for the row, or the ID of a stored record. */
  readonly id?: string | undefined;
  /** Without references, and without the external IDs that have columns of their own. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** External IDs that have columns of their own: each is set, or cleared by null, and leaves the others as they are. */
  readonly externalIds: Readonly<Record<string, string | null>>;
  readonly links: readonly LinkCell[];
  readonly issues: readonly RowIssue[];
}

/** A row of an import, with its place among the rows of its kind in its file. */
export interface FileRow extends RecordRow {
  readonly file: ImportFile;
  readonly place: number;
}

/** A cell of a link: `locationId`, `location`, `location.externalIds.erp`, `location.name`. */
export interface LinkCell {
  /** `location` */
  readonly name: string;
  /** `locationId` */
  readonly field: string;
  readonly target: RecordKind;
  /** `id`, `any` (an ID or a name), a field of the target such as `name`, or `externalIds.erp`. */
  readonly by: string;
  /** Null clears the link. */
  readonly value: string | null;
  /** The place in `source.cells`. */
  readonly cell: number;
}

export type Outcome = 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REJECTED';

/** What became of a row, or would become of it. */
export interface RowOutcome {
  readonly row: FileRow;
  readonly outcome: Outcome;
  readonly issues: readonly RowIssue[];
  readonly id?: string | undefined;
  /** In a preview: the record as it is, and as it would be. */
  readonly before?: Values | undefined;
  readonly after?: Values | undefined;
  /** Links that a preview leaves out, because an earlier part would create or change the record that they lead to. */
  readonly unchecked: ReadonlySet<string>;
  /** Cells with IDs that are kept as those of another system. */
  readonly foreign: readonly LinkCell[];
}

/** `erp` of `externalIds.erp`, which is how a link or an upsert names an external ID. */
export const externalKey = (by: string): string | undefined =>
  by.startsWith('externalIds.') ? by.slice('externalIds.'.length) : undefined;

/** The path of a column in the item: `['externalIds', 'sap.de']` for `externalIds.sap.de`. */
export function pathOf(meaning: string): string[] {
  const key = externalKey(meaning);
  return key === undefined ? meaning.split('.') : ['externalIds', key];
}

/** What a record has by a key of links or upserts. */
export function valueAt(record: Values | undefined, by: string): unknown {
  const key = externalKey(by);
  return key === undefined ? record?.[by] : (record?.externalIds as Values | undefined)?.[key];
}

/** What the cells of a row say by a key of links or upserts. */
export function textAt({ id, fields, externalIds }: RecordRow, by: string): string | undefined {
  if (by === 'id') return id;
  const key = externalKey(by);
  const text = (key === undefined ? undefined : externalIds[key]) ?? valueAt(fields, by);
  return typeof text === 'string' ? text : undefined;
}

/** A part of a text keeps the whole piece of the file in memory. */
export const copied = (text: string): string => JSON.parse(JSON.stringify(text));

/** Something that is allowed, and probably wrong. */
export interface Warning {
  readonly line: number;
  readonly column: string;
  /** The same for all warnings of a sort, which are counted together. */
  readonly message: string;
  /** What it is about, such as the value, quoted. */
  readonly detail?: string;
}
