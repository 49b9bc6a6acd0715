/** Queries for records of a workspace: lists, pages and summaries, as plain values. Knows no SQL. */
import { linkField } from '../../model/labels.ts';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';

export interface RecordQuery {
  readonly where?: Condition | undefined;
  /** Records without a value come last in either direction; ties are broken by the ID, in the last direction. If absent, any order. */
  readonly orderBy?: readonly RecordOrder[];
  /** Reads from the end: the last records of the order, which come last first. */
  readonly fromEnd?: boolean;
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
  readonly limit?: number;
  /** The stored fields to read, and values of linked records by their names in the order; if absent, all. */
  readonly fields?: ReadonlySet<string> | undefined;
}

export interface RecordOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
  /** The links from the record to the one whose field it is. Records without that come last, like those without a value. */
  readonly links?: readonly OrderLink[];
}

interface OrderLink {
  /** `projectId` */
  readonly reference: string;
  readonly target: RecordKind;
}

/** Returns the name under which a record has the value: `name`, or `project.name` for a value of a linked record. */
export const orderName = ({ links = [], field }: RecordOrder): string =>
  [...links.map(({ reference }) => linkField(reference)), field].join('.');

/** The place of a record in an order, whether it is still stored or not. */
export interface Position {
  /** The record's values of the fields of the order, except the ID. */
  readonly values: readonly (ScalarValue | null)[];
  readonly id: string;
}

export const positionOfId = (id: string): Position => ({ values: [], id });

/** A query for the records behind a reverse link, for each of many parents. */
export interface PagesQuery extends RecordQuery {
  /** If absent, no records are read. */
  readonly limit?: number;
  /** True to count the records of each parent that match `where`, on all its pages. */
  readonly withCount: boolean;
}

/** Groups of records that have the same values, the largest group first, then by their values. */
export interface SummaryQuery {
  readonly where?: Condition | undefined;
  /** At least one. */
  readonly groupBy: readonly Grouping[];
  /** The canonical name of the zone whose months and days these are; UTC unless set. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** The fields, times or numbers, of which the least and the greatest values are read, of each group and of all records. */
  readonly min: readonly string[];
  readonly max: readonly string[];
}

export interface Grouping {
  readonly field: string;
  readonly by: 'value' | 'month' | 'day';
}

export interface Summary extends Bounds {
  readonly totalCount: number;
  /** The groups, each with one value per grouping. One more than the limit shows that there are others. */
  readonly groups: readonly (Bounds & { readonly count: number; readonly values: readonly (ScalarValue | null)[] })[];
}

/** Values by the names of the fields; null where no record has one. */
export interface Bounds {
  readonly min: Readonly<Record<string, ScalarValue | null>>;
  readonly max: Readonly<Record<string, ScalarValue | null>>;
}

/** IDs sort by the time of creation. */
export const oldestFirst: readonly RecordOrder[] = [{ field: 'id', direction: 'asc' }];

/** True or false, never unknown: a comparison with a field that is not set is false, and `not` the exact opposite of what it contains. */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | Comparison
  | { readonly field: string; readonly isSet: boolean }
  /** External IDs have this key, with this value unless any will do. */
  | { readonly field: string; readonly key: string; readonly value?: string | undefined }
  /** The fields `latitude` and `longitude` are at most this far from a point, on a sphere of the Earth's mean radius. */
  | { readonly near: { readonly latitude: number; readonly longitude: number; readonly withinKm: number } }
  | { readonly link: string; readonly target: Table; readonly matches: Condition }
  | { readonly reverse: ReverseLink; readonly quantifier: 'some' | 'none' | 'every'; readonly matches: Condition };

/** Text is compared by its code points. Values are in the form that records have. */
export type Comparison = { readonly field: string } & (
  | { readonly in: readonly ScalarValue[]; readonly ignoreCase?: boolean }
  | { readonly compare: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: ScalarValue }
  | { readonly text: 'contains' | 'startsWith' | 'endsWith'; readonly value: string; readonly ignoreCase?: boolean }
);

export type ScalarValue = string | number | boolean;
