/** What the steps of an import share: its service, its files, its state, how it reads rows in parts, and how it sends them. */

import { randomUUID } from 'node:crypto';
import {
  GraphqlError,
  type ImportOptions,
  type ImportResult,
  type ImportRow,
  type Yardgraph,
} from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { constantCase, listField } from '../model/labels.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
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
import { newRefusedName } from './refused.ts';
import { kindCalled, plain, type Row } from './rows.ts';
import type { Counts, Names, Progress, State } from './state.ts';

type UpsertKey = { readonly field: string } | { readonly externalId: string };

export interface Import {
  readonly yardgraph: Yardgraph;
  readonly state: State;
  readonly files: readonly ImportFile[];
  readonly options: FileOptions;
  /** The keys by which rows are upserted, by their kind; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, UpsertKey>;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

export const noCounts: Counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };

export async function identityOf(files: readonly ImportFile[], how: object): Promise<string> {
  const hashes: string[] = [];
  for (const file of files) hashes.push(`${file.name} ${file.kind?.name} ${await hashOf(file)}`);
  return JSON.stringify([hashes, how]);
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

export const sectionsOf = ({ files }: Pick<Import, 'files'>, { sections }: Progress): Section[] =>
  sections.flatMap(([at, kind]) => files.slice(at, at + 1).map((file) => ({ file, kind: kindNamed(kind) })));

const maxPartLength = 4_000_000;

/**
 * Yields the rows of a section, but the first ones, in parts. The next part is read while one is sent. Throws an Interrupted if the file has
 * changed.
 */
export function partsIn(
  { options, partSize }: Pick<Import, 'options' | 'partSize'>,
  { file, kind }: Section,
  skipped = 0,
): AsyncGenerator<readonly Row[]> {
  async function* rows() {
    let seen = 0;
    for await (const row of readRows(file, options)) if (row.kind === kind && ++seen > skipped) yield row;
  }
  async function* parts() {
    for await (const part of partsOf(rows(), partSize)) {
      requireUnchanged(file);
      yield part;
    }
  }
  return oneAhead(parts());
}

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

interface Item {
  readonly row: Row;
  readonly record: Readonly<Record<string, unknown>>;
}

export type Result<I extends Item> = ImportResult<I & ImportRow>;

/**
 * Returns what became of each item, in their order. Undefined if the service rejects the part as a whole, because of one row or of its
 * size; if it is one item, that is refused.
 */
export async function sendPart<I extends Item>(
  { yardgraph, upsertKeys, partSize }: Pick<Import, 'yardgraph' | 'upsertKeys' | 'partSize'>,
  kind: RecordKind,
  items: readonly I[],
  options: Pick<ImportOptions, 'dryRun' | 'idempotencyKey'>,
): Promise<Result<I>[] | undefined> {
  const by = upsertKeys.get(kind);
  // The casts are safe: the service checks the records, and the keys are those of the kind.
  const rows = items.map((item) => ({ ...item, kind: kind.name })) as object[] as (I & ImportRow)[];
  const upsertBy = (by && { [kind.name]: by }) as never;
  try {
    const results: Result<I>[] = [];
    for await (const result of yardgraph.import(rows, { ...options, partSize, upsertBy }))
      results.push(withLines(result, items));
    return results;
  } catch (error) {
    const [row, ...others] = rows;
    if (isKeyReused(error) && others.length > 0) return undefined;
    // JSON throws a RangeError for what is nested too deeply.
    if (!isRejected(error) && !(error instanceof RangeError)) throw error;
    if (!row || others.length > 0) return undefined;
    const message = error instanceof RangeError ? 'nested too deeply to be sent' : error.message;
    return [{ row, outcome: 'REJECTED', issues: [{ path: [], message }] }];
  }
}

/** True if the service rejects what was sent, or how much that is, and has done nothing. */
export const isRejected = (error: unknown): error is GraphqlError =>
  error instanceof GraphqlError &&
  !error.mayBeStored &&
  error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');

/** True if a half of the part was stored with its key, before the import was interrupted. */
const isKeyReused = (error: unknown): boolean =>
  error instanceof GraphqlError &&
  error.errors.every(({ extensions }) => extensions?.type === 'urn:yardgraph:idempotency-key-reused');

/** Names other rows by their lines in the file, where the service names them by their places in the batch. */
function withLines<I extends Item>(result: Result<I>, items: readonly I[]): Result<I> {
  if (result.outcome !== 'REJECTED') return result;
  const issues = result.issues.map(({ path, message }) => {
    const place = /^item \[(\d+)\] of this batch/.exec(message);
    const line = items[Number(place?.[1])]?.row.line;
    return { path, message: place && line !== undefined ? message.replace(place[0], `line ${line}`) : message };
  });
  return { ...result, issues };
}

export function added(counts: Counts, results: readonly { readonly outcome: string }[], refused: number): Counts {
  const number = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
  return {
    created: counts.created + number('CREATED'),
    updated: counts.updated + number('UPDATED'),
    unchanged: counts.unchanged + number('UNCHANGED'),
    refused: counts.refused + refused,
  };
}

/** The word in place of a key for a kind whose rows are all created. */
const create = 'create';

/**
 * Returns the keys by kind. Each option is a key for all kinds, `externalIds.erp`, or for one, `projects=reference`. Throws a StartError
 * unless there is none, or one for each kind.
 */
export function upsertKeysOf(kinds: readonly RecordKind[], options: readonly string[]): Map<RecordKind, UpsertKey> {
  const keys = new Map<RecordKind, UpsertKey>();
  if (options.length === 0) return keys;
  const named = new Map(options.map((option) => splitOption(option)));
  for (const kind of kinds) {
    const name = named.get(kind) ?? named.get(undefined) ?? '';
    if (name === create) continue;
    const key = keyOf(kind, name);
    if (!key) {
      const known = [...matchableFields(kind), ...(kind.fields.externalIds ? ['externalIds.erp'] : []), create];
      const choices = known.map((choice) => `--upsert-by ${listField(kind)}=${choice}`).join(', or ');
      throw new StartError(
        name === ''
          ? `--upsert-by: say how ${kind.pluralLabel} are found: ${choices}`
          : `--upsert-by: ${kind.pluralLabel} cannot be found by ${quote(name)}: expected ${choices}`,
      );
    }
    keys.set(kind, key);
  }
  return keys;
}

function splitOption(option: string): [RecordKind | undefined, string] {
  const at = option.indexOf('=');
  const [kindName, key] = [option.slice(0, Math.max(0, at)), option.slice(at + 1)];
  // The name of a system may have the character, too: `externalIds.a=b`.
  if (at < 0 || kindName.includes('.')) return [undefined, option];
  const kind = kindCalled(kindName);
  if (!kind) throw new StartError(`--upsert-by: unknown kind ${quote(kindName)}, expected one such as assets`);
  return [kind, key];
}

function keyOf(kind: RecordKind, name: string): UpsertKey | undefined {
  const externalId = /^external ?ids?\.(.+)$/is.exec(name)?.[1];
  if (externalId !== undefined && kind.fields.externalIds) return { externalId };
  const field = matchableFields(kind).find((candidate) => plain(candidate) === plain(name));
  return field === undefined ? undefined : { field: constantCase(field) };
}
