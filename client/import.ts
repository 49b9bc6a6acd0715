import type { Graphql } from './graphql.ts';
import {
  type ImportedRecords,
  type ImportInput,
  type ImportKeys,
  type ItemIssue,
  kinds,
  type OnInvalid,
  type RecordTypes,
  type RejectedItem,
  type UpsertOutcome,
} from './graphql-types.ts';
import { requireInteger, requireKnown, type WriteOptions } from './options.ts';
import { optionsOfPart } from './parts.ts';
import { type ClashOptions, type DryRunOptions, issueFields, type KindName, storedAs } from './records.ts';

export interface ImportRecordsOptions extends DryRunOptions, ClashOptions {
  /** The keys to upsert records by: `{ assets: { field: 'UID' } }`. Other kinds are created. */
  readonly by?: ImportKeys | undefined;
  /** `SKIP` stores the valid records and returns the others as `rejected`. Default: `FAIL`, which stores none. */
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
  async (input, { by, dryRun = false, onInvalid = 'FAIL', onClash, ...options } = {} as never) => {
    requireKnown('importRecords', options);
    const sentKinds = kindNames.filter((name) => Array.isArray(input[kinds[name].list]));
    const records = sentKinds.map((name) => `${kinds[name].list} { ${kinds[name].fields} }`).join(' ');
    const skipped = onInvalid === 'FAIL' ? '' : `rejected { list index ${issueFields} }`;
    const variables = { input, by, dryRun, onInvalid, onClash };
    const { rejected, ...data } = await sendImport(graphql, `${records} ${skipped}`, variables, options);
    const imported = kindNames.map((name) => [kinds[name].list, (data[kinds[name].list] ?? []).map(storedAs(name))]);
    return { ...Object.fromEntries(imported), ...(rejected && { rejected }) } as never;
  };

async function sendImport(graphql: Graphql, selection: string, variables: ClashOptions, options: WriteOptions) {
  // A service of version 0.3.0 does not know the argument.
  const [declared, passed] = variables.onClash ? [', $onClash: OnClash!', ', onClash: $onClash'] : ['', ''];
  const document = `mutation ($input: ImportInput!, $by: ImportKeys, $dryRun: Boolean!, $onInvalid: OnInvalid!${declared}) {
    importRecords(input: $input, by: $by, dryRun: $dryRun, onInvalid: $onInvalid${passed}) { __typename ${selection} }
  }`;
  return (await graphql(document, variables, options)).importRecords;
}

/**
 * A record to import: `{ kind: 'Asset', record: { name: 'Crane' } }`. It may have links, and a `ref` for links from
 * rows of its part.
 */
export type ImportRow = {
  readonly [Kind in KindName]: {
    readonly kind: Kind;
    readonly record: NonNullable<ImportInput[(typeof kinds)[Kind]['list']]>[number];
  };
}[KindName];

export type ImportResult<Row> =
  | { readonly row: Row; readonly outcome: Exclude<UpsertOutcome, 'REJECTED'>; readonly id: string }
  | { readonly row: Row; readonly outcome: 'REJECTED'; readonly issues: readonly ItemIssue[] };

export interface ImportOptions extends WriteOptions, ClashOptions {
  /** The keys to upsert rows by: `{ Asset: { externalId: 'erp' } }`. Other kinds are created. */
  readonly upsertBy?: { readonly [Kind in KindName]?: RecordTypes[Kind]['key'] } | undefined;
  /** Rows sent, and held in memory, at a time. Default: 1,000. */
  readonly partSize?: number | undefined;
  /** Returns the outcomes, but stores nothing. A part does not find the rows of earlier parts. */
  readonly dryRun?: boolean | undefined;
}

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/**
 * Imports rows, and yields their outcomes in the order sent. The valid rows of a part are stored together, of all
 * kinds; invalid rows are yielded as `REJECTED`, with their issues. An error ends the iteration: the rows yielded
 * before it are stored. With an `idempotencyKey`, you can repeat the call with the same rows: it stores only the
 * missing parts.
 */
export type ImportRows = <Row extends ImportRow>(
  rows: Rows<Row>,
  options?: ImportOptions,
) => AsyncGenerator<ImportResult<Row>, void, undefined>;

export const importRows = (graphql: Graphql): ImportRows =>
  async function* (rows, { upsertBy = {}, partSize = 1_000, dryRun = false, onClash, ...options } = {}) {
    requireKnown('import', options);
    requireInteger('partSize', partSize, 1);
    const by = Object.fromEntries(kindNames.map((name) => [kinds[name].list, upsertBy[name]]));
    let start = 0;
    for await (const part of splitIntoParts(rows, partSize)) {
      yield* await sendPart(graphql, part, { by, dryRun, onClash }, optionsOfPart(options, start));
      start += part.length;
    }
  };

async function* splitIntoParts<Row>(rows: Rows<Row>, partSize: number): AsyncGenerator<readonly Row[]> {
  let part: Row[] = [];
  for await (const row of rows) {
    if (part.length === partSize) {
      yield part;
      part = [];
    }
    part.push(row);
  }
  if (part.length > 0) yield part;
}

interface RowResult {
  readonly outcome: UpsertOutcome;
  readonly record: { readonly id: string } | null;
  readonly issues: readonly ItemIssue[];
}

async function sendPart<Row extends ImportRow>(
  graphql: Graphql,
  part: readonly Row[],
  variables: { readonly by: ImportKeys; readonly dryRun: boolean } & ClashOptions,
  options: WriteOptions,
): Promise<ImportResult<Row>[]> {
  const input: Record<string, object[]> = {};
  for (const { kind, record } of part) {
    const { list } = kinds[kind];
    input[list] ??= [];
    input[list].push(record);
  }
  const lists = Object.keys(input).map((list) => `${list} { outcome record { id } ${issueFields} }`);
  const all = { ...variables, input, onInvalid: 'SKIP' };
  const { results } = await sendImport(graphql, `results { ${lists.join(' ')} }`, all, options);
  const resultsByList = new Map(Object.entries<RowResult[]>(results).map(([list, ofList]) => [list, ofList.values()]));
  return part.map((row): ImportResult<Row> => {
    // Safe: each list has a result for each of its rows.
    const result = resultsByList.get(kinds[row.kind].list)?.next().value as RowResult;
    if (!result.record) return { row, outcome: 'REJECTED', issues: result.issues };
    // Safe: only rejected rows have no record.
    return { row, outcome: result.outcome as 'CREATED', id: result.record.id };
  });
}
