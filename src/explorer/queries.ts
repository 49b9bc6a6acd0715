/** The queries of the views, as text that anybody can copy: with their values in it, in place of variables. */
import type { Filter, View } from './address.ts';
import { columns, isLink, isRecord, kindNames, kindOf, searched, typeOf } from './kinds.ts';

/** The page has the setting in it; these modules also run without a page. */
const { document } = globalThis as { document?: { body: { dataset: Readonly<Record<string, string>> } } };
const maxPageSize = Number(document?.body.dataset.maxPageSize ?? 1_000);

/** As many as this, or as the service allows. */
export const atMost = (size: number): number => Math.min(size, maxPageSize);

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

const call = (name: string, sent: object): string => (pairs(sent) ? `${name}(${pairs(sent)})` : name);

const [ascending, descending] = [Symbol('ASC'), Symbol('DESC')];

/** A document that reads all of these. */
export const documentOf = (queries: readonly string[]): string => `{\n  ${queries.join('\n  ')}\n}`;

/** What names a record, or what is kept elsewhere. */
const nameFields = (type: string): string =>
  ['id', 'name', 'reference', 'color'].filter((field) => field in kindOf(type).fields).join(' ');

/** Fields of a record; of a link, what it leads to by its name. */
function selectionOf(kind: string, fields: readonly string[]): string {
  const selected = fields.map((field) => {
    const type = typeOf(kind, field);
    return isLink(type) ? `${field} { ${nameFields(type)} }` : field;
  });
  return [...new Set(['id', ...selected])].join(' ');
}

const rowsOf = (kind: string): string => `nodes { ${selectionOf(kind, columns[kind] ?? [])} }`;

/** As people write it; undefined for another text. */
export function booleanOf(text: string): boolean | undefined {
  if (/^(?:true|yes)$/i.test(text)) return true;
  return /^(?:false|no)$/i.test(text) ? false : undefined;
}

const isDay = (text: string): boolean => {
  const time = Date.parse(text);
  return /^\d{4}-\d\d-\d\d$/.test(text) && time < Date.UTC(9999, 0) && new Date(time).toISOString().startsWith(text);
};

const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

/** A day begins where the viewer is, as times are shown. What is stored as a date, at midnight UTC, is of this day for everybody. */
function dayCondition(field: string, operator: string, day: string): object {
  const start = (from: string) => new Date(`${from}T00:00`).toISOString();
  const before = (end: string) => ({ [field]: { lt: start(end), ne: end } });
  // What is before neither is not looked at.
  const since = (first: string) => ({
    [field]: { gte: start(first) < first ? start(first) : first },
    not: before(first),
  });
  const next = dayAfter(day);
  const within = { and: [since(day), before(next)] };
  const bounds = { lt: before(day), lte: before(next), gte: since(day), gt: since(next) };
  const conditions: Readonly<Record<string, object>> = { ...bounds, eq: within, ne: { not: within } };
  return conditions[operator] ?? {};
}

const conditionOf = (kind: string, { field, operator, value }: Filter): object => {
  const type = kindOf(kind).filters[field];
  const isWord = operator === 'isNull' || type === 'BooleanFilter';
  // What is neither is for the service to refuse.
  if (isWord) return { [field]: { [operator]: booleanOf(value) ?? value } };
  if (type === 'DateTimeFilter' && isDay(value)) return dayCondition(field, operator, value);
  const isNumber = type === 'NumberFilter' && value.trim() !== '' && Number.isFinite(Number(value));
  return {
    [field]: { [operator]: isNumber ? Number(value) : value, ...(type === 'TextFilter' && { ignoreCase: true }) },
  };
};

/** All words must be there, each in any of the texts. `erp:4711` is also the ID in another system. */
function wordConditions(kind: string, search: string): object[] {
  const { fields, filters } = kindOf(kind);
  const words = search.split(/\s+/).filter((word) => word !== '');
  return words.map((word) => {
    const contains = { contains: word, ignoreCase: true };
    const conditions: object[] = searched(kind).map((field) => ({
      [field]: field in filters ? contains : { name: contains },
    }));
    const [, key, value] = /^([^:]+):(.+)$/.exec(word) ?? [];
    if (value !== undefined && 'externalIds' in fields) conditions.push({ externalIds: { key, value } });
    return { or: conditions };
  });
}

/** The condition of a table, as the argument `where` and as the exports take it. */
export function whereOf({ kind = '', search = '', filters = [] }: View): object | undefined {
  const conditions = [...filters.map((filter) => conditionOf(kind, filter)), ...wordConditions(kind, search)];
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
  const size = before === undefined ? { first: atMost(50), after } : { last: atMost(50), before };
  const list = call(kindOf(kind).list, { ...size, where: whereOf(view), orderBy: orderOf(view) });
  return `${list} { ${rowsOf(kind)} pageInfo { hasPreviousPage hasNextPage startCursor endCursor } }`;
}

/** How many records a table has: by itself, because it reads all that match. */
export const countQuery = (view: View): string =>
  `count: ${call(kindOf(view.kind).list, { first: 0, where: whereOf(view) })} { totalCount }`;

/**
 * Of what has a start, the last ones are first. What somebody has created or changed stays in the order of creation: all work orders of a
 * workspace may be in such a list, and sorting 100,000 takes 20 times as long.
 */
function linkedPage([field, kind]: readonly [string, string]): string {
  const { list, order } = kindOf(kind);
  const orderBy = field === list && order.includes('startDate') ? [{ startDate: descending }] : undefined;
  return `${call(field, { first: atMost(10), orderBy })} { totalCount ${rowsOf(kind)} }`;
}

/** A record, with what it refers to, what refers to it, and what has become of it; or what refers to an ID of another system. */
export function recordQuery({ kind = '', id }: View): string {
  const { one, fields, lists } = kindOf(kind);
  const changes = 'nodes { cursor at action user { id name } message fields { field before after } }';
  const lines = [
    selectionOf(kind, Object.keys(fields)),
    ...Object.entries(lists).map(linkedPage),
    ...(isRecord(kind) ? [`history(first: ${atMost(20)}) { ${changes} }`] : []),
  ];
  return `${call(one, { id })} {\n    ${lines.join('\n    ')}\n  }`;
}

/** Reads the names of records, and of what is kept elsewhere: each by its type and its ID. */
export const namesQuery = (targets: readonly (readonly [type: string, id: string])[]): string[] =>
  targets.map(([type, id], index) => `name${index}: ${call(kindOf(type).one, { id })} { ${nameFields(type)} }`);

/** What the overview counts in groups: records of a kind by a link, or by the month of their start. */
export interface Chart {
  readonly title: string;
  readonly kind: string;
  readonly by: string;
}

export const charts: readonly Chart[] = [
  { title: 'Assets by status', kind: 'Asset', by: 'status' },
  { title: 'Assets by location', kind: 'Asset', by: 'currentLocation' },
  { title: 'Work orders by status', kind: 'WorkOrder', by: 'status' },
  { title: 'Work orders by location', kind: 'WorkOrder', by: 'location' },
  { title: 'Work orders by month of their start', kind: 'WorkOrder', by: 'startMonth' },
  { title: 'Projects by status', kind: 'Project', by: 'status' },
];

/** The field that a group has in common: the ID of a link, or the date. */
export const fieldOf = ({ by }: Chart): string => (by === 'startMonth' ? 'startDate' : `${by}Id`);

/**
 * Months begin where the viewer is, in whose time zone the tables have their times. But what is stored as a date is at midnight UTC, and west
 * of Greenwich the first day of a month would be counted in the month before: months are those of UTC there.
 */
export const monthZone =
  new Date(2026, 0).getTimezoneOffset() > 0 ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The largest groups of what has a value: an index is enough for them, and takes a fifth of the time. Of months all, as far as anybody looks. */
function chartQuery(chart: Chart): string {
  const { kind, by } = chart;
  const where = { [fieldOf(chart)]: { isNull: false } };
  const group = Symbol(by.replace(/[A-Z]/g, '_$&').toUpperCase());
  const [sent, selected] =
    by === 'startMonth'
      ? [{ groupBy: [Symbol('MONTH_OF_START')], first: atMost(60), where, timeZone: monthZone }, by]
      : [{ groupBy: [group], first: atMost(12), where }, `${by}Id ${by} { ${nameFields(typeOf(kind, by))} }`];
  return `${call(`${kindOf(kind).list}Summary`, sent)} { totalCount hasMoreGroups groups { count ${selected} } }`;
}

/** The counts, and then each chart by itself: some take longer. */
export const overviewQueries = (): string[] => [
  kindNames.map((kind) => `${kindOf(kind).list}(first: 0) { totalCount }`).join('\n  '),
  ...charts.map((chart, index) => `chart${index}: ${chartQuery(chart)}`),
];

const placed = { latitude: { isNull: false }, longitude: { isNull: false } };

/** A page of the locations that a map shows: as large as the service allows. */
export const mapQuery = (after?: string): string =>
  `${call('locations', { first: atMost(10_000), after, where: placed })} {
    nodes { id name latitude longitude } pageInfo { hasNextPage endCursor }
  }`;

/** What is at locations. */
export const placesQuery = (ids: readonly string[]): string =>
  `${call('locations', { first: atMost(50), where: { id: { in: ids } } })} {
    nodes { id name assets(first: 0) { totalCount } workOrders(first: 0) { totalCount } }
  }`;

/** Unless this has another result, the locations of a map are as they were. */
export const mapStateQuery = (): string => `all: locations(first: 0) { totalCount }
  placed: ${call('locations', { first: 1, where: placed, orderBy: [{ updatedAt: descending }] })} { totalCount nodes { updatedAt } }`;

/** The categories without a parent, and those below the open ones. */
export function treeQuery({ open }: View): string {
  const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
  const list = call('assetCategories', { first: atMost(1_000), where: { or: levels }, orderBy: [{ name: ascending }] });
  return `${list} {
    nodes { id name parent { id } children(first: 0) { totalCount } } pageInfo { hasNextPage }
  }`;
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
