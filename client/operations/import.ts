/** Imports any number of rows: in parts, each sent as one batch of which the valid rows are stored. */
import { requireInteger, requireKnown } from '../check.ts';
import type { Graphql } from '../graphql.ts';
import {
  type ImportInput,
  type ItemIssue,
  kinds,
  type RecordTypes,
  type RejectedItem,
  type UpsertOutcome,
} from '../graphql-types.ts';
import type { WriteOptions } from '../options.ts';
import { writes } from './records.ts';

type KindName = keyof RecordTypes;

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

/**
 * Imports rows, and yields what became of each, in the order sent. The valid rows of a part are stored together; the others are yielded as
 * `REJECTED`, with their issues. An error ends the iteration: the rows that were yielded before it are stored. With an
 * `idempotencyKey` of your own, the same call with the same rows may be made again, and stores only what is missing.
 */
export type ImportRows = <Row extends ImportRow>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options?: ImportOptions,
) => AsyncGenerator<ImportResult<Row>, void, undefined>;

export const importRows = (graphql: Graphql): ImportRows =>
  async function* (rows, { upsertBy = {}, partSize = 1_000, dryRun, idempotencyKey, ...others } = {}) {
    requireKnown('import', others);
    const options = { ...others, dryRun };
    requireInteger('import', 'partSize', partSize, 1, Number.MAX_SAFE_INTEGER);
    let start = 0;
    for await (const part of partsOf(rows, partSize, (kind) => upsertBy[kind] !== undefined)) {
      // Each part is a separate request, and needs its own key.
      const key = idempotencyKey === undefined ? {} : { idempotencyKey: `${idempotencyKey}-${start}` };
      const by = upsertBy[part[0].kind];
      yield* by
        ? await upsertPart(graphql, part, by, { ...options, ...key })
        : await createPart(graphql, part, { ...options, ...key });
      start += part.length;
    }
  };

type Part<Row> = readonly [Row, ...Row[]];
type PartOptions = Omit<ImportOptions, 'upsertBy' | 'partSize'>;

/** Rows that are created are sent together, whatever their kinds; an upsert has one kind. */
async function* partsOf<Row extends ImportRow>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  partSize: number,
  isUpserted: (kind: KindName) => boolean,
): AsyncGenerator<Part<Row>> {
  let part: Row[] = [];
  const group = ({ kind }: Row) => (isUpserted(kind) ? kind : undefined);
  for await (const row of rows) {
    const [first] = part;
    if (first && (part.length === partSize || group(first) !== group(row))) {
      yield [first, ...part.slice(1)];
      part = [];
    }
    part.push(row);
  }
  const [first, ...others] = part;
  if (first) yield [first, ...others];
}

async function upsertPart<Row extends ImportRow>(
  graphql: Graphql,
  part: Part<Row>,
  by: object,
  options: PartOptions,
): Promise<ImportResult<Row>[]> {
  const { upsert } = writes(graphql, part[0].kind);
  const records = part.map(({ record }) => record);
  const all = { ...options, onInvalid: 'SKIP', returning: 'outcome' } as const;
  // The casts are safe: all rows of a part that is upserted have the same kind, and the key is that of the kind.
  const results = await upsert(by as never, records as never, all);
  return part.map((row, index): ImportResult<Row> => {
    const result = results[index] as (typeof results)[number];
    return result.outcome === 'REJECTED'
      ? { row, outcome: result.outcome, issues: result.issues }
      : { row, outcome: result.outcome, id: result.record.id };
  });
}

const lists = Object.values(kinds).map(({ list }) => list);

const document = `mutation ($input: ImportInput!, $dryRun: Boolean!) {
  importRecords(input: $input, dryRun: $dryRun, onInvalid: SKIP) {
    ${lists.map((list) => `${list} { id }`).join(' ')} rejected { list index issues { path message } }
  }
}`;

async function createPart<Row extends ImportRow>(
  graphql: Graphql,
  part: Part<Row>,
  { dryRun = false, ...options }: PartOptions,
): Promise<ImportResult<Row>[]> {
  const input: Record<string, object[]> = {};
  for (const { kind, record } of part) {
    const { list } = kinds[kind];
    const records = input[list];
    if (records) records.push(record);
    else input[list] = [record];
  }
  const { importRecords } = await graphql(document, { input, dryRun }, options);
  const rejected = new Map<string, RejectedItem['issues']>();
  for (const { list, index, issues } of importRecords.rejected) rejected.set(`${list}.${index}`, issues);
  const created = Object.fromEntries(lists.map((list) => [list, importRecords[list].values()]));
  const sent: Record<string, number> = {};
  return part.map((row): ImportResult<Row> => {
    const { list } = kinds[row.kind];
    const index = sent[list] ?? 0;
    sent[list] = index + 1;
    const issues = rejected.get(`${list}.${index}`);
    return issues
      ? { row, outcome: 'REJECTED', issues }
      : { row, outcome: 'CREATED', id: created[list].next().value.id };
  });
}
