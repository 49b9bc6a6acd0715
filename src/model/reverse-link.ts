/** A reference followed backwards: from its target to the records that refer to it. Derived from the declarations. */
import type { RecordKind } from './record-kind.ts';

export interface ReverseLink {
  /** The field of the target: `ownedAssets` */
  readonly name: string;
  /** The target of the reference: the name of a record kind, or of a type that is kept in another system. */
  readonly target: string;
  /** The kind whose records refer to the target, or for ancestors the target itself. */
  readonly kind: RecordKind;
  /** The reference: `ownerId` */
  readonly field: string;
  /** The records that refer to the target; or, in a tree of one kind, the records up to the root. */
  readonly direction: 'referring' | 'ancestors';
}
