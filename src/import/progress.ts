/** What an import has done, as its state keeps it. */

export interface Progress {
  /** Identifies the import in the idempotency keys of its parts, and in its change message. */
  readonly run: string;
  /** The hashes of the files, and everything else that decides what is sent. */
  readonly identity: string;
  /** The kinds in the files, in the order in which they are written: the place of a file among the files, and the name of a kind. */
  readonly sections: readonly (readonly [file: number, kind: string])[];
  /** The number of rows in all files. */
  readonly total: number;
  /** The cursor of the last change before the first write. */
  readonly after?: string;
  /** The section that is being written, and the number of its rows that are done. */
  readonly section: number;
  readonly rows: number;
  /** When the next part was first sent, in milliseconds: the service knows its idempotency key for 24 hours. */
  readonly since: number;
  readonly counts: Counts;
  /** The files of refused rows, one for each file: their names, which nothing had before the import, and their lengths in bytes. */
  readonly refused: readonly RefusedFile[];
}

export interface RefusedFile {
  readonly name: string;
  readonly bytes: number;
}

export interface Counts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: number;
}

export interface RowId {
  readonly kind: string;
  readonly id: string;
}

/** An external ID that a row has. */
type OutsideId = readonly [kind: string, key: string, value: string];

/** The IDs and the external IDs by which links may lead to rows. */
export interface Names {
  readonly ids: readonly RowId[];
  readonly outside: readonly OutsideId[];
}

/** A link that could not be set, since its target comes later. */
export interface LateLink {
  readonly kind: string;
  readonly record: string;
  readonly field: string;
  readonly target: string;
  /** The ID in the file of the row that it leads to. */
  readonly id: string;
}

/** A link that could not be set, because the row that it leads to was refused, or the service refused the link. */
export interface UnsetLink extends LateLink {
  readonly message: string;
}
