/** The types of connections, one for each kind, and their arguments. What they return is decided in connection.ts. */
import type { Limits } from '../../../config.ts';
import { withArticle } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { recordKinds } from '../../../records/index.ts';
import type { ArgumentExtensions } from '../../plan/extensions.ts';
import type { Builder, ObjectRef } from '../builder.ts';
import { createFilterCost } from '../filter/filter-cost.ts';
import { createFilterTypes, exampleFilter } from '../filter/filter-type.ts';
import { type Connection, defaultPageSize, type Edge, type Page } from './connection.ts';
import { cursorOf } from './cursor.ts';
import { costOfOrder, createOrderTypes, exampleOrder } from './order-type.ts';

/** The object type of a kind. */
export type TypeOf = <K extends RecordKind>(kind: K) => ObjectRef<RecordOf<K>>;

export type ConnectionTypes = ReturnType<typeof createConnectionTypes>;

/** Makes the connection types of one schema, their filters and their orders. */
export function createConnectionTypes(builder: Builder, typeOf: TypeOf, limits: Limits) {
  const pageInfo = createPageInfo(builder);
  const types = new Map(recordKinds.map((kind) => [kind, createConnectionType(builder, kind, typeOf(kind), pageInfo)]));
  const filterOf = createFilterTypes(builder);
  const orderOf = createOrderTypes(builder);
  const costOfFilter = createFilterCost(limits.maxCost);

  const whereArgument = (kind: RecordKind) => ({
    type: filterOf(kind),
    description: `Only ${kind.pluralLabel} that match, such as \`${exampleFilter(kind)}\`.`,
    extensions: { cost: (filter) => costOfFilter(kind, filter) } satisfies ArgumentExtensions,
  });

  const argumentsOf = (kind: RecordKind) =>
    builder.args((t) => ({
      where: t.field(whereArgument(kind)),
      orderBy: t.field({
        type: [orderOf(kind)],
        description: `The order: by the first entry, then by the next, such as \`${exampleOrder(kind)}\`; oldest first unless set. Records with equal values are ordered by their IDs, in the direction of the last entry.`,
        extensions: { cost: costOfOrder } satisfies ArgumentExtensions,
      }),
      first: t.int({
        description: `The number of records from the start, 1 to ${limits.maxPageSize}; ${defaultPageSize(limits)} unless set.`,
      }),
      after: t.string({ description: 'Only records after this cursor, which must be from a page in the same order.' }),
      last: t.int({
        description: `The number of records from the end, 1 to ${limits.maxPageSize}; cannot be combined with \`first\`.`,
      }),
      before: t.string({
        description: 'Only records before this cursor, which must be from a page in the same order.',
      }),
    }));

  // The cast is safe because the map has the type of every kind; the compiler cannot see which belongs to which.
  const connectionOf = <K extends RecordKind>(kind: K) => types.get(kind) as ObjectRef<Connection<RecordOf<K>>>;
  return { connectionOf, argumentsOf, whereArgument };
}

const createPageInfo = (builder: Builder) =>
  builder.objectRef<Page<{ readonly id: string }>>('PageInfo').implement({
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

function createConnectionType<K extends RecordKind>(
  builder: Builder,
  kind: K,
  type: ObjectRef<RecordOf<K>>,
  pageInfo: ReturnType<typeof createPageInfo>,
) {
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
