/**
 * Relay connections over a kind's records, oldest first. Cursors are positions in the order of IDs, not counts, so that a page
 * stays correct while records are added. A field that is not selected costs no statement.
 */
import type { GraphQLResolveInfo } from 'graphql';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { expected } from '../../model/issues.ts';
import { withArticle } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindOfId } from '../../records/index.ts';
import { oldestFirst, type Position, positionOfId } from '../../store/query.ts';
import type { Context } from '../execution/context.ts';
import type { FieldCost, FieldExtensions } from '../plan/extensions.ts';
import type { Builder, ObjectRef } from './builder.ts';

interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

interface Page<T> {
  readonly records: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** A connection is lazy: its page and its count are each read once, and only if a field needs them. */
interface Connection<T> {
  readonly page: () => Promise<Page<T>>;
  readonly count: () => Promise<number>;
}

const defaultPageSize = ({ maxPageSize }: Limits): number => Math.min(50, maxPageSize);

/** Makes the connection types of one schema, one kind at a time. */
export function createConnectionTypes(builder: Builder, limits: Limits) {
  const pageInfo = builder.objectRef<Page<{ readonly id: string }>>('PageInfo').implement({
    description: 'The position of a page among all records.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether there are records after this page.' }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
        description: 'Whether there are records before this page.',
      }),
      startCursor: t.string({
        nullable: true,
        description: 'The cursor of the first record of the page, for `before`.',
        resolve: ({ records }) => records.at(0)?.id,
      }),
      endCursor: t.string({
        nullable: true,
        description: 'The cursor of the last record of the page, for `after`.',
        resolve: ({ records }) => records.at(-1)?.id,
      }),
    }),
  });

  const connectionType = <K extends RecordKind>(kind: K, type: ObjectRef<RecordOf<K>>) => {
    const edge = builder.objectRef<RecordOf<K>>(`${kind.name}Edge`).implement({
      description: `One entry of a page: ${withArticle(kind.label)} and its cursor.`,
      fields: (t) => ({
        cursor: t.string({
          description: `The position of the ${kind.label}, for \`after\` and \`before\`.`,
          resolve: ({ id }) => id,
        }),
        node: t.field({
          type,
          description: `The ${kind.label}.`,
          extensions: { isSameRecord: true } satisfies FieldExtensions,
          // The cast is safe because an edge is its record; the compiler cannot see it while the kind is a type parameter.
          resolve: (record) => record as never,
        }),
      }),
    });
    return builder.objectRef<Connection<RecordOf<K>>>(`${kind.name}Connection`).implement({
      description: `A page of ${kind.pluralLabel}, oldest first.`,
      fields: (t) => ({
        nodes: t.field({
          type: [type],
          description: `The ${kind.pluralLabel} of the page.`,
          resolve: recordsOf,
        }),
        edges: t.field({
          type: [edge],
          description: `The ${kind.pluralLabel} of the page, each with its cursor.`,
          resolve: recordsOf,
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
  };
  return { connectionType, pageArgs: pageArgs(builder, limits) };
}

/** Loads the page and the records that it links to, and returns the records of the page. */
async function recordsOf<T extends object>(
  { page }: Connection<T>,
  _args: object,
  { loaders }: Context,
  info: GraphQLResolveInfo,
) {
  const { records } = await page();
  await loaders.follow(records, info.fieldNodes);
  return records;
}

const pageArgs = (builder: Builder, limits: Limits) =>
  builder.args((t) => ({
    first: t.int({
      description: `The number of records from the start, 1 to ${limits.maxPageSize}; ${defaultPageSize(limits)} unless set.`,
    }),
    after: t.string({ description: 'Only records after this cursor.' }),
    last: t.int({
      description: `The number of records from the end, 1 to ${limits.maxPageSize}; not together with \`first\`.`,
    }),
    before: t.string({ description: 'Only records before this cursor.' }),
  }));

/** All fields of a connection are counted once for each record of its page. */
export const connectionCost = (limits: Limits): FieldCost => ({
  listSize: ({ first, last }) => {
    const size = first ?? last ?? defaultPageSize(limits);
    return typeof size === 'number' ? Math.max(1, size) : 1;
  },
});

/** The connection for the arguments. Throws a ServiceError 400 for a size or a cursor that is not valid. */
export function connect<K extends RecordKind>(
  { loaders }: Context,
  kind: K,
  args: PageArgs,
  limits: Limits,
): Connection<RecordOf<K>> {
  const { first, last } = args;
  if (typeof first === 'number' && typeof last === 'number')
    throw badRequest('first and last: expected one of them, received both');
  const fromEnd = typeof last === 'number';
  const size = fromEnd ? pageSize('last', last, limits) : pageSize('first', first ?? defaultPageSize(limits), limits);
  const after = cursor(kind, 'after', args.after);
  const before = cursor(kind, 'before', args.before);

  return {
    page: once(async () => {
      const found = await loaders.list(kind, {
        after,
        before,
        limit: size + 1,
        orderBy: oldestFirst,
        fromEnd,
      });
      const records = found.slice(0, size);
      const isCut = found.length > size;
      return fromEnd
        ? {
            records: records.reverse(),
            hasPreviousPage: isCut || after !== undefined,
            hasNextPage: before !== undefined,
          }
        : { records, hasPreviousPage: after !== undefined, hasNextPage: isCut || before !== undefined };
    }),
    count: () => loaders.count(kind),
  };
}

function pageSize(name: string, size: number, { maxPageSize }: Limits): number {
  if (size >= 1 && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from 1 to ${maxPageSize}`, size)}`);
}

/** A cursor is an ID of the kind. It can only narrow what the store would return without it. */
function cursor(kind: RecordKind, name: string, sent: string | null | undefined): Position | undefined {
  if (sent === null || sent === undefined) return undefined;
  if (kindOfId(sent) === kind) return positionOfId(sent);
  throw badRequest(`${name}: ${expected(`a cursor from a page of ${kind.pluralLabel}`, sent)}`);
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= read();
    return result;
  };
}
