/** The queries, one line per field: a search for `workOrders` lands here. They read through the loaders and decide nothing. */
import type { Limits } from '../../config.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, kindOfId, location, project, transportOrder, workOrder } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../plan/extensions.ts';
import { lengthLimit, parseArgument } from './argument.ts';
import type { Builder, QueryFields } from './builder.ts';
import { parseFeed, parseHistory } from './changes/change-arguments.ts';
import { firstOf, historyArguments } from './changes/change-type.ts';
import { type ForeignTypeName, foreignField } from './foreign-type.ts';
import { connectionCost, connectKind } from './list/connection.ts';
import { recordByExternalId, recordByValue } from './list/record-by-value.ts';
import { createSummaryField } from './list/summary.ts';
import type { ObjectTypes } from './object-type.ts';

export function defineQuery(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const { connectionOf, argumentsOf } = types.connections;
  const { maxPageSize } = limits;

  const requireLength = lengthLimit(maxPageSize, 'IDs');

  const one = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: types.of(kind),
      nullable: true,
      description: `The ${kind.label} with this ID, or null if there is none.`,
      args: {
        id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
        asOf: t.arg({
          type: 'DateTime',
          description: `The ${kind.label} as it was at this time: null before its creation, after its deletion, and before its history begins. Its links return records as they are now.`,
        }),
      },
      // The cast is safe because the loader returns records of the kind; the compiler cannot see it for a type parameter.
      resolve: (_root, { id, asOf }, { loaders }) =>
        (asOf === null || asOf === undefined
          ? loaders.of(kind).load(id)
          : loaders.versionAt(kind, id, parseTime(asOf, limits))) as never,
    });

  const page = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: connectionOf(kind),
      description: `All ${kind.pluralLabel} of the workspace, oldest first unless \`orderBy\` is set, page by page.`,
      extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
      args: argumentsOf(kind),
      resolve: (_root, args, context, info) => connectKind(context, kind, args, limits, info),
    });

  const byUid = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: types.of(kind),
      nullable: true,
      description: `The ${kind.label} with this unique reference ID, or null if there is none.`,
      args: { uid: t.arg.string({ required: true, description: `The \`uid\` of the ${kind.label}.` }) },
      // The cast is safe for the same reason.
      resolve: (_root, { uid }, context) => recordByValue(context, kind, 'uid', uid, limits) as never,
    });

  const byExternalId = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: types.of(kind),
      nullable: true,
      description: `The ${kind.label} with this ID in another system, or null if there is none. If several records have this ID, the response is an error: find them with \`where\`.`,
      args: {
        key: t.arg.string({ required: true, description: 'The name of the other system, such as `erp`.' }),
        value: t.arg.string({ required: true, description: 'The ID in that system, such as `4711`.' }),
      },
      resolve: (_root, { key, value }, context) => recordByExternalId(context, kind, key, value, limits) as never,
    });

  const summary = createSummaryField(builder, types, limits);

  const { page: changePage, kind: recordKind } = types.changes;

  const foreign = (t: QueryFields, name: ForeignTypeName) => foreignField(t, types.links.foreign, name, limits);

  builder.queryType({
    description:
      'The operations that read: one record, the records of a kind page by page, filtered and in any order, and summaries of them.',
    fields: (t) => ({
      node: t.field({
        type: types.node,
        nullable: true,
        description: 'The record with this ID, of any kind, or null if there is none.',
        args: { id: t.arg.id({ required: true, description: 'The ID of a record.' }) },
        resolve: (_root, { id }, context) => loadNode(context, id),
      }),
      nodes: t.field({
        type: [types.node],
        nullable: { list: false, items: true },
        description: `The records with these IDs, in the same order; null for an ID without a record. At most ${maxPageSize} IDs.`,
        extensions: { cost: { listSize: ({ ids }) => lengthOf(ids) } } satisfies FieldExtensions,
        args: {
          ids: t.arg.idList({
            required: true,
            description: 'The IDs of records, of any kinds.',
            extensions: { requireLength } satisfies ArgumentExtensions,
          }),
        },
        resolve: (_root, { ids }, context) => {
          requireLength(ids.length, 'ids');
          return Promise.all(ids.map((id) => loadNode(context, id)));
        },
      }),
      asset: one(t, asset),
      assetByUid: byUid(t, asset),
      assetByExternalId: byExternalId(t, asset),
      assets: page(t, asset),
      assetsSummary: summary(t, asset),
      workOrder: one(t, workOrder),
      workOrderByExternalId: byExternalId(t, workOrder),
      workOrders: page(t, workOrder),
      workOrdersSummary: summary(t, workOrder),
      project: one(t, project),
      projectByExternalId: byExternalId(t, project),
      projects: page(t, project),
      projectsSummary: summary(t, project),
      location: one(t, location),
      locationByExternalId: byExternalId(t, location),
      locations: page(t, location),
      locationsSummary: summary(t, location),
      transportOrder: one(t, transportOrder),
      transportOrders: page(t, transportOrder),
      transportOrdersSummary: summary(t, transportOrder),
      assetCategory: one(t, assetCategory),
      assetCategories: page(t, assetCategory),
      assetCategoriesSummary: summary(t, assetCategory),
      changes: t.field({
        type: changePage,
        description:
          'All changes of the workspace in the order in which they were made, page by page: to follow them without gaps or repeats, pass the `endCursor` of each page as `after` of the next.',
        extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
        args: {
          after: t.arg.string({
            description: 'Only changes after the one with this cursor; from the first one unless set.',
          }),
          first: t.arg.int({ description: firstOf(limits) }),
          kinds: t.arg({ type: [recordKind], description: 'Only changes of records of these kinds.' }),
        },
        resolve: (_root, args, { loaders }) => loaders.changePage(parseFeed(args, limits)),
      }),
      history: t.field({
        type: changePage,
        description:
          'The changes of the record with this ID, of any kind, the latest first, even after its deletion. Empty if no record ever had this ID.',
        extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
        args: {
          id: t.arg.id({ required: true, description: 'The ID of a record.' }),
          ...historyArguments(t, limits),
        },
        resolve: (_root, { id, ...args }, { loaders }) => loaders.history(id, parseHistory(args, limits)),
      }),
      changeCursor: t.string({
        description: 'The cursor of the last change of the workspace: start here to follow only new changes.',
        resolve: async (_root, _args, { loaders }) => String(await loaders.lastChange()),
      }),
      company: foreign(t, 'Company'),
      status: foreign(t, 'Status'),
      assetType: foreign(t, 'AssetType'),
      workOrderType: foreign(t, 'WorkOrderType'),
      purchaseOrder: foreign(t, 'PurchaseOrder'),
      allocationOrder: foreign(t, 'AllocationOrder'),
      user: foreign(t, 'User'),
    }),
  });
}

const parseTime = (sent: unknown, { maxTextLength }: Limits): string =>
  String(parseArgument(['asOf'], { type: 'dateTime' }, sent, maxTextLength));

function loadNode({ loaders }: Context, id: string) {
  const kind = kindOfId(id);
  return kind ? loaders.of(kind).load(id) : null;
}
