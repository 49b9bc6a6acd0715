/** One line per field: a search for `workOrders` lands here. */
import type { Limits } from '../../config.ts';
import { badRequest, ServiceError } from '../../errors.ts';
import { formatCount } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { isBlank } from '../../model/schemas.ts';
import { keyText } from '../../model/sentences.ts';
import {
  allocation,
  asset,
  assetCategory,
  kindOfId,
  label,
  location,
  project,
  recordKinds,
  transportOrder,
  workOrder,
} from '../../records/index.ts';
import { noRecord } from '../../services/match.ts';
import type { Session } from '../../services/write.ts';
import type { FieldExtensions } from '../limits.ts';
import {
  badArgument,
  builder,
  type Context,
  type ForeignTypeName,
  foreignType,
  node,
  parseArgument,
  parseText,
  type QueryFields,
  typeLabel,
  typeOf,
} from './builder.ts';
import { cursorField, feedField, historyById, horizonField, recordKindType } from './changes.ts';
import { importRunField, importRunsField } from './import-runs.ts';
import { page } from './records.ts';
import { summaryField } from './summary.ts';

const recordField = (t: QueryFields, kind: RecordKind) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    description: `The ${kind.label} with this ID, or null if there is none. The ID of a record of another kind is an error.`,
    args: {
      id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
      asOf: t.arg({
        type: 'DateTime',
        description: `The ${kind.label} as it was at this time: null before its creation, after its deletion, and before its history begins. Its links return records as they are now.`,
      }),
    },
    resolve(_root, { id, asOf }, { loaders, limits }) {
      if ((kindOfId(id) ?? kind) !== kind) throw badArgument(['id'], noRecord(kind, id));
      if (asOf === null || asOf === undefined) return loaders.of(kind).load(id);
      const time = parseArgument(['asOf'], { type: 'dateTime' }, asOf, limits.maxTextLength);
      return loaders.versionAt(kind, id, String(time));
    },
  });

const recordByUidField = (t: QueryFields, kind: RecordKind) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    description: `The ${kind.label} with this unique reference ID, or null if there is none.`,
    args: { uid: t.arg.string({ required: true, description: `The \`uid\` of the ${kind.label}.` }) },
    async resolve(_root, { uid }, { loaders, limits }) {
      const where = { field: 'uid', in: [parseKeyArgument(kind, 'uid', uid, limits)] };
      const [record] = await loaders.list(kind, { where, limit: 1 });
      return record;
    },
  });

const recordByExternalIdField = (t: QueryFields, kind: RecordKind) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    description: `The ${kind.label} with this ID in another system, or null if there is none. If several records have this ID, the response is an error: find them with \`where\`.`,
    args: {
      key: t.arg.string({ required: true, description: 'The name of the other system, such as `erp`.' }),
      value: t.arg.string({ required: true, description: 'The ID in that system, such as `4711`.' }),
    },
    async resolve(_root, { key, value }, { loaders, limits }) {
      const sent = { key: parseText(['key'], key, limits), value: parseKeyArgument(kind, 'value', value, limits) };
      const [record, other] = await loaders.list(kind, { where: { field: 'externalIds', ...sent }, limit: 2 });
      if (!other) return record;
      const found = keyText({ by: { externalId: sent.key }, text: sent.value });
      throw new ServiceError(
        409,
        `several ${kind.pluralLabel} have ${found}: list them with where: { externalIds: { key: …, value: … } }`,
      );
    },
  });

/** Throws a 400 for an empty text, as in upserts and links. */
function parseKeyArgument(kind: RecordKind, name: string, sent: string, limits: Limits): string {
  if (isBlank(sent)) throw badArgument([name], { code: 'empty-key', kind: kind.label, received: sent });
  return parseText([name], sent, limits);
}

/** Reads nothing: its links lead to records. */
const foreignField = (t: QueryFields, name: ForeignTypeName) =>
  t.field({
    type: foreignType(name),
    description: `The ${typeLabel(name)} with this ID, to list the records that refer to it. It is kept in another system; whether it exists there is not checked.`,
    args: { id: t.arg.id({ required: true, description: `The ID of the ${typeLabel(name)}, as records have it.` }) },
    resolve: (_root, { id }, { limits }) => {
      parseArgument(['id'], { type: 'foreignReference' }, id, limits.maxTextLength);
      return { id };
    },
  });

const viewer = builder.objectRef<Session>('Viewer').implement({
  description: 'Who asks, and in which workspace.',
  fields: (t) => ({
    workspace: t.field({
      type: foreignType('Workspace'),
      description: 'The workspace of the API key, or the one of requests without a key.',
      resolve: ({ workspace }) => ({ id: workspace }),
    }),
    user: t.field({
      type: foreignType('User'),
      nullable: true,
      description: 'The user of the API key; null for requests without a key.',
      resolve: ({ userId }) => (userId === null ? null : { id: userId }),
    }),
    mayWrite: t.exposeBoolean('mayWrite', {
      description: 'Whether mutations are allowed: false for a read-only key.',
    }),
    writableKinds: t.field({
      type: [recordKindType],
      description: 'The kinds whose records the API key may create, change and delete. It reads all kinds.',
      resolve: ({ writableKinds }) => writableKinds ?? recordKinds.map(({ name }) => name),
    }),
  }),
});

builder.queryType({
  description:
    'The operations that read: one record, the records of a kind page by page, filtered and in any order, and summaries of them.',
  fields: (t) => ({
    node: t.field({
      type: node,
      nullable: true,
      description: 'The record with this ID, of any kind, or null if there is none.',
      args: { id: t.arg.id({ required: true, description: 'The ID of a record.' }) },
      resolve: (_root, { id }, context) => loadNode(context, id),
    }),
    nodes: t.field({
      type: [node],
      nullable: { list: false, items: true },
      description: `The records with these IDs, in the same order; null for an ID without a record. At most as many as the setting \`MAX_PAGE_SIZE\`.`,
      extensions: {
        cost: ({ ids }, { maxPageSize }) => {
          if (ids.length <= maxPageSize) return { items: ids.length };
          throw badRequest(
            `ids: expected at most ${formatCount(maxPageSize)} IDs, received ${formatCount(ids.length)}`,
          );
        },
      } satisfies FieldExtensions,
      args: {
        ids: t.arg.idList({
          required: true,
          description: 'The IDs of records, of any kinds.',
        }),
      },
      resolve: (_root, { ids }, context) => {
        return Promise.all(ids.map((id) => loadNode(context, id)));
      },
    }),
    asset: recordField(t, asset),
    assetByUid: recordByUidField(t, asset),
    assetByExternalId: recordByExternalIdField(t, asset),
    assets: page(t, asset),
    assetsSummary: summaryField(t, asset),
    workOrder: recordField(t, workOrder),
    workOrderByExternalId: recordByExternalIdField(t, workOrder),
    workOrders: page(t, workOrder),
    workOrdersSummary: summaryField(t, workOrder),
    project: recordField(t, project),
    projectByExternalId: recordByExternalIdField(t, project),
    projects: page(t, project),
    projectsSummary: summaryField(t, project),
    location: recordField(t, location),
    locationByExternalId: recordByExternalIdField(t, location),
    locations: page(t, location),
    locationsSummary: summaryField(t, location),
    transportOrder: recordField(t, transportOrder),
    transportOrders: page(t, transportOrder),
    transportOrdersSummary: summaryField(t, transportOrder),
    assetCategory: recordField(t, assetCategory),
    assetCategories: page(t, assetCategory),
    assetCategoriesSummary: summaryField(t, assetCategory),
    allocation: recordField(t, allocation),
    allocationByExternalId: recordByExternalIdField(t, allocation),
    allocations: page(t, allocation),
    allocationsSummary: summaryField(t, allocation),
    label: recordField(t, label),
    labels: page(t, label),
    labelsSummary: summaryField(t, label),
    viewer: t.field({
      type: viewer,
      description: 'Who asks, and in which workspace.',
      resolve: (_root, _args, { session }) => session,
    }),
    changes: feedField(t),
    history: historyById(t),
    changeCursor: cursorField(t),
    changeHorizon: horizonField(t),
    importRun: importRunField(t),
    importRuns: importRunsField(t),
    company: foreignField(t, 'Company'),
    status: foreignField(t, 'Status'),
    assetType: foreignField(t, 'AssetType'),
    workOrderType: foreignField(t, 'WorkOrderType'),
    purchaseOrder: foreignField(t, 'PurchaseOrder'),
    allocationOrder: foreignField(t, 'AllocationOrder'),
    user: foreignField(t, 'User'),
  }),
});

function loadNode({ loaders }: Context, id: string) {
  const kind = kindOfId(id);
  return kind ? loaders.of(kind).load(id) : null;
}
