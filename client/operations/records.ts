/** Updates, upserts, deletes and imports records over GraphQL, and returns them with all their fields, in the form that REST gives them. */

import { received, requireKnown } from '../check.ts';
import type { Graphql } from '../graphql.ts';
import {
  type ChangePage,
  type ImportedRecords,
  type ImportInput,
  type ItemIssue,
  kinds,
  type OnInvalid,
  type RecordTypes,
  type ReferenceHandling,
  type RejectedItem,
  type UpsertOutcome,
} from '../graphql-types.ts';
import type { WriteOptions } from '../options.ts';
import { inParts, type PartOptions } from '../parts.ts';
import { isObject } from '../rest.ts';
import { type ChangesOptions, historyOf } from './changes.ts';

interface DryRunOptions extends WriteOptions {
  /** Checks everything and returns what the records would be, but stores nothing. IDs of records that it would create are not final. */
  readonly dryRun?: boolean | undefined;
}

export interface BatchOptions extends DryRunOptions, PartOptions {
  /** With `outcome`, records are returned with their IDs only: a long batch takes little memory. Default: `record`. */
  readonly returning?: 'record' | 'outcome' | undefined;
}

export interface UpsertOptions extends BatchOptions {
  /** With `SKIP`, valid items are stored although others are not valid: these are returned as `REJECTED`. Default: `FAIL`. */
  readonly onInvalid?: OnInvalid | undefined;
}

export interface DeleteOptions extends BatchOptions {
  /**
   * The handling of other records that refer to those to delete: `REFUSE`, the default, throws an error that counts
   * them; `CLEAR` sets these references to null.
   */
  readonly references?: ReferenceHandling | undefined;
}

export interface Upserted<Stored> {
  readonly record: Stored;
  readonly outcome: Exclude<UpsertOutcome, 'REJECTED'>;
}

/** An invalid item that was skipped, and why. */
export interface Rejected {
  readonly record: null;
  readonly outcome: 'REJECTED';
  readonly issues: readonly ItemIssue[];
}

type Returned<Stored, Options> = Options extends { readonly returning: 'outcome' } ? { readonly id: string } : Stored;

type UpsertResult<Stored, Options> =
  | Upserted<Returned<Stored, Options>>
  | (Options extends { readonly onInvalid: 'SKIP' } ? Rejected : never);

/** One result for each item sent: a tuple if their number is known when the program is compiled. */
type Each<Batch extends readonly unknown[], Result> = { -readonly [Index in keyof Batch]: Result };

type KindName = keyof RecordTypes;

export type UpdateBatch<Kind extends KindName> = <
  const Batch extends readonly unknown[],
  const Options extends BatchOptions = BatchOptions,
>(
  items: { readonly [Index in keyof Batch]: RecordTypes[Kind]['patch'] },
  options?: Options,
) => Promise<Each<Batch, Returned<RecordTypes[Kind]['stored'], Options>>>;

/** The operations on records of a kind that exist only in GraphQL. Each batch is stored completely or not at all. */
export interface Writes<Kind extends KindName> {
  /** Changes records. Absent fields stay unchanged, null clears a field, and `externalIds` is replaced as a whole. */
  readonly update: UpdateBatch<Kind>;
  /**
   * Changes the records that match by the key, and creates the others. `externalIds` is replaced as a whole, but an upsert by an external
   * ID keeps those of other systems.
   */
  readonly upsert: <const Batch extends readonly unknown[], const Options extends UpsertOptions = UpsertOptions>(
    by: RecordTypes[Kind]['key'],
    items: { readonly [Index in keyof Batch]: RecordTypes[Kind]['upsert'] },
    options?: Options,
  ) => Promise<Each<Batch, UpsertResult<RecordTypes[Kind]['stored'], Options>>>;
  /** Deletes records, by their IDs or by a key such as `{ by: { externalId: 'erp' }, keys: ['4711'] }`, and returns them as they were. */
  readonly delete: <const Options extends DeleteOptions = DeleteOptions>(
    which: readonly string[] | { readonly by: RecordTypes[Kind]['key']; readonly keys: readonly string[] },
    options?: Options,
  ) => Promise<Returned<RecordTypes[Kind]['stored'], Options>[]>;
  /** The changes of a record, the latest first, page by page, also after it was deleted. */
  readonly history: (id: string, options?: Pick<ChangesOptions, 'after' | 'pageSize'>) => AsyncGenerator<ChangePage>;
}

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

type Row = Readonly<Record<string, unknown>>;

export function writes<Kind extends KindName>(graphql: Graphql, name: Kind): Writes<Kind> {
  const { plural, fields } = kinds[name];
  const stored = storedAs(name);

  async function mutate<Result>(
    { method, list, items, args = {}, result = (selected) => selected }: Mutation,
    { dryRun = false, returning = 'record', ...options }: BatchOptions,
  ): Promise<Result[]> {
    if (!Array.isArray(items)) {
      const what = { input: 'items', ids: 'IDs', keys: 'keys' }[list];
      throw new TypeError(`${method}: expected an array of ${what}, received ${received(items)}`);
    }
    const input = method === 'update' ? `${name}Patch` : `Upsert${name}Input`;
    const types = { input: `[${input}!]!`, ids: '[ID!]!', keys: '[String!]!' };
    const all = Object.entries({ ...args, [list]: [types[list], items], dryRun: ['Boolean!', dryRun] });
    const declared = all.map(([arg, [type]]) => `$${arg}: ${type}`).join(', ');
    const passed = all.map(([arg]) => `${arg}: $${arg}`).join(', ');
    const variables = Object.fromEntries(all.map(([arg, [, value]]) => [arg, value]));
    const field = method + plural;
    const document = `mutation (${declared}) { ${field}(${passed}) { ${result(returning === 'outcome' ? 'id' : fields)} } }`;
    return inParts(method, items, options, async (part, partOptions) => {
      return (await graphql(document, { ...variables, [list]: part }, partOptions))[field];
    });
  }

  const writesOfKind: Writes<KindName> = {
    async update(items, options = {} as never) {
      const updated = await mutate<Row>({ method: 'update', list: 'input', items }, options);
      return updated.map(stored) as never;
    },
    async upsert(by, items, options = {} as never) {
      const { onInvalid = 'FAIL', ...others } = options as UpsertOptions;
      const args = {
        by: [`${name}Key!`, by],
        ...(onInvalid !== 'FAIL' && { onInvalid: ['OnInvalid!', onInvalid] as const }),
      } as const;
      const issues = onInvalid === 'FAIL' ? '' : ' issues { path message }';
      const result = (record: string) => `outcome record { ${record} }${issues}`;
      const upserted = await mutate<Result>({ method: 'upsert', list: 'input', items, args, result }, others);
      return upserted.map(({ record, outcome, issues }) =>
        record ? { record: stored(record), outcome } : { record, outcome, issues },
      ) as never;
    },
    async delete(which, options = {} as never) {
      const { references = 'REFUSE', ...others } = options as DeleteOptions;
      const args = { references: ['ReferenceHandling!', references] } as const;
      const deleted = await mutate<Row>(
        isObject(which)
          ? { method: 'delete', list: 'keys', items: which.keys, args: { by: [`${name}Key!`, which.by], ...args } }
          : { method: 'delete', list: 'ids', items: which, args },
        others,
      );
      return deleted.map(stored) as never;
    },
    history: historyOf(graphql),
  };
  // The methods check nothing themselves: the service knows which fields a kind has.
  return writesOfKind as never;
}

interface Result {
  readonly record: Row | null;
  readonly outcome: UpsertOutcome;
  readonly issues?: readonly ItemIssue[];
}

interface Mutation {
  readonly method: 'update' | 'upsert' | 'delete';
  readonly list: 'input' | 'ids' | 'keys';
  readonly items: readonly unknown[];
  readonly args?: Readonly<Record<string, readonly [type: string, value: unknown]>>;
  /** Returns what to select, given the fields of a record. */
  readonly result?: (record: string) => string;
}

export function importRecords(graphql: Graphql): ImportRecords {
  return async (input, { dryRun = false, onInvalid = 'FAIL', ...options }: ImportRecordsOptions = {}) => {
    if (!isObject(input))
      throw new TypeError(`importRecords: expected an object of lists, received ${received(input)}`);
    requireKnown('importRecords', options);
    const lists = kindNames.filter((name) => Array.isArray(input[kinds[name].list]));
    const selected = lists.map((name) => `${kinds[name].list} { ${kinds[name].fields} }`).join(' ');
    const skips = onInvalid !== 'FAIL';
    const data = await graphql(
      `mutation ($input: ImportInput!, $dryRun: Boolean!${skips ? ', $onInvalid: OnInvalid!' : ''}) {
        importRecords(input: $input, dryRun: $dryRun${skips ? ', onInvalid: $onInvalid' : ''}) {
          __typename ${selected}${skips ? ' rejected { list index issues { path message } }' : ''}
        }
      }`,
      { input, dryRun, ...(skips && { onInvalid }) },
      options,
    );
    const imported = kindNames.map((name) => {
      const { list } = kinds[name];
      const records: readonly Row[] = data.importRecords[list] ?? [];
      return [list, records.map(storedAs(name))];
    });
    const rejected = skips && { rejected: data.importRecords.rejected };
    return { ...Object.fromEntries(imported), ...rejected } as never;
  };
}

const kindNames = Object.keys(kinds) as KindName[];

/** The fields that are links to users in GraphQL, and their IDs over REST. */
const users: ReadonlySet<string> = new Set(['createdBy', 'updatedBy']);

/** GraphQL has null for every field without a value; REST omits it in most kinds, and so do the types of the OpenAPI document. */
const storedAs =
  (name: KindName) =>
  (row: Row): Row => {
    const isKept = kinds[name].unset === 'null' ? () => true : (value: unknown) => value !== null;
    return Object.fromEntries(
      Object.entries(row).flatMap(([field, value]) => {
        if (!isKept(value)) return [];
        return [[field, users.has(field) && isObject(value) ? value.id : value]];
      }),
    );
  };
