/** Queries as plain data, without SQL. */
import { isSorted, type StoredField } from '../../model/fields.ts';
import { linkField } from '../../model/labels.ts';
import type { Point } from '../../model/places.ts';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';

export interface RecordQuery {
  readonly where?: Condition | undefined;
  /** Records without a value come last. Ties are broken by ID, in the last field's direction. Any order unless set. */
  readonly orderBy?: readonly RecordOrder[];
  readonly fromEnd?: boolean;
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
  readonly limit?: number;
  /** Stored fields, and values of linked records by `orderName`. All fields unless set. */
  readonly fields?: ReadonlySet<string> | undefined;
}

export interface RecordOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
  /** Lead to the record with the field. Records without it come last. */
  readonly links?: readonly OrderLink[];
  /** The field is `distance`: how far the record is from here. */
  readonly from?: Point;
}

interface OrderLink {
  /** `projectId` */
  readonly reference: string;
  readonly target: RecordKind;
  /** The target is the label whose key has the ID after this prefix, such as `STATUS:`. */
  readonly keyPrefix?: string;
}

/** `name` or `project.name` */
export const orderName = ({ links = [], field }: RecordOrder): string =>
  [...links.map(({ reference }) => linkField(reference)), field].join('.');

const distance = { type: 'number', description: '', min: 0, max: 4 } as const;

/** A field of the table or of a linked record. A distance is the square of the chord. */
export const orderedField = (table: Table, { links, from, field }: RecordOrder): StoredField | undefined =>
  from ? distance : (links?.at(-1)?.target ?? table).storedFields[field];

/** Orders use the sort key of a field that has one. */
export function isOrderedByKey(table: Table, order: RecordOrder): boolean {
  const field = orderedField(table, order);
  return field !== undefined && isSorted(field);
}

/** A place in an order, even of a deleted record. */
export interface Position {
  /** The values of the order, without the ID. */
  readonly values: readonly (ScalarValue | null)[];
  readonly id: string;
}

export const positionOfId = (id: string): Position => ({ values: [], id });

export interface PagesQuery extends RecordQuery {
  /** No records are read unless set. */
  readonly limit?: number;
  readonly withCount: boolean;
  /** The tree of the parents: a page then has the records that refer to its parent, or to one below it. */
  readonly below?: Tree | undefined;
}

/** Groups come by size, largest first, then by value. */
export interface SummaryQuery {
  readonly where?: Condition | undefined;
  /** At least one. */
  readonly groupBy: readonly Grouping[];
  /** The zone of months and days; UTC unless set. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** Fields with times or numbers. */
  readonly min: readonly string[];
  readonly max: readonly string[];
}

export interface Grouping {
  readonly field: string;
  readonly by: 'value' | 'month' | 'day';
}

export interface RecordSummary extends Bounds {
  readonly totalCount: number;
  /** A group has one value per grouping. One group above the limit shows that there are more. */
  readonly groups: readonly (Bounds & { readonly count: number; readonly values: readonly (ScalarValue | null)[] })[];
}

/** Null if no record has a value. */
export interface Bounds {
  readonly min: Readonly<Record<string, ScalarValue | null>>;
  readonly max: Readonly<Record<string, ScalarValue | null>>;
}

/** IDs sort by the time of creation. */
export const oldestFirst: readonly RecordOrder[] = [{ field: 'id', direction: 'asc' }];

/** A kind, and the field with the ID of a record's parent. */
export type Tree = Pick<ReverseLink, 'kind' | 'field'>;

/** Never unknown: a comparison with an unset field is false, and `not` is the exact opposite. */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | ValueComparison
  | AlikeComparison
  | { readonly field: string; readonly isSet: boolean }
  /** External IDs have this key, with this value if set. */
  | { readonly field: string; readonly key: string; readonly value?: string | undefined }
  /** On a sphere of the Earth's mean radius. */
  | { readonly near: { readonly latitude: number; readonly longitude: number; readonly withinKm: number } }
  /** The record has a start, and its time overlaps `from` to `to`. Without an end or `to`, a time is open. */
  | { readonly during: { readonly from: string; readonly to?: string | undefined } }
  /** The record with this ID, and all below it. Resolved to their IDs before it becomes SQL. */
  | { readonly within: string; readonly tree: Tree }
  /** With a prefix, the record is a label: see `OrderLink`. */
  | { readonly link: string; readonly target: Table; readonly matches: Condition; readonly keyPrefix?: string }
  | { readonly reverse: ReverseLink; readonly quantifier: 'some' | 'none' | 'every'; readonly matches: Condition };

/** Text is compared by code points. Values are as in records. */
export type ValueComparison = { readonly field: string } & (
  | { readonly in: readonly ScalarValue[]; readonly ignoreCase?: boolean }
  | { readonly compare: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: ScalarValue }
  | { readonly text: 'contains' | 'startsWith' | 'endsWith'; readonly value: string; readonly ignoreCase?: boolean }
);

/** By the sort keys of a field that has them. */
export interface AlikeComparison {
  readonly field: string;
  readonly alike: 'all' | 'startsWith' | 'contains';
  readonly value: string;
}

export type ScalarValue = string | number | boolean;
