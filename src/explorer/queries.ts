/** The queries of the views, as text that anybody can copy: with their values in it, in place of variables. */
import type { Filter, View } from './address.ts';
import { columns, isLink, isRecord, kindNames, kindOf, linkOf, nameFields, searched, typeOf } from './kinds.ts';

/** The page has the setting in it; these modules also run without a page. */
const { document } = globalThis as { document?: { body: { dataset: Readonly<Record<string, string>> } } };

/** As many as this, or as the service allows. */
const atMost = (size: number): number => Math.min(size, Number(document?.body.dataset.maxPageSize ?? 1_000));

const [ascending, descending] = [Symbol('ASC'), Symbol('DESC')];

/** Writes a value as GraphQL does. A symbol is a name of the schema, which has no quotes. */
function literal(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? '';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${pairs(value)} }`;
}

const pairs = (value: object): string =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${name}: ${literal(item)}`)
    .join(', ');

const query = (name: string, sent: object, selection: string): string => {
  const values = pairs(sent);
  return `${values ? `${name}(${values})` : name} { ${selection} }`;
};

/** A document that reads all of these. */
export const documentOf = (queries: readonly string[]): string => `{\n  ${queries.join('\n  ')}\n}`;

const namesOf = (kind: string): string => nameFields(kind).join(' ');

/** Fields of a record; of a link, what names the record to which it leads. */
function selectionOf(kind: string, fields: readonly string[]): string {
  const selected = fields.map((field) => {
    const type = typeOf(kind, field);
    return isLink(type) ? `${field} { ${namesOf(type)} }` : field;
  });
  return [...new Set(selected)].join(' ');
}

/** What a table shows, and what names each record. */
const rowsOf = (kind: string): string =>
  `nodes { ${selectionOf(kind, [...nameFields(kind), ...(columns[kind] ?? [])])} }`;

const isDay = (text: string): boolean => {
  const time = Date.parse(text);
  return /^\d{4}-\d\d-\d\d$/.test(text) && time < Date.UTC(9999, 0) && new Date(time).toISOString().startsWith(text);
};

/** A day begins where the viewer is, as times are shown. What is stored as a date, at midnight UTC, is of this day for everybody. */
function dayCondition(field: string, operator: string, day: string): object | undefined {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  const startOf = (first: string) => new Date(`${first}T00:00`).toISOString();
  const before = (end: string) => ({ [field]: { lt: startOf(end), ne: end } });
  // What is before neither of the two midnights is not looked at.
  const since = (first: string) => ({
    [field]: { gte: [startOf(first), first].sort()[0] },
    not: before(first),
  });
  const within = { and: [since(day), before(next)] };
  const conditions = {
    lt: before(day),
    lte: before(next),
    gte: since(day),
    gt: since(next),
    eq: within,
    ne: { not: within },
  };
  return conditions[operator as keyof typeof conditions];
}

function conditionOf(kind: string, { field, operator, value }: Filter): object | undefined {
  const type = kindOf(kind).filters[field];
  if (type === 'DateTimeFilter' && isDay(value)) return dayCondition(field, operator, value);
  const isWord = operator === 'isNull' || type === 'BooleanFilter';
  const isNumber = type === 'NumberFilter' && value.trim() !== '' && Number.isFinite(Number(value));
  // What is no such value is for the service to refuse.
  const sent = isNumber ? Number(value) : isWord && /^(true|false)$/.test(value) ? value === 'true' : value;
  return { [field]: { [operator]: sent, ...(type === 'TextFilter' && !isWord && { ignoreCase: true }) } };
}

/** The word must be in one of the texts. `erp:4711` is also the ID in another system. */
function wordCondition(kind: string, word: string): object {
  const { fields, filters } = kindOf(kind);
  const contains = { contains: word, ignoreCase: true };
  const conditions: object[] = searched(kind).map((field) => ({
    [field]: field in filters ? contains : { name: contains },
  }));
  const [, key, value] = /^([^:]+):(.+)$/.exec(word) ?? [];
  if (value !== undefined && 'externalIds' in fields) conditions.push({ externalIds: { key, value } });
  return { or: conditions };
}

/** The condition of a table, as the argument `where` and as the exports take it. */
export function whereOf({ kind = '', search = '', filters = [] }: View): object | undefined {
  const words = search.split(/\s+/).filter(Boolean);
  const conditions = [
    ...filters.map((filter) => conditionOf(kind, filter)),
    ...words.map((word) => wordCondition(kind, word)),
  ];
  return conditions.length > 1 ? { and: conditions } : conditions[0];
}

function orderOf({ kind = '', sort }: View): object[] | undefined {
  if (sort === undefined) return undefined;
  const field = sort.replace('-', '');
  const direction = sort.startsWith('-') ? descending : ascending;
  return [{ [field]: isRecord(typeOf(kind, field)) ? { name: direction } : direction }];
}

export function pageQuery(view: View): string {
  const { kind = '', before, after } = view;
  const page = before === undefined ? { first: atMost(50), after } : { last: atMost(50), before };
  const selection = `${rowsOf(kind)} pageInfo { hasPreviousPage hasNextPage startCursor endCursor }`;
  return query(kindOf(kind).list, { ...page, where: whereOf(view), orderBy: orderOf(view) }, selection);
}

/** How many records a table has: by itself, because it reads all that match. */
export const countQuery = (view: View): string =>
  `count: ${query(kindOf(view.kind).list, { first: 0, where: whereOf(view) }, 'totalCount')}`;

/**
 * Of what has a start, the last ones are first. What somebody has created or changed stays in the order of creation: all work orders of a
 * workspace may be in such a list, and sorting 100,000 takes 20 times as long.
 */
function linkedPage([field, kind]: readonly [string, string]): string {
  const { list, order } = kindOf(kind);
  const orderBy = field === list && order.includes('startDate') ? [{ startDate: descending }] : undefined;
  return query(field, { first: atMost(10), orderBy }, `totalCount ${rowsOf(kind)}`);
}

/** A record, with what it refers to, what refers to it, and what has become of it; or what refers to an ID of another system. */
export function recordQuery({ kind = '', id }: View): string {
  const { one, fields, lists } = kindOf(kind);
  const changes = 'nodes { cursor at action user { id name } message fields { field before after } }';
  const parts = [
    selectionOf(kind, Object.keys(fields)),
    ...Object.entries(lists).map(linkedPage),
    ...(isRecord(kind) ? [query('history', { first: atMost(20) }, changes)] : []),
  ];
  return query(one, { id }, `\n    ${parts.join('\n    ')}\n  `);
}

/** Reads the names of records, and of what is kept elsewhere: each by its type and its ID. */
export const namesQuery = (targets: readonly (readonly [type: string, id: string])[]): string[] =>
  targets.map(([type, id], index) => `name${index}: ${query(kindOf(type).one, { id }, namesOf(type))}`);

/** The statuses that work orders have. */
export const statusesQuery = (): string =>
  query('workOrdersSummary', { groupBy: [Symbol('STATUS')], first: atMost(100) }, 'groups { status { id name } }');

/** Locations by a part of their names. */
export const locationsQuery = (text: string): string => {
  const where = { name: { contains: text, ignoreCase: true } };
  return query('locations', { first: atMost(20), where }, `nodes { ${namesOf('Location')} }`);
};

/** What the overview counts in groups: records of a kind by a link, or by the month of their start. */
export interface Chart {
  readonly title: string;
  readonly kind: string;
  /** The field that a group has in common: the ID of a link, or the date. */
  readonly field: string;
}

export const charts: readonly Chart[] = [
  { title: 'Assets by status', kind: 'Asset', field: 'statusId' },
  { title: 'Assets by location', kind: 'Asset', field: 'currentLocationId' },
  { title: 'Work orders by status', kind: 'WorkOrder', field: 'statusId' },
  { title: 'Work orders by location', kind: 'WorkOrder', field: 'locationId' },
  { title: 'Work orders by month of their start', kind: 'WorkOrder', field: 'startDate' },
  { title: 'Projects by status', kind: 'Project', field: 'statusId' },
];

/**
 * Months begin where the viewer is, in whose time zone the tables have their times. But what is stored as a date is at midnight UTC, and west
 * of Greenwich the first day of a month would be counted in the month before: months are those of UTC there.
 */
export const monthZone =
  new Date(2026, 0).getTimezoneOffset() > 0 ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The largest groups of what has a value: an index is enough for them, and takes a fifth of the time. Of months all, as far as anybody looks. */
function chartQuery({ kind, field }: Chart, index: number): string {
  const by = linkOf(field);
  const constant = by.replace(/[A-Z]/g, '_$&').toUpperCase();
  const [groups, selected] =
    field === 'startDate'
      ? [{ groupBy: [Symbol('MONTH_OF_START')], first: atMost(60), timeZone: monthZone }, 'startMonth']
      : [{ groupBy: [Symbol(constant)], first: atMost(12) }, `${field} ${by} { ${namesOf(typeOf(kind, by))} }`];
  const sent = { ...groups, where: { [field]: { isNull: false } } };
  const summary = `${kindOf(kind).list}Summary`;
  return `chart${index}: ${query(summary, sent, `totalCount hasMoreGroups groups { count ${selected} }`)}`;
}

/** The counts, and then each chart by itself: some take longer. */
export const overviewQueries = (): string[] => [
  kindNames.map((kind) => query(kindOf(kind).list, { first: 0 }, 'totalCount')).join('\n  '),
  ...charts.map(chartQuery),
];

const placed = { latitude: { isNull: false }, longitude: { isNull: false } };

/** A page of the locations that a map shows: as large as the service allows. */
export const mapQuery = (after?: string): string => {
  const selection = `nodes { ${namesOf('Location')} latitude longitude } pageInfo { hasNextPage endCursor }`;
  return query('locations', { first: atMost(10_000), after, where: placed }, selection);
};

/** Unless this has another result, the locations of a map are as they were. */
export const mapStateQuery = (): string => {
  const latest = { first: 1, where: placed, orderBy: [{ updatedAt: descending }] };
  return `all: locations(first: 0) { totalCount }\n  placed: ${query('locations', latest, 'totalCount nodes { updatedAt }')}`;
};

/** What is at locations. */
export const placesQuery = (ids: readonly string[]): string => {
  const selection = `nodes { ${namesOf('Location')} assets(first: 0) { totalCount } workOrders(first: 0) { totalCount } }`;
  return query('locations', { first: atMost(50), where: { id: { in: ids } } }, selection);
};

/** The categories without a parent, and those below the open ones. */
export function treeQuery({ open }: View): string {
  const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
  const page = { first: atMost(1_000), where: { or: levels }, orderBy: [{ name: ascending }] };
  const selection = 'nodes { id name parent { id } children(first: 0) { totalCount } } pageInfo { hasNextPage }';
  return query('assetCategories', page, selection);
}

/** The filter of a table for what is in a list of a record, such as `ownedAssets` of a company: those whose `owner` it is. */
export function filterOfList(list: string, from: string, kind: string): { link: string; field: string } | undefined {
  // They do not refer to what they are above of.
  if (list === 'ancestors') return undefined;
  const { fields, filters } = kindOf(kind);
  const links = Object.keys(fields).filter((field) => fields[field] === from);
  const link = links.find((field) => list.startsWith(field.slice(0, 4))) ?? links[0];
  return link === undefined ? undefined : { link, field: `${link}Id` in filters ? `${link}Id` : link };
}
