/** Cursors of lists are positions in an order, not counts: pages stay correct while records are added. */
import type { InputShapeFromFields } from '@pothos/core';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { type Field, foreignTypes } from '../../model/fields.ts';
import { capitalized, linkField, withArticle } from '../../model/labels.ts';
import { distanceKm } from '../../model/places.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import {
  asset,
  kindNamed,
  label,
  labelKey,
  labelledTypes,
  location,
  recordKinds,
  reverseLinksOf,
  treeOf,
} from '../../records/index.ts';
import type { RecordOrder } from '../../store/query/record-query.ts';
import type { PageQuery } from '../execution/loaders.ts';
import { describePageSize, type FieldExtensions, objectCost, pageCost, pageSize } from '../limits.ts';
import {
  builder,
  describeReverseLink,
  type ForeignTypeName,
  foreignType,
  memoize,
  node,
  type ObjectFields,
  type QueryFields,
  type RecordShape,
  scalarOf,
  typeOf,
} from './builder.ts';
import { historyField } from './changes.ts';
import { exampleFilter, filterCost, filterOf, parseFilter, parsePoint, pointType } from './filter.ts';
import { costOfOrder, cursorOf, orderOf, parseCursor, parseOrder } from './order.ts';

for (const kind of recordKinds) {
  builder.objectType(typeOf(kind), {
    description: kind.description,
    interfaces: [node],
    fields: (t) => ({
      ...Object.assign({}, ...Object.entries(kind.storedFields).map(([name, field]) => fieldsFor(t, name, field))),
      ...reverseLinkFields(t, kind.name),
      ...(kind === asset && { effectiveLocation: effectiveLocationField(t) }),
      ...(kind === location && { distanceKm: distanceField(t) }),
      history: historyField(t, kind),
    }),
  });
}

for (const [name, description] of Object.entries(foreignTypes)) {
  builder.objectType(foreignType(name as ForeignTypeName), {
    description,
    fields: (t) => ({
      id: t.exposeID('id', { description: 'The ID, as records have it.' }),
      ...(labelledTypes.includes(name) && labelFields(t, name)),
      ...reverseLinkFields(t, name),
    }),
  });
}

/** Each level takes one statement for all assets of a page. */
const maxLevels = 100;

const effectiveLocationField = (t: ObjectFields<RecordShape>) =>
  t.field({
    type: typeOf(location),
    nullable: true,
    description: `The \`currentLocation\` of the asset, or of the nearest asset above it that has a \`currentLocationId\`, at most ${maxLevels} levels up. Null if this is an ID of another system.`,
    extensions: {
      storedFields: ['currentLocationId', 'parentId'],
      cost: () => ({ fieldCost: maxLevels }),
    } satisfies FieldExtensions,
    async resolve(part, _args, { loaders }) {
      let whole: RecordShape | null = part;
      for (let level = 0; whole && whole.currentLocationId === null && whole.parentId !== null; level += 1) {
        if (level === maxLevels) throw badRequest(`the asset has no location within ${maxLevels} levels above it`);
        whole = await loaders.of(asset).load(whole.parentId);
      }
      return whole?.currentLocationId ? loaders.of(location).load(whole.currentLocationId) : null;
    },
  });

const distanceField = (t: ObjectFields<RecordShape>) =>
  t.float({
    nullable: true,
    description: 'The distance from a point in kilometres, to the metre, on a sphere; null without coordinates.',
    extensions: { storedFields: ['latitude', 'longitude'] } satisfies FieldExtensions,
    args: { from: t.arg({ type: pointType, required: true, description: 'The point.' }) },
    // Async, like reverse links: see there.
    resolve: async ({ latitude, longitude }, { from }) => {
      const point = parsePoint(from, ['from']);
      if (latitude === null || longitude === null) return null;
      return Math.round(1_000 * distanceKm({ latitude, longitude }, point)) / 1_000;
    },
  });

/** One statement reads all labels of a step, at the cost of a link. */
const labelFields = (t: ObjectFields<RecordShape>, typeName: string) =>
  Object.fromEntries(
    (['name', 'color'] as const).map((field) => [
      field,
      t.string({
        nullable: true,
        description: `${label.fields[field].description} Null unless a label with the key \`${labelKey(typeName, 'ID')}\` has one.`,
        extensions: { cost: () => ({ fieldCost: objectCost - 1 }) } satisfies FieldExtensions,
        resolve: async ({ id }, _args, { loaders }) => (await loaders.labelOf(labelKey(typeName, id)))?.[field] ?? null,
      }),
    ]),
  );

/** `projectId` and `project`; only the link for `createdBy`. */
export function fieldsFor(t: ObjectFields<RecordShape>, name: string, field: Field) {
  const extensions = { storedFields: [name] } satisfies FieldExtensions;
  const nullable = !field.required;
  const value = t.expose(name, { type: scalarOf(field), nullable, description: field.description, extensions });
  if (field.type !== 'reference' && field.type !== 'foreignReference') return { [name]: value };
  const link = linkField(name);
  if (field.type === 'foreignReference') {
    const linked = t.field({
      type: foreignType(field.target),
      nullable,
      description: `${capitalized(field.refersTo)}; only its ID is a part of the record.`,
      extensions,
      resolve: ({ [name]: id }) => id && { id },
    });
    return link === name ? { [link]: linked } : { [name]: value, [link]: linked };
  }
  const target = kindNamed(field.target);
  const linked = t.field({
    type: typeOf(target),
    nullable: true,
    description: `${capitalized(field.refersTo)}; null unless ${withArticle(target.label)} with this ID is stored here.`,
    extensions,
    resolve({ [name]: id, [link]: linked }, _args, { loaders }) {
      // Set if the list has read the linked record.
      if (linked !== undefined) return linked;
      return id ? loaders.of(target).load(id) : null;
    },
  });
  return { [name]: value, [link]: linked };
}

export interface ConnectionPage {
  readonly records: readonly FoundRecord[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly orderBy: readonly RecordOrder[];
}

type FoundRecord = RecordShape & { readonly id: string };

/** Reads its page and its count once, if a field needs them. */
interface LazyConnection {
  readonly connectionField: () => Promise<ConnectionPage>;
  readonly count: () => Promise<number>;
}

export const pageInfo = builder.objectRef<ConnectionPage>('PageInfo').implement({
  description: 'The position of a page among all records.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether there are records after this page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether there are records before this page.' }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first record of the page, for `before`.',
      resolve: ({ records: [record], orderBy }) => record && cursorOf(orderBy, record),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last record of the page, for `after`.',
      resolve: ({ records, orderBy }) => records.slice(-1).map((record) => cursorOf(orderBy, record))[0],
    }),
  }),
});

const connectionOf = memoize((kind: RecordKind) =>
  builder.objectRef<LazyConnection>(`${kind.name}Connection`).implement({
    description: `A page of ${kind.pluralLabel}, oldest first unless \`orderBy\` is set.`,
    fields: (t) => ({
      nodes: t.field({
        type: [typeOf(kind)],
        description: `The ${kind.pluralLabel} of the page.`,
        resolve: async ({ connectionField }) => (await connectionField()).records,
      }),
      edges: t.field({
        type: [edgeOf(kind)],
        description: `The ${kind.pluralLabel} of the page, each with its cursor.`,
        resolve: async ({ connectionField }) => {
          const { records, orderBy } = await connectionField();
          return records.map((record) => ({ record, orderBy }));
        },
      }),
      pageInfo: t.field({
        type: pageInfo,
        description: 'The position of the page among all records.',
        resolve: ({ connectionField }) => connectionField(),
      }),
      totalCount: t.int({
        description: `The number of ${kind.pluralLabel} on all pages.`,
        resolve: ({ count }) => count(),
      }),
    }),
  }),
);

const edgeOf = (kind: RecordKind) =>
  builder.objectRef<Pick<ConnectionPage, 'orderBy'> & { readonly record: FoundRecord }>(`${kind.name}Edge`).implement({
    description: `One entry of a page: ${withArticle(kind.label)} and its cursor.`,
    fields: (t) => ({
      cursor: t.string({
        description: `The position of the ${kind.label}, for \`after\` and \`before\`.`,
        resolve: ({ record, orderBy }) => cursorOf(orderBy, record),
      }),
      node: t.expose('record', { type: typeOf(kind), description: `The ${kind.label}.` }),
    }),
  });

export const whereArgument = (kind: RecordKind) => ({
  type: filterOf(kind),
  description: `Only ${kind.pluralLabel} that match, such as ${exampleFilter}.`,
});

const argumentsOf = (kind: RecordKind) =>
  builder.args((t) => ({
    where: t.field(whereArgument(kind)),
    orderBy: t.field({
      type: [orderOf(kind)],
      description: `The order: by the first entry, then by the next, such as \`[{ createdAt: DESC }]\`; oldest first unless set. Records with equal values are ordered by their IDs, in the direction of the last entry.`,
    }),
    first: t.int({ description: describePageSize('records from the start') }),
    after: t.string({ description: 'Only records after this cursor, which must be from a page in the same order.' }),
    last: t.int({
      description:
        'The number of records from the end, from 0 to the setting `MAX_PAGE_SIZE`; cannot be combined with `first`.',
    }),
    before: t.string({ description: 'Only records before this cursor, which must be from a page in the same order.' }),
  }));

type ConnectionArgs = InputShapeFromFields<ReturnType<typeof argumentsOf>>;

const connectionOptions = (kind: RecordKind, description: string) => ({
  type: connectionOf(kind),
  description: `${description}, oldest first unless \`orderBy\` is set, page by page.`,
  extensions: { cost: (sent, limits) => costOfConnection(kind, sent, limits) } satisfies FieldExtensions,
  args: argumentsOf(kind),
});

const costOfConnection = (kind: RecordKind, sent: ConnectionArgs, limits: Limits) => ({
  fieldCost: filterCost(kind, sent.where, limits) + costOfOrder(sent.orderBy),
  ...pageCost(sent, limits),
});

export const page = (t: QueryFields, kind: RecordKind) =>
  t.field({
    ...connectionOptions(kind, `All ${kind.pluralLabel} of the workspace`),
    resolve(_root, args, { loaders, limits }, info) {
      const query = parseArguments(kind, args, limits);
      let read: Promise<ConnectionPage> | undefined;
      return {
        connectionField() {
          read ??= loaders.listPage(kind, query, info).then((records) => pageFrom(records, query));
          return read;
        },
        count: () => loaders.count(kind, query.where),
      };
    },
  });

const reverseLinkFields = (t: ObjectFields<RecordShape>, typeName: string) =>
  Object.fromEntries(reverseLinksOf(typeName).map((link) => [link.name, reverseLinkField(t, link)]));

/** Low enough for 1,000 parents: all records below share a limit. */
const belowCost = 400;

const hasBelow = ({ target, direction }: ReverseLink): boolean =>
  direction === 'referring' && treeOf(target) !== undefined;

function belowArgument({ target }: ReverseLink) {
  const { pluralLabel } = kindNamed(target);
  const description = `Also those that refer to ${pluralLabel} below it: at most 100,000 ${pluralLabel} below all records of a page.`;
  return builder.args((t) => ({ below: t.boolean({ defaultValue: false, description }) }));
}

const reverseLinkField = (t: ObjectFields<RecordShape>, link: ReverseLink) =>
  t.field({
    ...connectionOptions(link.kind, describeReverseLink(link)),
    extensions: {
      cost(sent, limits) {
        const { fieldCost, ...ofPage } = costOfConnection(link.kind, sent, limits);
        return { fieldCost: fieldCost + (sent.below ? belowCost : 0), ...ofPage };
      },
    } satisfies FieldExtensions,
    args: { ...argumentsOf(link.kind), ...(hasBelow(link) && belowArgument(link)) },
    // Async: a throw inside a list leaves rejections of earlier items unhandled (see serve.ts).
    async resolve({ id }, args, { loaders, limits }, info) {
      const { query, pages } = loaders.referring(link, info, () => ({
        ...parseArguments(link.kind, args, limits),
        below: args.below ? treeOf(link.target) : undefined,
      }));
      return {
        connectionField: async () => pageFrom((await pages.load(id)).records, query),
        count: async () => {
          const { count } = await pages.load(id);
          if (count === undefined) throw new Error('the records were not counted');
          return count;
        },
      };
    },
  });

function parseArguments(kind: RecordKind, args: ConnectionArgs, limits: Limits): PageQuery {
  const { first, last } = args;
  if (typeof first === 'number' && typeof last === 'number')
    throw badRequest('first and last: expected one of them, received both');
  const fromEnd = typeof last === 'number';
  const size = fromEnd ? pageSize('last', last, limits) : pageSize('first', first, limits);
  const orderBy = parseOrder(kind, args.orderBy);
  const position = (name: 'after' | 'before') => {
    const { [name]: sent } = args;
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

function pageFrom(
  found: ConnectionPage['records'],
  { fromEnd, after, before, limit, orderBy }: PageQuery,
): ConnectionPage {
  const isCut = found.length === limit;
  const records = isCut ? found.slice(0, -1) : found;
  return {
    records: fromEnd ? records.toReversed() : records,
    hasPreviousPage: after !== undefined || (fromEnd && isCut),
    hasNextPage: before !== undefined || (!fromEnd && isCut),
    orderBy,
  };
}
