/** The queries, one line per field: a search for `workOrders` lands here. They read through the loaders and decide nothing. */
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { count } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, kindOfId, location, project, transportOrder, workOrder } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../plan/extensions.ts';
import type { Builder, QueryFields } from './builder.ts';
import { connect, connectionCost, createConnectionTypes } from './connection.ts';
import type { ObjectTypes } from './object-type.ts';

export function defineQuery(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const { connectionType, pageArgs } = createConnectionTypes(builder, limits);
  const { maxPageSize } = limits;

  const requireLength = (length: number, name: string): void => {
    if (length > maxPageSize)
      throw badRequest(`${name}: expected at most ${count(maxPageSize)} IDs, received ${count(length)}`);
  };

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
      type: connectionType(kind, types.of(kind)),
      description: `All ${kind.pluralLabel} of the workspace, oldest first, page by page.`,
      extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
      args: pageArgs,
      resolve: (_root, args, context) => connect(context, kind, args, limits),
    });

  builder.queryType({
    description: 'The operations that read: one record by its ID, or all records of a kind, page by page.',
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
      assets: page(t, asset),
      workOrder: one(t, workOrder),
      workOrders: page(t, workOrder),
      project: one(t, project),
      projects: page(t, project),
      location: one(t, location),
      locations: page(t, location),
      transportOrder: one(t, transportOrder),
      transportOrders: page(t, transportOrder),
      assetCategory: one(t, assetCategory),
      assetCategories: page(t, assetCategory),
    }),
  });
}

function loadNode({ loaders }: Context, id: string) {
  const kind = kindOfId(id);
  return kind ? loaders.load(kind, id) : null;
}
