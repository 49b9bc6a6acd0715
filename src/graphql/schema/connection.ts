/** Cursors are positions in an order, not counts: a page stays correct while records are added. What is not selected costs no statement. */
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { expected } from '../../model/issues.ts';
import { withArticle } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { recordKinds } from '../../records/index.ts';
import { reverseLinksOf } from '../../records/reverse-links.ts';
import type { Order } from '../../store/query/record-query.ts';
import type { Context } from '../execution/context.ts';
import type { FieldInfo, PageQuery } from '../execution/loaders.ts';
import type { CostFunction, FieldExtensions, SentArguments } from '../limits.ts';
import { builder, describeReverseLink, type ObjectFields, type ObjectRef, typeOf } from './builder.ts';
import { type Filter, filterCost, parseFilter } from './filter/filter-condition.ts';
import { exampleFilter, filterOf } from './filter/filter-types.ts';
import { costOfOrder, cursorOf, exampleOrder, orderOf, parseCursor, parseOrder, type SentOrder } from './order.ts';

const pageInfo = builder.objectRef<Page<{ readonly id: string }>>('PageInfo').implement({
  description: 'The position of a page among all records.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'Whether there are records after this page.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'Whether there are records before this page.',
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first record of the page, for `before`.',
      resolve: ({ records: [record], orderBy }) => record && cursorOf(orderBy, record),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last record of the page, for `after`.',
      resolve: ({ records, orderBy }) => {
        const record = records.at(-1);
        return record && cursorOf(orderBy, record);
      },
    }),
  }),
});

const connections = new Map(recordKinds.map((kind) => [kind, createConnectionType(kind)]));

// The cast is safe because the map has the type of every kind; the compiler cannot see which belongs to which.
export const connectionOf = <K extends RecordKind>(kind: K) =>
  connections.get(kind) as ObjectRef<Connection<RecordOf<K>>>;

function createConnectionType<K extends RecordKind>(kind: K) {
  const type = typeOf(kind);
  const edge = builder.objectRef<Edge<RecordOf<K>>>(`${kind.name}Edge`).implement({
    description: `One entry of a page: ${withArticle(kind.label)} and its cursor.`,
    fields: (t) => ({
      cursor: t.string({
        description: `The position of the ${kind.label}, for \`after\` and \`before\`.`,
        resolve: ({ record, orderBy }) => cursorOf(orderBy, record),
      }),
      node: t.field({
        type,
        description: `The ${kind.label}.`,
        // The cast is safe because the record is of the kind; the compiler cannot see it while the kind is a type parameter.
        resolve: ({ record }) => record as never,
      }),
    }),
  });
  return builder.objectRef<Connection<RecordOf<K>>>(`${kind.name}Connection`).implement({
    description: `A page of ${kind.pluralLabel}, oldest first unless \`orderBy\` is set.`,
    fields: (t) => ({
      nodes: t.field({
        type: [type],
        description: `The ${kind.pluralLabel} of the page.`,
        resolve: async ({ page }) => (await page()).records,
      }),
      edges: t.field({
        type: [edge],
        description: `The ${kind.pluralLabel} of the page, each with its cursor.`,
        resolve: async ({ page }) => {
          const { records, orderBy } = await page();
          return records.map((record) => ({ record, orderBy }));
        },
      }),
      pageInfo: t.field({
        type: pageInfo,
        description: 'The position of the page among all records.',
        resolve: ({ page }) => page(),
      }),
      totalCount: t.int({
        description: `The number of ${kind.pluralLabel} on all pages.`,
        resolve: ({ count }) => count(),
      }),
    }),
  });
}

export const whereArgument = (kind: RecordKind) => ({
  type: filterOf(kind),
  description: `Only ${kind.pluralLabel} that match, such as \`${exampleFilter(kind)}\`.`,
});

export const argumentsOf = (kind: RecordKind) =>
  builder.args((t) => ({
    where: t.field(whereArgument(kind)),
    orderBy: t.field({
      type: [orderOf(kind)],
      description: `The order: by the first entry, then by the next, such as \`${exampleOrder(kind)}\`; oldest first unless set. Records with equal values are ordered by their IDs, in the direction of the last entry.`,
    }),
    first: t.int({
      description:
        'The number of records from the start, from 0 to the setting `MAX_PAGE_SIZE`; 50 unless set, or as many as it allows.',
    }),
    after: t.string({ description: 'Only records after this cursor, which must be from a page in the same order.' }),
    last: t.int({
      description:
        'The number of records from the end, from 0 to the setting `MAX_PAGE_SIZE`; cannot be combined with `first`.',
    }),
    before: t.string({
      description: 'Only records before this cursor, which must be from a page in the same order.',
    }),
  }));

export const reverseLinkFields = <T extends { readonly id: string }>(t: ObjectFields<T>, typeName: string) =>
  Object.fromEntries(reverseLinksOf(typeName).map((link) => [link.name, reverseLinkField(t, link)]));

const reverseLinkField = <T extends { readonly id: string }>(t: ObjectFields<T>, link: ReverseLink) =>
  t.field({
    type: connectionOf(link.kind),
    description: `${describeReverseLink(link)}, oldest first unless \`orderBy\` is set, page by page.`,
    extensions: { cost: connectionCost(link.kind) } satisfies FieldExtensions,
    args: argumentsOf(link.kind),
    // The cast is safe because the link leads to records of the connection's kind.
    resolve: ({ id }, args, context, info) => connectReferring(context, link, id, args, info) as never,
  });

interface ConnectionArgs {
  readonly where?: Filter | null | undefined;
  readonly orderBy?: readonly SentOrder[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** A connection is lazy: its page and its count are read only if a field needs them, and each once. */
interface Connection<T> {
  readonly page: () => Promise<Page<T>>;
  readonly count: () => Promise<number>;
}

interface Page<T> {
  readonly records: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly orderBy: readonly Order[];
}

interface Edge<T> {
  readonly record: T;
  readonly orderBy: readonly Order[];
}

type AnyRecord = { readonly id: string };

export const defaultPageSize = ({ maxPageSize }: Limits): number => Math.min(50, maxPageSize);

/** All fields of a page are counted once for each of its records. */
export function pageCost({ first, last }: SentArguments, limits: Limits) {
  const size = first ?? last ?? defaultPageSize(limits);
  return { items: typeof size === 'number' ? Math.max(1, size) : 1 };
}

export const connectionCost =
  (kind: RecordKind): CostFunction =>
  (sent, limits) => ({
    own: filterCost(kind, sent.where, limits.maxCost) + costOfOrder(sent.orderBy),
    ...pageCost(sent, limits),
  });

/** Returns the connection over the records of a kind. Throws a ServiceError 400 for an argument that is not valid. */
export function connectKind<K extends RecordKind>(
  { loaders, limits }: Context,
  kind: K,
  args: ConnectionArgs,
  info: FieldInfo,
): Connection<RecordOf<K>> {
  const query = parseArguments(kind, args, limits);
  let page: Promise<Page<RecordOf<K>>> | undefined;
  return {
    page() {
      page ??= loaders.listPage(kind, query, info).then((records) => pageFrom(records, query));
      return page;
    },
    count: () => loaders.count(kind, query.where),
  };
}

/** Returns the connection over the records that refer to a parent. One statement reads the pages and the counts of all parents. */
function connectReferring(
  { loaders, limits }: Context,
  link: ReverseLink,
  parentId: string,
  args: ConnectionArgs,
  info: FieldInfo,
): Connection<AnyRecord> {
  const { query, pages } = loaders.referring(link, info, () => parseArguments(link.kind, args, limits));
  return {
    page: async () => pageFrom((await pages.load(parentId)).records, query),
    count: async () => {
      const { count } = await pages.load(parentId);
      if (count === undefined) throw new Error('the records were not counted');
      return count;
    },
  };
}

/** Reads one record more than the page shows, to know whether others follow. */
function parseArguments(kind: RecordKind, args: ConnectionArgs, limits: Limits): PageQuery {
  const { first, last } = args;
  if (typeof first === 'number' && typeof last === 'number')
    throw badRequest('first and last: expected one of them, received both');
  const fromEnd = typeof last === 'number';
  const size = fromEnd ? pageSize('last', last, limits) : pageSize('first', first ?? defaultPageSize(limits), limits);
  const orderBy = parseOrder(args.orderBy);
  const position = (name: 'after' | 'before') => {
    const sent = args[name];
    return sent === null || sent === undefined ? undefined : parseCursor(kind, orderBy, name, sent);
  };
  return {
    where: parseFilter(kind, args.where, limits),
    orderBy,
    fromEnd,
    after: position('after'),
    before: position('before'),
    limit: size + 1,
  };
}

/** Throws a ServiceError 400 unless a page may have this size. */
export function pageSize(name: string, size: number, { maxPageSize }: Limits, least = 0): number {
  if (size >= least && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from ${least} to ${maxPageSize}`, size)}`);
}

function pageFrom<T>(found: readonly T[], { fromEnd, after, before, limit, orderBy }: PageQuery): Page<T> {
  const isCut = found.length === limit;
  const records = isCut ? found.slice(0, -1) : [...found];
  return {
    records: fromEnd ? records.reverse() : records,
    hasPreviousPage: after !== undefined || (fromEnd && isCut),
    hasNextPage: before !== undefined || (!fromEnd && isCut),
    orderBy,
  };
}
