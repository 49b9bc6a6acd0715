/** The queries, one line per field: a search for `workOrders` lands here. They read through the loaders and decide nothing. */
import type { Limits } from '../../config.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, kindOfId, location, project, transportOrder, workOrder } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../plan/extensions.ts';
import { lengthLimit } from './argument.ts';
import type { Builder, QueryFields } from './builder.ts';
import { connectionCost, connectKind } from './connection.ts';
import { type ForeignTypeName, foreignField } from './foreign-type.ts';
import type { ObjectTypes } from './object-type.ts';
import { recordByExternalId, recordByValue } from './record-by-value.ts';
import { createSummaryField } from './summary.ts';

export function defineQuery(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const { connectionOf, argumentsOf } = types.connections;
  const { maxPageSize } = limits;

  const requireLength = lengthLimit(maxPageSize, 'IDs');

  const one = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: types.of(kind),
      nullable: true,
      description: `The ${kind.label} with this ID, or null if there is none.`,
      args: { id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }) },
      // The cast is safe because the loader returns records of the kind; the compiler cannot see it for a type parameter.
      resolve: (_root, { id }, { loaders }) => loaders.load(kind, id) as never,
    });

  const page = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: connectionOf(kind),
      description: `All ${kind.pluralLabel} of the workspace, oldest first unless \`orderBy\` is set, page by page.`,
      extensions: { connection: { kind }, cost: connectionCost(limits) } satisfies FieldExtensions,
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
      resolve: (_root, { uid }, context, info) => recordByValue(context, kind, 'uid', uid, limits, info) as never,
    });

  const byExternalId = <K extends RecordKind>(t: QueryFields, kind: K) =>
    t.field({
      type: types.of(kind),
      nullable: true,
      description: `The ${kind.label} with this ID in another system, or null if there is none. If there are several, it is an error: find them with \`where\`.`,
      args: {
        key: t.arg.string({ required: true, description: 'The name of the other system, such as `erp`.' }),
        value: t.arg.string({ required: true, description: 'The ID in that system, such as `4711`.' }),
      },
      resolve: (_root, { key, value }, context, info) =>
        recordByExternalId(context, kind, key, value, limits, info) as never,
    });

  const summary = createSummaryField(builder, types, limits);

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

function loadNode({ loaders }: Context, id: string) {
  const kind = kindOfId(id);
  return kind ? loaders.load(kind, id) : null;
}
