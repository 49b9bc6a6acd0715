/** Creates use REST, the other methods GraphQL; all return records as REST does. */
import { type ChangesOptions, historyOf } from './changes.ts';
import type { Graphql } from './graphql.ts';
import {
  type ChangePage,
  type ItemIssue,
  kinds,
  type OnClash,
  type OnInvalid,
  type RecordTypes,
  type ReferenceHandling,
  type UpsertOutcome,
} from './graphql-types.ts';
import { requireKnown, type WriteOptions } from './options.ts';
import { inParts, type PartOptions } from './parts.ts';
import { type ApiResponse, isObject, serviceError, unexpected } from './responses.ts';
import type { Send } from './send.ts';

export interface DryRunOptions extends WriteOptions {
  /** Returns the resulting records, but stores nothing. The IDs of new records are not final. */
  readonly dryRun?: boolean | undefined;
}

export interface ClashOptions {
  /**
   * `REJECT` rejects a record for an asset that another record has at the same time. Default: `STORE`, which stores
   * both.
   */
  readonly onClash?: OnClash | undefined;
}

export interface BatchOptions extends DryRunOptions, PartOptions {
  /** `outcome` returns records with their IDs only, which takes less memory. Default: `record`. */
  readonly returning?: 'record' | 'outcome' | undefined;
}

export interface UpsertOptions extends Omit<BatchOptions, 'returning'> {
  /** `change` adds `before` to the results: the record as it was, null if it was created. */
  readonly returning?: BatchOptions['returning'] | 'change';
  /** `SKIP` stores the valid items and returns the others as `REJECTED`. Default: `FAIL`, which stores none. */
  readonly onInvalid?: OnInvalid | undefined;
}

export interface DeleteOptions extends BatchOptions {
  /**
   * For records that refer to a deleted record: `REFUSE`, the default, throws an error that counts them; `CLEAR` sets
   * their references to null.
   */
  readonly references?: ReferenceHandling | undefined;
}

export interface Upserted<Stored> {
  readonly record: Stored;
  readonly outcome: Exclude<UpsertOutcome, 'REJECTED'>;
}

export interface Rejected {
  readonly record: null;
  readonly outcome: 'REJECTED';
  readonly issues: readonly ItemIssue[];
}

export type KindName = keyof RecordTypes;

type KindOptions<Kind extends KindName> = Kind extends 'Allocation' ? ClashOptions : unknown;

type Stored<Kind extends KindName, Options = unknown> = Options extends { readonly returning: 'outcome' }
  ? { readonly id: string }
  : RecordTypes[Kind]['stored'];

type UpsertResult<Kind extends KindName, Options> =
  | (Upserted<Stored<Kind, Options>> &
      (Options extends { readonly returning: 'change' } ? { readonly before: Stored<Kind> | null } : unknown))
  | (Options extends { readonly onInvalid: 'SKIP' } ? Rejected : never);

/** A batch of known length returns a tuple. `Batch` is inferred for its length only; `Item` checks the items. */
type Items<Batch extends readonly unknown[], Item> = { readonly [Index in keyof Batch]: Item };
type Each<Batch extends readonly unknown[], Result> = { -readonly [Index in keyof Batch]: Result };

/** Each batch is stored completely or not at all. */
export interface Records<Kind extends KindName> {
  /** Creates records, and returns them in the order sent. */
  readonly create: <const Batch extends readonly unknown[]>(
    records: Items<Batch, RecordTypes[Kind]['new']>,
    options?: PartOptions & KindOptions<Kind>,
  ) => Promise<Each<Batch, Stored<Kind>>>;
  /**
   * Changes records. Absent fields stay, null clears a field. `externalIds` replaces all IDs, `mergeExternalIds` the
   * given ones.
   */
  readonly update: <
    const Batch extends readonly unknown[],
    const Options extends BatchOptions & KindOptions<Kind> = BatchOptions & KindOptions<Kind>,
  >(
    items: Items<Batch, RecordTypes[Kind]['patch']>,
    options?: Options,
  ) => Promise<Each<Batch, Stored<Kind, Options>>>;
  /**
   * Changes records found by the key, and creates the others. By `{ field: 'ID' }`, items without an ID are created.
   * `externalIds` replaces all IDs, but an upsert by an external ID keeps the IDs of other systems.
   */
  readonly upsert: <
    const Batch extends readonly unknown[],
    const Options extends UpsertOptions & KindOptions<Kind> = UpsertOptions & KindOptions<Kind>,
  >(
    by: RecordTypes[Kind]['key'],
    items: Items<Batch, RecordTypes[Kind]['upsert']>,
    options?: Options,
  ) => Promise<Each<Batch, UpsertResult<Kind, Options>>>;
  /** Deletes records by ID, or by a key such as `{ by: { externalId: 'erp' }, keys: ['4711'] }`, and returns them. */
  readonly delete: <const Options extends DeleteOptions = DeleteOptions>(
    which: readonly string[] | { readonly by: RecordTypes[Kind]['key']; readonly keys: readonly string[] },
    options?: Options,
  ) => Promise<Stored<Kind, Options>[]>;
  /** Yields the changes of a record, even a deleted one, latest first, page by page. */
  readonly history: (id: string, options?: Pick<ChangesOptions, 'after' | 'pageSize'>) => AsyncGenerator<ChangePage>;
}

type Row = Readonly<Record<string, unknown>>;

export const issueFields = 'issues { path message code other }';

export type RecordMethods = { readonly [Kind in KindName as (typeof kinds)[Kind]['list']]: Records<Kind> };

export const recordMethods = (send: Send, graphql: Graphql): RecordMethods =>
  Object.fromEntries(
    (Object.keys(kinds) as KindName[]).map((name) => [kinds[name].list, methodsOf(name, send, graphql)]),
  ) as never;

/** The service checks the items: it knows the fields of each kind. */
function methodsOf(name: KindName, send: Send, graphql: Graphql) {
  const { fields, path }: { fields: string; path: string | null } = kinds[name];
  const stored = storedAs(name);
  const context = { graphql, name };

  return {
    async create(input: readonly unknown[], options: PartOptions & ClashOptions = {}) {
      if (path === null) return (await mutate<Row>(context, 'create', 'input', { input }, options)).map(stored);
      return inParts('create', input, options, (part, write) =>
        send(
          { method: 'POST', path, accept, body: part, write },
          accepted<Row[]>((body) => Array.isArray(body) && body.length === part.length),
        ),
      );
    },
    async update(input: unknown, options: BatchOptions & ClashOptions = {}) {
      return (await mutate<Row>(context, 'update', 'input', { input }, options)).map(stored);
    },
    async upsert(by: object, input: unknown, { onInvalid = 'FAIL', ...options }: UpsertOptions & ClashOptions = {}) {
      const issues = onInvalid === 'FAIL' ? '' : issueFields;
      const isChange = options.returning === 'change';
      const before = isChange ? `before { ${fields} }` : '';
      const select = (record: string) => `outcome record { ${record} } ${before} ${issues}`;
      const args = { by, input, onInvalid };
      const upserted = await mutate<(Upserted<Row> & { before?: Row }) | Rejected>(
        context,
        'upsert',
        'input',
        args,
        options,
        select,
      );
      return upserted.map((result) => {
        if (!result.record) return result;
        const { record, outcome, before = null } = result;
        return { record: stored(record), outcome, ...(isChange && { before: before && stored(before) }) };
      });
    },
    async delete(which: readonly string[] | Row, { references = 'REFUSE', ...options }: DeleteOptions = {}) {
      const [list, args] = isObject(which)
        ? (['keys', { by: which.by, keys: which.keys }] as const)
        : (['ids', { ids: which }] as const);
      return (await mutate<Row>(context, 'delete', list, { ...args, references }, options)).map(stored);
    },
    history: historyOf(graphql),
  };
}

interface KindContext {
  readonly graphql: Graphql;
  readonly name: KindName;
}

/** The argument `list` has the items. */
async function mutate<Result>(
  { graphql, name }: KindContext,
  method: 'create' | 'update' | 'upsert' | 'delete',
  list: 'input' | 'ids' | 'keys',
  args: Row,
  { dryRun = false, returning = 'record', onClash, ...options }: Omit<UpsertOptions, 'onInvalid'> & ClashOptions,
  select = (record: string) => record,
): Promise<Result[]> {
  const { plural, fields } = kinds[name];
  const items = args[list] as readonly unknown[];
  const types: Readonly<Record<string, string>> = {
    input: method === 'update' ? `[${name}Patch!]!` : `[${method === 'create' ? 'Create' : 'Upsert'}${name}Input!]!`,
    ids: '[ID!]!',
    by: `${name}Key!`,
    keys: '[String!]!',
    onInvalid: 'OnInvalid!',
    onClash: 'OnClash!',
    references: 'ReferenceHandling!',
    dryRun: 'Boolean!',
  };
  const variables = { ...args, dryRun, ...(onClash && { onClash }) };
  const declared = Object.keys(variables).map((arg) => `$${arg}: ${types[arg]}`);
  const passed = Object.keys(variables).map((arg) => `${arg}: $${arg}`);
  const field = method + plural;
  const selected = select(returning === 'outcome' ? 'id' : fields);
  const document = `mutation (${declared.join(', ')}) { ${field}(${passed.join(', ')}) { ${selected} } }`;
  return inParts(method, items, options, async (part, write) => {
    return (await graphql(document, { ...variables, [list]: part }, write))[field];
  });
}

/** GraphQL has links to users, REST their IDs. */
const userFields: ReadonlySet<string> = new Set(['createdBy', 'updatedBy']);

/** REST omits unset fields, which GraphQL returns as null, except the nullable fields of an asset. */
export function storedAs(name: KindName): (row: Row) => Row {
  const nullable = new Set(kinds[name].nullable.split(' '));
  return (row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([field, value]) => value !== null || nullable.has(field))
        .map(([field, value]) => [field, userFields.has(field) && isObject(value) ? value.id : value]),
    );
}

export type Update<Changes, Stored> = (id: string, changes: Changes, options?: WriteOptions) => Promise<Stored>;
export type List<Stored> = () => Promise<Stored[]>;

export function update<Changes, Stored>(send: Send, path: string): Update<Changes, Stored> {
  return async (id, changes, options = {}) => {
    requireKnown('update', options);
    return send(
      { method: 'PATCH', path: `${path}/${encodeURIComponent(id)}`, accept, body: changes, write: options },
      accepted<Stored>((body) => isObject(body) && typeof body.id === 'string'),
    );
  };
}

export function list<Stored>(send: Send, path: string): List<Stored> {
  return () => send({ method: 'GET', path, accept }, accepted<Stored[]>(Array.isArray));
}

/** Problems (RFC 9457) list every invalid field. */
const accept = 'application/json, application/problem+json';

/** Checks only that the response is from Yardgraph, with as many records: tests of the service check the rest. */
const accepted =
  <T>(isExpected: (body: unknown) => boolean) =>
  (response: ApiResponse): T => {
    if (response.status >= 300) throw serviceError(response);
    if (!isExpected(response.body)) throw unexpected(response);
    return response.body as T;
  };
