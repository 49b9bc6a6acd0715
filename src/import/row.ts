import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import type { RecordKind, Values } from '../model/record-kind.ts';
import type { ImportFile } from './file.ts';

export interface SourceRow {
  /** The line of the file at which the row begins, from 1. */
  readonly line: number;
  /** Unset where the file decides. */
  readonly kind?: RecordKind | undefined;
  /** The names of the columns: the same array for all rows of a table. */
  readonly names: readonly string[];
  readonly cells: readonly Cell[];
  /** Why the row cannot be read, such as an unclosed quote: it is refused, and written back as `text`. */
  readonly problem?: string | undefined;
  readonly text: string;
}

/**
 * Null for an empty cell, '' for a quoted empty one (`""`) unless the program quotes all. JSON values keep their type,
 * and numbers their digits.
 */
export type Cell = string | null | boolean | LosslessNumber | object;

/** With all digits of a number; undefined for other JSON values. */
export function cellText(cell: unknown): string | undefined {
  if (isLosslessNumber(cell)) return cell.value;
  return typeof cell === 'string' ? cell : undefined;
}

/** Why a row is refused. The service adds a code, and the path of the other item involved. */
export interface RowIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly code?: string;
  readonly other?: readonly (string | number)[] | null;
  /** Options of the command that help. */
  readonly help?: string;
  /** The name of a stored record that is probably meant. */
  readonly alike?: string;
  /** The kind of the record that the unknown name lacks. */
  readonly creatable?: RecordKind;
}

/** A row as a record of its kind. A field without a cell is absent; null clears a field. */
export interface RecordRow {
  readonly kind: RecordKind;
  readonly source: SourceRow;
  /** The column `id`: the name of the row in this import, or the ID of a stored record. */
  readonly id?: string | undefined;
  /** All fields but references, and external IDs that have their own columns. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields whose texts are names of labels, or `any`: names or IDs. */
  readonly named?: Readonly<Record<string, 'any' | 'name'>> | undefined;
  /** External IDs in their own columns: a text sets one, null clears it, others stay. */
  readonly externalIds: Readonly<Record<string, string | null>>;
  readonly links: readonly LinkCell[];
  readonly issues: readonly RowIssue[];
}

export interface FileRow extends RecordRow {
  readonly file: ImportFile;
  readonly place: number;
  /** The keys of labels to create for unknown names. */
  readonly newLabels?: readonly string[];
}

/** The same in each pass over the same files. */
export const placeOf = (files: readonly unknown[], { file, kind, place }: Pick<FileRow, 'file' | 'kind' | 'place'>) =>
  `${files.indexOf(file)} ${kind.name} ${place}`;

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
  /** The ID, or the key of a label, beside a name that decides. */
  readonly beside?: string | null | undefined;
  readonly cell: number;
}

export type Outcome = 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REJECTED';

export interface RowOutcome {
  readonly row: FileRow;
  readonly outcome: Outcome;
  readonly issues: readonly RowIssue[];
  readonly id?: string | undefined;
  /** In a preview: the record before and after the import. */
  readonly before?: Values | undefined;
  readonly after?: Values | undefined;
  /** The record was changed after the row was written, which changes it. */
  readonly isOlder?: boolean;
  /** Link fields that a preview leaves out: an earlier part would create or change their target. */
  readonly unchecked: ReadonlySet<string>;
  /** Cells whose IDs are stored as IDs of another system. */
  readonly foreign: readonly LinkCell[];
}

/** `erp` for `externalIds.erp`, the form in which links and upserts name an external ID. */
export const externalSystem = (by: string): string | undefined =>
  by.startsWith('externalIds.') ? by.slice('externalIds.'.length) : undefined;

/** The path in the item: `['externalIds', 'sap.de']` for `externalIds.sap.de`. */
export function columnPath(key: string): string[] {
  const system = externalSystem(key);
  return system === undefined ? key.split('.') : ['externalIds', system];
}

export function keyValue(record: Values | undefined, by: string): unknown {
  const system = externalSystem(by);
  return system === undefined ? record?.[by] : (record?.externalIds as Values | undefined)?.[system];
}

/** The text that a row sets for a key of links or upserts. */
export function rowKeyText({ id, fields, externalIds }: RecordRow, by: string): string | undefined {
  if (by === 'id') return id;
  const system = externalSystem(by);
  const text = (system === undefined ? undefined : externalIds[system]) ?? keyValue(fields, by);
  return typeof text === 'string' ? text : undefined;
}

/** A copy: for a slice, V8 would keep the whole chunk of the file. */
export const detached = (text: string): string => JSON.parse(JSON.stringify(text));

/** Allowed, and probably a mistake unless it is a fact. The explorer asks about the row in place of some. */
export interface Warning {
  readonly isFact?: boolean;
  readonly isAsked?: boolean;
  readonly line: number;
  readonly column: string;
  readonly message: string;
  /** The value concerned, quoted. */
  readonly detail?: string;
}
