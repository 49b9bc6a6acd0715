/** What the steps of an import share: its service, its files, its state, and how it reads rows in parts. */
import { randomUUID } from 'node:crypto';
import type { Yardgraph } from '../../client/index.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed } from '../records/index.ts';
import {
  type FileOptions,
  hashOf,
  type ImportFile,
  inLinkOrder,
  readRows,
  requireUnchanged,
  type Section,
} from './files.ts';
import { isTarget } from './links.ts';
import type { Counts, Names, Progress } from './progress.ts';
import { newRefusedName } from './refused.ts';
import type { Row } from './row.ts';
import type { State } from './state.ts';

export type UpsertKey = { readonly field: string } | { readonly externalId: string };

export interface Import {
  readonly yardgraph: Yardgraph;
  readonly state: State;
  readonly files: readonly ImportFile[];
  readonly options: FileOptions;
  /** The keys by which rows are upserted, by their kind; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, UpsertKey>;
  /** The most rows of a part. */
  readonly partSize: number;
  /** Ends the import after the part that is being sent. */
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

export const noCounts: Counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };

/** Returns what identifies an import: the same files, read and sent in the same way. */
export async function identityOf(files: readonly ImportFile[], way: object): Promise<string> {
  const hashes: string[] = [];
  for (const file of files) hashes.push(`${file.name} ${file.kind?.name} ${await hashOf(file)}`);
  return JSON.stringify([hashes, way]);
}

/**
 * Reads all files once, and notes how many rows they have, and to which of them links may lead. Throws a StartError for a file that cannot
 * be read to its end, and for an unknown column.
 */
export async function scan(
  { state, files, options }: Pick<Import, 'state' | 'files' | 'options'>,
  identity: string,
): Promise<Progress> {
  const sections = new Map<string, Section>();
  let total = 0;
  for (const file of files) {
    for await (const rows of partsOf(readRows(file, options), 1_000)) {
      total += rows.length;
      for (const { kind } of rows) sections.set(JSON.stringify([file.path, kind.name]), { file, kind });
      await state.expectRows(namesOf(rows));
    }
  }
  const progress: Progress = {
    run: randomUUID().slice(0, 8),
    identity,
    sections: inLinkOrder([...sections.values()]).map(({ file, kind }) => [files.indexOf(file), kind.name]),
    total,
    section: 0,
    rows: 0,
    since: Date.now(),
    counts: noCounts,
    refused: files.map((file) => ({ name: newRefusedName(file), bytes: 0 })),
  };
  await state.advance(progress);
  return progress;
}

/** Returns the IDs and the external IDs by which links may lead to these rows. */
export function namesOf(rows: readonly Row[]): Names {
  const targets = rows.filter(({ kind }) => isTarget(kind));
  return {
    ids: targets.flatMap(({ kind, id }) => (id === undefined ? [] : [{ kind: kind.name, id }])),
    outside: targets.flatMap(({ kind, fields: { externalIds } }) =>
      Object.entries(externalIds ?? {}).flatMap(([key, value]) =>
        typeof value === 'string' ? [[kind.name, key, value] as const] : [],
      ),
    ),
  };
}

/** Returns the sections of the import, in the order in which they are written. */
export const sectionsOf = ({ files }: Pick<Import, 'files'>, { sections }: Progress): Section[] =>
  // The cast is safe: a state belongs to the same files, in the same order.
  sections.map(([file, kind]) => ({ file: files[file] as ImportFile, kind: kindNamed(kind) }));

/** The most characters of the rows of a part together. */
const maxPartLength = 4_000_000;

/** Yields the rows of a section, but the first ones, in parts. The next part is read while one is sent. */
export const partsIn = (
  work: Pick<Import, 'options' | 'partSize'>,
  section: Section,
  skipped = 0,
): AsyncGenerator<readonly Row[]> => oneAhead(readParts(work, section, skipped));

/** Throws an Interrupted if the file has changed. */
async function* readParts(
  { options, partSize }: Pick<Import, 'options' | 'partSize'>,
  { file, kind }: Section,
  skipped: number,
): AsyncGenerator<readonly Row[]> {
  async function* rows() {
    let seen = 0;
    for await (const row of readRows(file, options)) if (row.kind === kind && ++seen > skipped) yield row;
  }
  for await (const part of partsOf(rows(), partSize)) {
    requireUnchanged(file);
    yield part;
  }
}

/** Begins to make the next item before it yields one. */
async function* oneAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = items.next();
      // An error is thrown when its item is due, or not at all if nobody asks for it.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await items.return(undefined);
  }
}

async function* partsOf<R extends Row>(rows: AsyncIterable<R>, partSize: number): AsyncGenerator<readonly R[]> {
  let part: R[] = [];
  let length = 0;
  for await (const row of rows) {
    const size = lengthOf(row);
    if (part.length === partSize || (part.length > 0 && length + size > maxPartLength)) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(row);
    length += size;
  }
  if (part.length > 0) yield part;
}

const lengthOf = ({ source }: Row): number =>
  typeof source === 'string' ? source.length : source.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
