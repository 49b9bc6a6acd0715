/**
 * Relay connections over a kind's records, oldest first. Cursors are positions in the order of ids, not counts, so a page
 * stays right while records are added. What is not asked for costs no statement.
 */
import type { GraphQLResolveInfo } from 'graphql';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { expected } from '../../model/issues.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindOfId } from '../../records/index.ts';
import { newestFirst, oldestFirst } from '../../store/query.ts';
import type { Context } from '../execution/context.ts';
import { linksBelow } from '../execution/document-plan.ts';
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

/** A connection is lazy: its page and its count are each read once, and only when a field asks for them. */
interface Connection<T> {
  readonly page: () => Promise<Page<T>>;
  readonly count: () => Promise<number>;
}

export const defaultPageSize = 50;

/** Makes the connection types of one schema, as they are asked for. */
export function createConnectionTypes(builder: Builder, { maxPageSize }: Limits) {
  const pageInfo = builder.objectRef<Page<{ readonly id: string }>>('PageInfo').implement({
    description: 'Where a page lies among all records.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether records follow this page.' }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether records precede this page.' }),
      startCursor: t.string({
        nullable: true,
        description: 'Cursor of the first record of the page, for `before`.',
        resolve: ({ records }) => records.at(0)?.id,
      }),
      endCursor: t.string({
        nullable: true,
        description: 'Cursor of the last record of the page, for `after`.',
        resolve: ({ records }) => records.at(-1)?.id,
      }),
    }),
  });

  const connectionType = <K extends RecordKind>(kind: K, type: ObjectRef<RecordOf<K>>) => {
    const edge = builder.objectRef<RecordOf<K>>(`${kind.name}Edge`).implement({
      description: `A ${kind.label} and its position.`,
      fields: (t) => ({
        cursor: t.string({ description: 'Position of the record, for `after` and `before`.', resolve: ({ id }) => id }),
        // Sound because the record is what the type shows; only for a kind yet unknown the compiler cannot follow.
        node: t.field({ type, description: `The ${kind.label}.`, resolve: (record) => record as never }),
      }),
    });
    return builder.objectRef<Connection<RecordOf<K>>>(`${kind.name}Connection`).implement({
      description: `A page of ${kind.label} records, oldest first.`,
      fields: (t) => ({
        nodes: t.field({
          type: [type],
          description: 'The records of the page.',
          resolve: recordsOf,
        }),
        edges: t.field({
          type: [edge],
          description: 'The records of the page, each with its cursor.',
          resolve: recordsOf,
        }),
        pageInfo: t.field({
          type: pageInfo,
          description: 'Where the page lies among all records.',
          resolve: ({ page }) => page(),
        }),
        totalCount: t.int({
          description: 'How many records there are, on all pages.',
          resolve: ({ count }) => count(),
        }),
      }),
    });
  };
  return { connectionType, pageArgs: pageArgs(builder, maxPageSize) };
}

/** The records of the page, once what they link to is loaded too. */
async function recordsOf<T extends object>(
  { page }: Connection<T>,
  _args: object,
  { loaders }: Context,
  info: GraphQLResolveInfo,
) {
  const { records } = await page();
  await loaders.follow(records, linksBelow(info));
  return records;
}

const pageArgs = (builder: Builder, maxPageSize: number) =>
  builder.args((t) => ({
    first: t.int({
      description: `How many records from the start, 1 to ${maxPageSize}; ${defaultPageSize} unless said.`,
    }),
    after: t.string({ description: 'Only records behind this cursor.' }),
    last: t.int({ description: `How many records from the end, 1 to ${maxPageSize}; not together with first.` }),
    before: t.string({ description: 'Only records in front of this cursor.' }),
  }));

/** The connection for the arguments. Throws a ServiceError 400 for a size or a cursor that is none. */
export function connect<K extends RecordKind>(
  { loaders }: Context,
  kind: K,
  args: PageArgs,
  { maxPageSize }: Limits,
): Connection<RecordOf<K>> {
  const { first, last } = args;
  if (typeof first === 'number' && typeof last === 'number') throw badRequest('first and last: expected one of them');
  const fromEnd = typeof last === 'number';
  const size = fromEnd
    ? pageSize('last', last, maxPageSize)
    : pageSize('first', first ?? Math.min(defaultPageSize, maxPageSize), maxPageSize);
  const after = cursor(kind, 'after', args.after);
  const before = cursor(kind, 'before', args.before);

  return {
    page: once(async () => {
      const found = await loaders.list(kind, {
        after,
        before,
        limit: size + 1,
        orderBy: fromEnd ? newestFirst : oldestFirst,
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

function pageSize(name: string, size: number, maxPageSize: number): number {
  if (size >= 1 && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from 1 to ${maxPageSize}`, size)}`);
}

/** A cursor is an id of the kind. It only ever narrows what the store would show anyway. */
function cursor(kind: RecordKind, name: string, sent: string | null | undefined): string | undefined {
  if (sent === null || sent === undefined) return undefined;
  if (kindOfId(sent) === kind) return sent;
  throw badRequest(`${name}: ${expected(`a cursor of ${kind.label} records`, sent)}`);
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= read();
    return result;
  };
}
