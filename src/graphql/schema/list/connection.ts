/**
 * Relay connections over a kind's records, or over those that refer to another record. Cursors are positions in an order, not
 * counts, so that a page stays correct while records are added. A field that is not selected costs no statement.
 */
import type { Limits } from '../../../config.ts';
import { badRequest } from '../../../errors.ts';
import { expected } from '../../../model/issues.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import type { ReverseLink } from '../../../model/reverse-link.ts';
import type { Order } from '../../../store/query/record-query.ts';
import type { Context } from '../../execution/context.ts';
import type { PageQuery } from '../../execution/loaders.ts';
import type { FieldInfo } from '../../execution/look-ahead.ts';
import type { FieldCost } from '../../plan/extensions.ts';
import { parseFilter } from '../filter/filter-condition.ts';
import type { Filter } from '../filter/filter-fields.ts';
import { parseCursor } from './cursor.ts';
import { parseOrder, type SentOrder } from './order-type.ts';

interface ConnectionArgs {
  readonly where?: Filter | null | undefined;
  readonly orderBy?: readonly SentOrder[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** A connection is lazy: its page and its count are read only if a field needs them, and each once (see loaders.ts). */
export interface Connection<T> {
  readonly page: () => Promise<Page<T>>;
  readonly count: () => Promise<number>;
}

export interface Page<T> {
  readonly records: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Determines the cursors of the records. */
  readonly orderBy: readonly Order[];
}

/** A record and its cursor in a page's order. */
export interface Edge<T> {
  readonly record: T;
  readonly orderBy: readonly Order[];
}

type AnyRecord = { readonly id: string };

export const defaultPageSize = ({ maxPageSize }: Limits): number => Math.min(50, maxPageSize);

/** All fields of a connection are counted once for each record of its page. */
export const connectionCost = (limits: Limits): FieldCost => ({
  listSize: ({ first, last }) => {
    const size = first ?? last ?? defaultPageSize(limits);
    return typeof size === 'number' ? Math.max(1, size) : 1;
  },
});

/** Returns the connection over the records of a kind. Throws a ServiceError 400 for an argument that is not valid. */
export function connectKind<K extends RecordKind>(
  { loaders }: Context,
  kind: K,
  args: ConnectionArgs,
  limits: Limits,
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
export function connectReferring(
  { loaders }: Context,
  link: ReverseLink,
  parentId: string,
  args: ConnectionArgs,
  limits: Limits,
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
export function pageSize(name: string, size: number, { maxPageSize }: Limits): number {
  if (size >= 1 && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from 1 to ${maxPageSize}`, size)}`);
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
