/** Imports records of several kinds: as one mutation, or any number of rows in parts, each one mutation that skips invalid rows. */
import type { Graphql } from './graphql.ts';
import {
  type ImportedRecords,
  type ImportInput,
  type ItemIssue,
  kinds,
  type OnInvalid,
  type RecordTypes,
  type RejectedItem,
  type UpsertOutcome,
} from './graphql-types.ts';
import { requireInteger, requireKnown, type WriteOptions } from './options.ts';
import { optionsOfPart } from './parts.ts';
import { batches, type DryRunOptions, type KindName, storedAs } from './records.ts';

export interface ImportRecordsOptions extends DryRunOptions {
  /** With `SKIP`, valid records are stored although others are not valid: these are listed as `rejected`. Default: `FAIL`. */
  readonly onInvalid?: OnInvalid | undefined;
}

export type ImportRecords = <const Options extends ImportRecordsOptions = ImportRecordsOptions>(
  input: ImportInput,
  options?: Options,
) => Promise<
  ImportedRecords &
    (Options extends { readonly onInvalid: 'SKIP' } ? { readonly rejected: readonly RejectedItem[] } : unknown)
>;

const kindNames = Object.keys(kinds) as KindName[];

export const importRecords =
  (graphql: Graphql): ImportRecords =>
  async (input, options = {} as never) => {
    const { rejected, ...data } = await send(graphql, { ...input }, options, (name) => kinds[name].fields);
    const imported = kindNames.map((name) => [kinds[name].list, (data[kinds[name].list] ?? []).map(storedAs(name))]);
    return { ...Object.fromEntries(imported), ...(rejected && { rejected }) } as never;
  };

/** What the mutation returns: the records of each list, and what was skipped. */
type Imported = Partial<Record<string, { readonly id: string }[]>> & { readonly rejected?: readonly RejectedItem[] };

async function send(
  graphql: Graphql,
  input: Readonly<Record<string, unknown>>,
  { dryRun = false, onInvalid = 'FAIL', ...options }: ImportRecordsOptions,
  fieldsOf: (name: KindName) => string,
): Promise<Imported> {
  requireKnown('importRecords', options);
  const sent = kindNames.filter((name) => Array.isArray(input[kinds[name].list]));
  const selected = sent.map((name) => `${kinds[name].list} { ${fieldsOf(name)} }`).join(' ');
  const rejected = onInvalid === 'FAIL' ? '' : 'rejected { list index issues { path message code other } }';
  const document = `mutation ($input: ImportInput!, $dryRun: Boolean!, $onInvalid: OnInvalid!) {
    importRecords(input: $input, dryRun: $dryRun, onInvalid: $onInvalid) { __typename ${selected} ${rejected} }
  }`;
  return (await graphql(document, { input, dryRun, onInvalid }, options)).importRecords;
}

/** A record to import: `{ kind: 'Asset', record: { name: 'Crane' } }`. It may have links, and a `ref` if its kind is created. */
export type ImportRow = {
  readonly [Kind in KindName]: {
    readonly kind: Kind;
    readonly record: RecordTypes[Kind]['upsert'] | NonNullable<ImportInput[(typeof kinds)[Kind]['list']]>[number];
  };
}[KindName];

/** What became of a row. Rejected rows were not stored. */
export type ImportResult<Row> =
  | { readonly row: Row; readonly outcome: Exclude<UpsertOutcome, 'REJECTED'>; readonly id: string }
  | { readonly row: Row; readonly outcome: 'REJECTED'; readonly issues: readonly ItemIssue[] };

export interface ImportOptions extends WriteOptions {
  /** The keys by which rows are upserted, by their kind: `{ Asset: { externalId: 'erp' } }`. Rows of other kinds are created. */
  readonly upsertBy?: { readonly [Kind in KindName]?: RecordTypes[Kind]['key'] } | undefined;
  /** The most rows that are sent, and held in memory, at a time. Default: 1,000. */
  readonly partSize?: number | undefined;
  /** Checks each part and returns what would become of its rows, but stores nothing. No part finds the rows of earlier ones. */
  readonly dryRun?: boolean | undefined;
}

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/**
 * Imports rows, and yields what became of each, in the order sent. The valid rows of a part are stored together; the others are yielded as
 * `REJECTED`, with their issues. An error ends the iteration: the rows that were yielded before it are stored. With an
 * `idempotencyKey` of your own, the same call with the same rows may be made again, and stores only what is missing.
 */
export type ImportRows = <Row extends ImportRow>(
  rows: Rows<Row>,
  options?: ImportOptions,
) => AsyncGenerator<ImportResult<Row>, void, undefined>;

export const importRows = (graphql: Graphql): ImportRows =>
  async function* (rows, { upsertBy = {}, partSize = 1_000, dryRun, ...options } = {}) {
    requireKnown('import', options);
    requireInteger('partSize', partSize, 1);
    let start = 0;
    for await (const { kind, part } of partsOf(rows, partSize, upsertBy)) {
      const own = { dryRun, ...optionsOfPart(options, start) };
      yield* kind ? await upsertPart(graphql, kind, part, upsertBy[kind], own) : await createPart(graphql, part, own);
      start += part.length;
    }
  };

/** Rows that are created are sent together, whatever their kinds; a part that is upserted has one kind. */
async function* partsOf<Row extends ImportRow>(
  rows: Rows<Row>,
  partSize: number,
  upsertBy: NonNullable<ImportOptions['upsertBy']>,
): AsyncGenerator<{ readonly kind: KindName | undefined; readonly part: readonly Row[] }> {
  let part: Row[] = [];
  let kind: KindName | undefined;
  for await (const row of rows) {
    const next = upsertBy[row.kind] && row.kind;
    if (part.length === partSize || (part.length > 0 && next !== kind)) {
      yield { kind, part };
      part = [];
    }
    kind = next;
    part.push(row);
  }
  if (part.length > 0) yield { kind, part };
}

async function upsertPart<Row extends ImportRow>(
  graphql: Graphql,
  kind: KindName,
  part: readonly Row[],
  by: unknown,
  options: DryRunOptions,
): Promise<ImportResult<Row>[]> {
  const records = part.map(({ record }) => record);
  const all = { ...options, onInvalid: 'SKIP', returning: 'outcome' } as const;
  // The casts are safe: all rows of the part have this kind, and the key is that of the kind.
  const results = await batches(graphql, kind).upsert(by as never, records as never, all);
  return part.map((row, index): ImportResult<Row> => {
    const result = results[index] as (typeof results)[number];
    return result.outcome === 'REJECTED'
      ? { row, outcome: result.outcome, issues: result.issues }
      : { row, outcome: result.outcome, id: result.record.id };
  });
}

async function createPart<Row extends ImportRow>(
  graphql: Graphql,
  part: readonly Row[],
  options: DryRunOptions,
): Promise<ImportResult<Row>[]> {
  const input: Record<string, object[]> = {};
  const places = part.map(({ kind, record }) => {
    const { list } = kinds[kind];
    input[list] ??= [];
    return { list, index: input[list].push(record) - 1 };
  });
  const { rejected = [], ...created } = await send(graphql, input, { ...options, onInvalid: 'SKIP' }, () => 'id');
  const issuesOf = new Map(rejected.map(({ list, index, issues }) => [`${list}.${index}`, issues]));
  return part.map((row, n): ImportResult<Row> => {
    const { list, index } = places[n] as (typeof places)[number];
    const issues = issuesOf.get(`${list}.${index}`);
    if (issues) return { row, outcome: 'REJECTED', issues };
    // The created records of a list are in the order of its rows.
    return { row, outcome: 'CREATED', id: created[list]?.shift()?.id ?? '' };
  });
}
