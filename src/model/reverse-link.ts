/** A reference followed backwards, from its target. */
import type { RecordKind } from './record-kind.ts';

export interface ReverseLink {
  /** The field of the target: `ownedAssets` */
  readonly name: string;
  /** The name of a record kind, or of a type in another system. */
  readonly target: string;
  readonly kind: RecordKind;
  readonly field: string;
  /**
   * `referring` records refer to the target, `ancestors` are those of a tree up to the root, and `clashing` records
   * occupy the same record as the target, at an overlapping time.
   */
  readonly direction: 'referring' | 'ancestors' | 'clashing';
}
