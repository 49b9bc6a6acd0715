/** Conditions on records, as a tree. Knows no SQL: conditions.ts makes it. */
import type { Table } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';

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
  | { readonly in: readonly Value[]; readonly ignoreCase?: boolean }
  | { readonly compare: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: Value }
  | { readonly text: 'contains' | 'startsWith' | 'endsWith'; readonly value: string; readonly ignoreCase?: boolean }
);

export type Value = string | number | boolean;
