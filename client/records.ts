/** Updates, upserts, deletes and imports records over GraphQL, and returns them with all their fields, in the form that REST gives them. */
import { type ChangesOptions, historyOf } from './changes.ts';
import { received } from './check.ts';
import type { Graphql } from './graphql.ts';
import {
  type ChangePage,
  type ImportedRecords,
  type ImportInput,
  kinds,
  type RecordTypes,
  type ReferenceHandling,
  type UpsertOutcome,
} from './graphql-types.ts';
import { isObject } from './rest.ts';
import type { WriteOptions } from './write-options.ts';

export interface BatchOptions extends WriteOptions {
  /** Checks everything and returns what the records would be, but stores nothing. IDs of records that it would create are not final. */
  readonly dryRun?: boolean | undefined;
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
  readonly outcome: UpsertOutcome;
}

/** One result for each item sent: a tuple if their number is known when the program is compiled. */
type Each<Batch extends readonly unknown[], Result> = { -readonly [Index in keyof Batch]: Result };

type KindName = keyof RecordTypes;

export type UpdateBatch<Kind extends KindName> = <const Batch extends readonly unknown[]>(
  items: { readonly [Index in keyof Batch]: RecordTypes[Kind]['patch'] },
  options?: BatchOptions,
) => Promise<Each<Batch, RecordTypes[Kind]['stored']>>;

/** The operations on records of a kind that exist only in GraphQL. Each batch is stored completely or not at all. */
export interface Writes<Kind extends KindName> {
  /** Changes records. Absent fields stay unchanged, null clears a field, and `externalIds` is replaced as a whole. */
  readonly update: UpdateBatch<Kind>;
  /**
   * Changes the records that match by the key, and creates the others. `externalIds` is replaced as a whole, but an upsert by an external
   * ID keeps those of other systems.
   */
  readonly upsert: <const Batch extends readonly unknown[]>(
    by: RecordTypes[Kind]['key'],
    items: { readonly [Index in keyof Batch]: RecordTypes[Kind]['upsert'] },
    options?: BatchOptions,
  ) => Promise<Each<Batch, Upserted<RecordTypes[Kind]['stored']>>>;
  /** Deletes records, and returns them as they were. */
  readonly delete: (ids: readonly string[], options?: DeleteOptions) => Promise<RecordTypes[Kind]['stored'][]>;
  /** The changes of a record, the latest first, page by page, also after it was deleted. */
  readonly history: (id: string, options?: Pick<ChangesOptions, 'after' | 'pageSize'>) => AsyncGenerator<ChangePage>;
}

export type ImportRecords = (input: ImportInput, options?: BatchOptions) => Promise<ImportedRecords>;

/** Records as GraphQL returns them. */
type Row = Readonly<Record<string, unknown>>;

export function writes<Kind extends KindName>(graphql: Graphql, name: Kind): Writes<Kind> {
  const { plural, fields } = kinds[name];
  const stored = storedAs(name);

  /** Runs the mutation of a method, with arguments of the types that are given as text, and returns its result for each item. */
  async function mutate<Result = Row>(
    method: 'update' | 'upsert' | 'delete',
    args: Readonly<Record<string, readonly [type: string, value: unknown]>>,
    { dryRun = false, ...options }: BatchOptions,
    selected: string = fields,
  ): Promise<Result[]> {
    const { input, ids } = args;
    if (input) requireArray(method, 'items', input[1]);
    if (ids) requireArray(method, 'IDs', ids[1]);
    requireKnown(method, options);
    const all = Object.entries({ ...args, dryRun: ['Boolean!', dryRun] as const });
    const declared = all.map(([name, [type]]) => `$${name}: ${type}`).join(', ');
    const passed = all.map(([name]) => `${name}: $${name}`).join(', ');
    const variables = Object.fromEntries(all.map(([name, [, value]]) => [name, value]));
    const field = method + plural;
    const data = await graphql(`mutation (${declared}) { ${field}(${passed}) { ${selected} } }`, variables, options);
    return data[field] as Result[];
  }

  const writesOfKind: Writes<KindName> = {
    async update(items, options = {}) {
      return (await mutate('update', { input: [`[${name}Patch!]!`, items] }, options)).map(stored) as never;
    },
    async upsert(by, items, options = {}) {
      const results = await mutate<{ record: Row; outcome: UpsertOutcome }>(
        'upsert',
        { by: [`${name}Key!`, by], input: [`[Upsert${name}Input!]!`, items] },
        options,
        `record { ${fields} } outcome`,
      );
      return results.map(({ record, outcome }) => ({ record: stored(record), outcome })) as never;
    },
    async delete(ids, { references = 'REFUSE', ...options } = {}) {
      const args = { ids: ['[ID!]!', ids], references: ['ReferenceHandling!', references] } as const;
      return (await mutate('delete', args, options)).map(stored) as never;
    },
    history: historyOf(graphql),
  };
  // The methods check nothing themselves: the service knows which fields a kind has.
  return writesOfKind as never;
}

export function importRecords(graphql: Graphql): ImportRecords {
  return async (input, { dryRun = false, ...options } = {}) => {
    if (!isObject(input))
      throw new TypeError(`importRecords: expected an object of lists, received ${received(input)}`);
    requireKnown('importRecords', options);
    const lists = kindNames.filter((name) => Array.isArray(input[kinds[name].list]));
    const selected = lists.map((name) => `${kinds[name].list} { ${kinds[name].fields} }`).join(' ');
    const data = await graphql(
      `mutation ($input: ImportInput!, $dryRun: Boolean!) { importRecords(input: $input, dryRun: $dryRun) { ${selected || '__typename'} } }`,
      { input, dryRun },
      options,
    );
    const imported = kindNames.map((name) => {
      const { list } = kinds[name];
      const records: readonly Row[] = data.importRecords[list] ?? [];
      return [list, records.map(storedAs(name))];
    });
    return Object.fromEntries(imported) as ImportedRecords;
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

function requireArray(method: string, what: string, value: unknown): void {
  if (!Array.isArray(value))
    throw new TypeError(`${method}: expected an array of ${what}, received ${received(value)}`);
}

/** Rejects unknown options: a misspelt `dryRun` would write. `options` are those that the method has not read. */
function requireKnown(method: string, options: WriteOptions): void {
  const unknown = Object.keys(options).find((name) => name !== 'idempotencyKey' && name !== 'changeMessage');
  if (unknown !== undefined) throw new TypeError(`${method}: unknown option ${unknown.slice(0, 100)}`);
}
