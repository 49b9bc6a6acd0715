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
   * The records that refer to the target; in a tree, the records up to the root; or the records that occupy what the
   * target occupies, at a time that they share.
   */
  readonly direction: 'referring' | 'ancestors' | 'clashing';
}
