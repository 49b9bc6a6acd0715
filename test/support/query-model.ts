/**
 * What GraphQL documents return, computed by graphql-js from plain arrays and the printed schema: filters, orders, pages, links, reverse
 * links, summaries and histories. Knows no SQL, no loaders and no look-ahead. Only the text of cursors is the service's.
 */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { buildSchema, execute, type GraphQLResolveInfo, parse } from 'graphql';
import { pathToArray } from 'graphql/jsutils/Path.js';
import { DateTime } from 'luxon';
import { cursorOf } from '../../src/graphql/schema/order.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { capitalized, constantCase, linkField, uncapitalized } from '../../src/model/labels.ts';
import { linkFields } from '../../src/model/links.ts';
import { distanceKm, type Point, unitVector } from '../../src/model/places.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { isBlank } from '../../src/model/schemas.ts';
import {
  asset,
  kindNamed,
  kindOfId,
  label,
  labelKey,
  labelledFields,
  location,
  recordKinds,
  reverseLinksOf,
} from '../../src/records/index.ts';
import {
  type Grouping,
  oldestFirst,
  orderName,
  type Position,
  type RecordOrder,
  type RecordSummary,
  type ScalarValue,
  type SummaryQuery,
} from '../../src/store/query/record-query.ts';

import { alikeForm, compareAlike, containsAlike, startsAlike } from './alike.ts';
import { overlap } from './write-model.ts';

export type PlainRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** The records of one workspace, in the order in which they were created. */
export type World = readonly (readonly [RecordKind, PlainRecord])[];

// biome-ignore lint/suspicious/noExplicitAny: GraphQL has checked the types.
export type SentFilter = Readonly<Record<string, any>>;

export interface SentOrder {
  readonly [name: string]: 'ASC' | 'DESC' | SentOrder;
}

// biome-ignore lint/suspicious/noExplicitAny: GraphQL has checked the types.
type Arguments = Readonly<Record<string, any>>;

interface Viewer {
  readonly workspace: string;
  readonly user: string;
}

export const printedSchema = buildSchema(readFileSync('schema.graphql', 'utf8'));

interface QueriedLink {
  readonly name: string;
  readonly reference: string;
  readonly target: RecordKind;
  /** Of the keys of labels, as the target is one. */
  readonly keyPrefix?: string;
}

/** The links of filters and orders. Who created a record is its own filter. */
export const queriedLinks = (kind: RecordKind): readonly QueriedLink[] => [
  ...linkFields(kind).map(([name, reference, { target }]) => ({ name, reference, target: kindNamed(target) })),
  ...labelledFields(kind)
    .map(({ field, type }) => ({
      name: linkField(field),
      reference: field,
      target: label,
      keyPrefix: labelKey(type, ''),
    }))
    .filter(({ name, reference }) => name !== reference),
];

export function createModel(world: World, viewer?: Viewer) {
  const recordsOf = (of: RecordKind): PlainRecord[] => world.flatMap(([kind, record]) => (kind === of ? [record] : []));
  const byId = new Map(world.map(([, record]) => [record.id, record]));
  const recordWithId = (kind: RecordKind, id: unknown): PlainRecord | undefined =>
    typeof id === 'string' && kindOfId(id) === kind ? byId.get(id) : undefined;
  const labelOf = (key: string) => world.find(([, record]) => record.key === key)?.[1];
  const linkedRecord = (record: PlainRecord, { reference, target, keyPrefix }: Omit<QueriedLink, 'name'>) =>
    keyPrefix ? labelOf(`${keyPrefix}${record[reference]}`) : recordWithId(target, record[reference]);
  /** By the order and the text of the cursor. */
  const positions = new Map<string, Position>();

  const matches = (kind: RecordKind, record: PlainRecord, filter: SentFilter): boolean =>
    Object.entries(filter).every(([name, sent]) => holds(kind, record, name, sent));

  function holds(kind: RecordKind, record: PlainRecord, name: string, sent: SentFilter): boolean {
    if (name === 'and') return sent.every((part: SentFilter) => matches(kind, record, part));
    if (name === 'or') return sent.some((part: SentFilter) => matches(kind, record, part));
    if (name === 'not') return !matches(kind, record, sent);
    if (name === 'within') return isWithin(kind, record, String(sent));
    if (name === 'during') return overlap(record, { startDate: sent.from, endDate: sent.to ?? null });
    if (name === 'near') return isPlace(record) && distanceKm(record, sent as unknown as Point) <= sent.withinKm;
    const link = queriedLinks(kind).find((other) => other.name === name);
    if (link) {
      const linked = linkedRecord(record, link);
      return linked !== undefined && matches(link.target, linked, sent);
    }
    const reverse = reverseLinksOf(kind.name).find((link) => link.name === name);
    if (!reverse)
      return Object.entries(sent).every(([operator]) => compares(name, record[name] ?? null, operator, sent));
    const linked = linkedRecords(reverse, record.id);
    return Object.entries(sent).every(([quantifier, filter]) => {
      const isMatch = (other: PlainRecord) => matches(reverse.kind, other, filter);
      if (quantifier === 'every') return linked.every(isMatch);
      return linked.some(isMatch) === (quantifier === 'some');
    });
  }

  function isWithin(kind: RecordKind, record: PlainRecord, id: string): boolean {
    let place: PlainRecord | undefined = record;
    while (place && place.id !== id) place = recordWithId(kind, place.parentId);
    return place !== undefined;
  }

  function linkedRecords({ kind, field, direction, target }: ReverseLink, parentId: string, below = false) {
    if (below) {
      const tree = kindNamed(target);
      return recordsOf(kind).filter((record) => {
        const place = recordWithId(tree, record[field]);
        return place && isWithin(tree, place, parentId);
      });
    }
    if (direction === 'referring') return recordsOf(kind).filter((record) => record[field] === parentId);
    if (direction === 'clashing') {
      const own = recordWithId(kind, parentId) as PlainRecord;
      return recordsOf(kind).filter((other) => other !== own && other[field] === own[field] && overlap(other, own));
    }
    const ancestors: PlainRecord[] = [];
    let next = recordWithId(kind, recordWithId(kind, parentId)?.[field]);
    for (; next && !ancestors.includes(next); next = recordWithId(kind, next[field])) ancestors.push(next);
    return ancestors;
  }

  /** Null also where the linked record is not there. */
  function orderedValue(record: PlainRecord, { links = [], field, from }: RecordOrder): ScalarValue | null {
    let linked: PlainRecord | undefined = record;
    for (const link of links) linked = linked && linkedRecord(linked, link);
    if (from) return linked ? squaredChord(linked, from) : null;
    return (linked?.[field] ?? null) as ScalarValue | null;
  }

  const positionOf = (orderBy: readonly RecordOrder[], record: PlainRecord): Position => ({
    values: orderBy.filter((order) => !isId(order)).map((order) => orderedValue(record, order)),
    id: record.id,
  });

  function cursorIn(orderBy: readonly RecordOrder[], record: PlainRecord): string {
    const values = orderBy.map((order) => [orderName(order), orderedValue(record, order)]);
    const cursor = cursorOf(orderBy, { ...record, ...Object.fromEntries(values) });
    positions.set(`${described(orderBy)} ${cursor}`, positionOf(orderBy, record));
    return cursor;
  }

  function page(kind: RecordKind, all: readonly PlainRecord[], { where, orderBy: sentOrder, ...args }: Arguments) {
    requireValid(where);
    const { first, last } = args;
    if (typeof first === 'number' && typeof last === 'number') throw new Error('both first and last');
    const size = sizeOf(first ?? last, 0);
    const orderBy = parseOrder(kind, sentOrder ?? []);
    const positionAt = (cursor: string | null | undefined): Position | undefined => {
      const position = positions.get(`${described(orderBy)} ${cursor}`);
      if (typeof cursor === 'string' && !position) throw new Error('not a cursor of this order');
      return position;
    };
    const [after, before] = [positionAt(args.after), positionAt(args.before)];
    const matching = all.filter((record) => matches(kind, record, where ?? {}));
    const place = (record: PlainRecord) => positionOf(orderBy, record);
    const between = matching
      .filter((record) => !after || comparePositions(orderBy, place(record), after) > 0)
      .filter((record) => !before || comparePositions(orderBy, place(record), before) < 0)
      .toSorted((a, b) => comparePositions(orderBy, place(a), place(b)));
    const fromEnd = typeof last === 'number';
    const nodes = fromEnd ? between.slice(Math.max(0, between.length - size)) : between.slice(0, size);
    const edges = nodes.map((node) => ({ node, cursor: cursorIn(orderBy, node) }));
    const isCut = nodes.length < between.length;
    const pageInfo = {
      hasPreviousPage: after !== undefined || (fromEnd && isCut),
      hasNextPage: before !== undefined || (!fromEnd && isCut),
      startCursor: edges[0]?.cursor,
      endCursor: edges.at(-1)?.cursor,
    };
    return { nodes, edges, pageInfo, totalCount: matching.length };
  }

  function summary(
    kind: RecordKind,
    { where, groupBy, limit, timeZone = 'UTC', min, max }: Omit<SummaryQuery, 'where'> & { where?: SentFilter },
  ): RecordSummary {
    const found = recordsOf(kind).filter((record) => matches(kind, record, where ?? {}));
    const groups = new Map<string, { members: PlainRecord[]; values: (ScalarValue | null)[] }>();
    for (const record of found) {
      const values = groupBy.map(({ field, by }) => {
        const value = (record[field] ?? null) as ScalarValue | null;
        return by === 'value' || value === null ? value : dateIn(timeZone, String(value)).slice(0, lengthOf[by]);
      });
      const key = JSON.stringify(values);
      groups.set(key, { members: [...(groups.get(key)?.members ?? []), record], values });
    }
    const boundsOf = (records: readonly PlainRecord[]) => ({
      min: Object.fromEntries(min.map((field) => [field, inOrderOf(field, records)[0] ?? null])),
      max: Object.fromEntries(max.map((field) => [field, inOrderOf(field, records).at(-1) ?? null])),
    });
    const inOrder = [...groups.values()]
      .map(({ members, values }) => ({ count: members.length, values, ...boundsOf(members) }))
      .toSorted((a, b) => b.count - a.count || firstDifference(a.values, b.values, (x, y) => compareNullable(x, y)));
    return { totalCount: found.length, ...boundsOf(found), groups: inOrder.slice(0, limit + 1) };
  }

  function summaryOf(kind: RecordKind, { where, groupBy: sent, timeZone: sentZone, first }: Arguments) {
    requireValid(where);
    const limit = sizeOf(first, 0);
    if (sent.length === 0 || new Set(sent).size < sent.length) throw new Error('expected groupings, each once');
    const timeZone = sentZone ?? undefined;
    if (timeZone !== undefined && !DateTime.local({ zone: timeZone }).isValid) throw new Error('unknown time zone');
    const options = groupingsOf(kind);
    const groupBy = sent.map((name: string) => options.get(name)) as NamedGrouping[];
    const bounded = Object.keys(kind.storedFields).filter((name) =>
      /number|dateTime/.test(kind.storedFields[name]?.type ?? ''),
    );
    const { groups, ...all } = summary(kind, { where, groupBy, limit, timeZone, min: bounded, max: bounded });
    return {
      ...all,
      hasMoreGroups: groups.length > limit,
      groups: groups.slice(0, limit).map(({ values, ...group }) => ({
        ...Object.fromEntries(groupBy.map(({ name }, index) => [name, values[index]])),
        ...group,
      })),
    };
  }

  const log = world.map(([kind, record], index) => ({
    number: index + 1,
    cursor: String(index + 1),
    action: 'CREATED',
    kind: constantCase(kind.name),
    recordId: record.id,
    record,
    erased: false,
    at: record.createdAt,
    fields: Object.keys(kind.fields)
      .filter((field) => (record[field] ?? null) !== null)
      .map((field) => ({ field, before: null, after: record[field] })),
  }));

  function changes(all: typeof log, first: unknown, end: string) {
    const size = sizeOf(first, 1);
    const nodes = all.slice(0, size);
    return { nodes, endCursor: nodes.at(-1)?.cursor ?? end, hasMore: all.length > size };
  }

  const history = (id: string, { first }: Arguments) =>
    changes(
      log.filter(({ recordId }) => recordId === id),
      first,
      '0',
    );

  /** The record by a value that identifies it. */
  function one(kind: RecordKind, isMeant: (record: PlainRecord) => boolean, value: string) {
    if (isBlank(value)) throw new Error('no value');
    const [record, other] = recordsOf(kind).filter(isMeant);
    if (other) throw new Error('several records');
    return record;
  }

  type Resolve = (source: PlainRecord, args: Arguments) => unknown;

  const queries: Record<string, Resolve> = {
    node: (_, { id }) => byId.get(id),
    nodes: (_, { ids }) => ids.map((id: string) => byId.get(id)),
    changes: (_, { first }) => changes(log, first, '0'),
    history: (_, { id, ...args }) => history(id, args),
    changeCursor: () => String(log.length),
    importRuns: () => ({ nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: false } }),
    viewer: () => ({
      ...{ workspace: { id: viewer?.workspace }, user: { id: viewer?.user }, mayWrite: true },
      writableKinds: recordKinds.map(({ name }) => constantCase(name)),
    }),
  };
  const resolvers: Record<string, Record<string, Resolve>> = { Query: queries };
  for (const kind of recordKinds) {
    const name = uncapitalized(kind.name);
    const list = uncapitalized(kind.plural);
    queries[name] = (_, { id, asOf }) => {
      const record = recordWithId(kind, id);
      return record && asOf && compareTexts(String(record.createdAt), asOf) > 0 ? null : record;
    };
    queries[list] = (_, args) => page(kind, recordsOf(kind), args);
    queries[`${list}Summary`] = (_, args) => summaryOf(kind, args);
    queries[`${name}ByUid`] = (_, { uid }) => one(kind, (record) => record.uid === uid, uid);
    queries[`${name}ByExternalId`] = (_, { key, value }) =>
      one(
        kind,
        ({ externalIds }) =>
          !!externalIds && Object.entries(externalIds).some((own) => own[0] === key && own[1] === value),
        value,
      );
    const links = Object.entries(kind.storedFields).flatMap(([name, field]): [string, Resolve][] => {
      if (field.type === 'reference')
        return [[linkField(name), (record) => recordWithId(kindNamed(field.target), record[name])]];
      return field.type === 'foreignReference'
        ? [[linkField(name), (record) => record[name] && { id: record[name] }]]
        : [];
    });
    resolvers[`${kind.name}Group`] = Object.fromEntries(links);
    resolvers[kind.name] = { ...Object.fromEntries(links), history: ({ id }, args) => history(id, args) };
  }
  const effectiveLocation: Resolve = ({ currentLocationId, parentId }) => {
    const parent = currentLocationId === null ? recordWithId(asset, parentId) : undefined;
    return parent ? effectiveLocation(parent, {}) : recordWithId(location, currentLocationId);
  };
  const distance: Resolve = (place, { from }) => {
    requirePoint(from);
    return isPlace(place) ? Math.round(1_000 * distanceKm(place, from)) / 1_000 : null;
  };
  resolvers.Location = { ...resolvers.Location, distanceKm: distance };
  resolvers.Asset = { ...resolvers.Asset, effectiveLocation };
  for (const type of Object.keys(foreignTypes)) {
    const name = uncapitalized(type);
    queries[name] = (_, { id }) => ({ id });
    const labelled = ({ id }: PlainRecord) => labelOf(labelKey(type, id));
    resolvers[type] = { name: (source) => labelled(source)?.name, color: (source) => labelled(source)?.color };
  }
  for (const [type, ofType] of Object.entries(resolvers)) {
    for (const link of reverseLinksOf(type)) {
      ofType[link.name] = ({ id }, args) => page(link.kind, linkedRecords(link, id, args.below), args);
    }
  }

  return {
    summary,

    cursorOf: (kind: RecordKind, sentOrder: readonly SentOrder[], record: PlainRecord): string =>
      cursorIn(parseOrder(kind, sentOrder), record),

    /** Also returns the paths of all errors: where one leaves out others, a response has any of them. */
    async respond(query: string, variableValues: Arguments) {
      const failed: (readonly (string | number)[])[] = [];
      async function fieldResolver(source: Arguments, args: Arguments, _context: unknown, info: GraphQLResolveInfo) {
        const resolve = resolvers[info.parentType.name]?.[info.fieldName];
        try {
          return resolve ? resolve(source as PlainRecord, args) : source?.[info.fieldName];
        } catch (error) {
          failed.push(pathToArray(info.path));
          throw error;
        }
      }
      const typeResolver = ({ id }: PlainRecord) => kindOfId(id)?.name;
      const document = parse(query);
      const result = await execute({ schema: printedSchema, document, variableValues, fieldResolver, typeResolver });
      // Siblings of a field that has failed go on.
      await setImmediate();
      return { ...result, failed };
    },
  };
}

const described = (orderBy: readonly RecordOrder[]): string =>
  orderBy.map((order) => `${orderName(order)} ${order.direction} ${JSON.stringify(order.from)}`).join(' ');

const isPlace = (record: object): record is Point & PlainRecord =>
  ['latitude', 'longitude'].every((field) => typeof (record as Arguments)[field] === 'number');

function requirePoint({ latitude, longitude }: Point): void {
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) throw new Error('a point that is not on the Earth');
}

function squaredChord(record: PlainRecord, from: Point): number | null {
  if (!isPlace(record)) return null;
  const [here, there] = [unitVector(record), unitVector(from)];
  const squares = here.map((value, axis) => (value - (there[axis] ?? 0)) * (value - (there[axis] ?? 0)));
  return squares.reduce((sum, square) => sum + square);
}

/** Null could mean no value or no condition: it is refused anywhere in a filter, and so is the value of an external ID without its key. */
function requireValid(where: unknown): void {
  JSON.stringify(where ?? {}, (_, value: unknown) => {
    if (value === null) throw new Error('null in a filter');
    if (typeof value === 'object' && 'value' in value && !('key' in value)) throw new Error('a value without its key');
    if (typeof value === 'object' && 'to' in value && 'from' in value && String(value.to) <= String(value.from))
      throw new Error('a time that ends before it starts');
    return value;
  });
}

function sizeOf(sent: unknown, least: number): number {
  const size = typeof sent === 'number' ? sent : 50;
  if (size < least || size > 1_000) throw new Error('the size of the page is out of bounds');
  return size;
}

/** Nothing after the ID has an effect, and the oldest record comes first unless something else is said. */
function parseOrder(kind: RecordKind, sent: readonly SentOrder[]): readonly RecordOrder[] {
  const orders = sent.map((order) => orderIn(kind, order));
  const names = orders.map(orderName);
  if (new Set(names).size < names.length) throw new Error('a field twice');
  const end = names.indexOf('id');
  const effective = end < 0 ? orders : orders.slice(0, end + 1);
  return effective.length > 0 ? effective : oldestFirst;
}

function orderIn(kind: RecordKind, sent: SentOrder): RecordOrder {
  const [[name, value] = ['id', 'ASC']] = Object.entries(sent);
  if (typeof value === 'string') return { field: name, direction: value === 'ASC' ? 'asc' : 'desc' };
  if (name === 'distance' && kind === location) {
    const from = value as unknown as Point;
    requirePoint(from);
    return { field: name, direction: 'asc', from };
  }
  const link = queriedLinks(kind).find((other) => other.name === name) as QueriedLink;
  const { links = [], ...order } = orderIn(link.target, value);
  return { ...order, links: [link, ...links] };
}

type NamedGrouping = Grouping & { readonly name: string };

/** `LOCATION`, and `MONTH_OF_START`, whose field is `startMonth`. */
const groupingsOf = (kind: RecordKind): ReadonlyMap<string, NamedGrouping> =>
  new Map(
    Object.entries(kind.storedFields).flatMap(([field, { type }]): [string, NamedGrouping][] => {
      if (type !== 'dateTime') return [[constantCase(linkField(field)), { field, by: 'value', name: field }]];
      const base = field.replace(/(?:Date|At)$/, '');
      return (['month', 'day'] as const).map((by) => [
        `${by.toUpperCase()}_OF_${constantCase(base)}`,
        { field, by, name: `${base}${capitalized(by)}` },
      ]);
    }),
  );

const lengthOf = { month: 7, day: 10 };

function dateIn(zone: string, time: string): string {
  const local = DateTime.fromISO(time, { zone });
  return local.year < 1 || local.year > 9999 ? time : local.toFormat('yyyy-MM-dd');
}

const inOrderOf = (field: string, records: readonly PlainRecord[]): ScalarValue[] =>
  records
    .map(({ [field]: value }) => (value ?? null) as ScalarValue | null)
    .filter((value) => value !== null)
    .toSorted(compareValues);

const isId = ({ field, links }: RecordOrder): boolean => field === 'id' && links === undefined;

function comparePositions(orderBy: readonly RecordOrder[], a: Position, b: Position): number {
  let sign = 1;
  for (const [index, order] of orderBy.entries()) {
    sign = order.direction === 'desc' ? -1 : 1;
    if (isId(order)) break;
    const compare = (x: ScalarValue, y: ScalarValue) =>
      isSorted(order.field) ? compareAlike(String(x), String(y)) : compareValues(x, y);
    const difference = compareNullable(a.values[index] ?? null, b.values[index] ?? null, sign, compare);
    if (difference !== 0) return difference;
  }
  return sign * compareValues(a.id, b.id);
}

function compareNullable(
  a: ScalarValue | null,
  b: ScalarValue | null,
  sign = 1,
  compare: typeof compareValues = compareValues,
): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * compare(a, b);
}

function compareValues(a: ScalarValue, b: ScalarValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return Number(a) - Number(b);
}

/** By code points, as their bytes in UTF-8. */
const compareTexts = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function firstDifference<T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = compare(a[index] as T, b[index] as T);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compares(name: string, value: unknown, operator: string, filter: SentFilter): boolean {
  const { [operator]: sent } = filter;
  if (operator === 'ignoreCase') return true;
  if (operator === 'isNull') return (value === null) === sent;
  if (operator === 'ne') return !compares(name, value, 'eq', { ...filter, eq: sent });
  if (value === null) return false;
  if (operator === 'key') return Object.hasOwn(value as object, sent);
  if (operator === 'value')
    return Object.entries(value as object).some(([key, id]) => key === filter.key && id === sent);
  if (operator === 'alike' && typeof value === 'object') {
    const forms = [sent, sent.normalize('NFC'), sent.normalize('NFD')];
    return Object.entries(value as object).some(([key, id]) => key === filter.key && forms.includes(id));
  }
  if (operator === 'in') return sent.some((eq: ScalarValue) => compares(name, value, 'eq', { ...filter, eq }));
  if (operator === 'gt') return compareValues(value as ScalarValue, sent) > 0;
  if (operator === 'gte') return compareValues(value as ScalarValue, sent) >= 0;
  if (operator === 'lt') return compareValues(value as ScalarValue, sent) < 0;
  if (operator === 'lte') return compareValues(value as ScalarValue, sent) <= 0;
  if (typeof value !== 'string') return Number(value) === Number(sent);
  if (/alike/i.test(operator)) return isAlike(name, value, operator, String(sent));
  const isSame = filter.ignoreCase ? isSameLetter : (asked: string, found: string) => asked === found;
  const [asked, found] = [Array.from(String(sent)), Array.from(value)];
  const isAt = (start: number): boolean =>
    start >= 0 &&
    start + asked.length <= found.length &&
    asked.every((letter, index) => isSame(letter, found[start + index] ?? ''));
  if (operator === 'eq') return asked.length === found.length && isAt(0);
  if (operator === 'startsWith') return isAt(0);
  if (operator === 'endsWith') return isAt(found.length - asked.length);
  return found.some((_, start) => isAt(start)) || asked.length === 0;
}

const isSorted = (name: string): boolean => ['name', 'reference', 'number'].includes(name);

function isAlike(name: string, text: string, operator: string, asked: string): boolean {
  if (!isSorted(name)) {
    const plain = { alike: 'eq', startsAlike: 'startsWith', containsAlike: 'contains' }[operator] ?? '';
    const forms = [asked, asked.normalize('NFC'), asked.normalize('NFD')];
    return forms.some((form) => compares(name, text, plain, { [plain]: form, ignoreCase: true }));
  }
  if (operator === 'alike') return alikeForm(text) === alikeForm(asked);
  return operator === 'startsAlike' ? startsAlike(text, asked) : containsAlike(text, asked);
}

const isSameLetter = (asked: string, found: string): boolean =>
  found === asked || found === asked.toUpperCase() || found === asked.toLowerCase();
