/** The queries of the views, as text that anybody can copy: with their values in it, in place of variables. */
import type { Filter, View } from './address.ts';
import { columns, foreign, isLink, isRecord, kindNames, kindOf, searched, typeOf } from './kinds.ts';

/** The page has the setting in it; these modules also run without a page. */
const { document } = globalThis as { document?: { body: { dataset: Readonly<Record<string, string>> } } };
const maxPageSize = Number(document?.body.dataset.maxPageSize ?? 1_000);

/** As many as this, or as the service allows. */
export const atMost = (size: number): number => Math.min(size, maxPageSize);

const pageSize = atMost(50);

/** A name of the schema within a value, which has no quotes. */
class Enum {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Writes a value as GraphQL does. */
function literal(value: unknown): string {
  if (value instanceof Enum) return value.name;
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

/** What is read of a record to name it in a link. */
const nameFields = (type: string): string =>
  isRecord(type) && 'reference' in kindOf(type).fields
    ? 'id name reference'
    : `id name${isRecord(type) ? '' : ' color'}`;

/** A field of a record; of a link, what it leads to by its name. */
function selectionOf(kind: string, field: string): string {
  const type = typeOf(kind, field);
  return isLink(type) ? `${field} { ${nameFields(type)} }` : field;
}

const selection = (kind: string, fields: readonly string[]): string =>
  fields.map((field) => selectionOf(kind, field)).join(' ');

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
  if (operator === 'lt') return before(day);
  if (operator === 'lte') return before(next);
  if (operator === 'gte') return since(day);
  if (operator === 'gt') return since(next);
  const within = { and: [since(day), before(next)] };
  return operator === 'eq' ? within : { not: within };
}

const conditionOf = (kind: string, { field, operator, value }: Filter): object => {
  const type = kindOf(kind).filters[field];
  const isWord = operator === 'isNull' || type === 'BooleanFilter';
  // What is neither is for the service to refuse.
  if (isWord) return { [field]: { [operator]: booleanOf(value) ?? value } };
  if (type === 'DateTimeFilter' && isDay(value)) return dayCondition(field, operator, value);
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (type === 'NumberFilter') return { [field]: { [operator]: Number.isFinite(number) ? number : value } };
  return { [field]: { [operator]: value, ...(type === 'TextFilter' && { ignoreCase: true }) } };
};

/** All words must be there, each in any of the texts. `erp:4711` is also the ID in another system. */
function wordConditions(kind: string, search: string): object[] {
  const words = search.split(/\s+/).filter((word) => word !== '');
  return words.map((word) => {
    const [, key, value] = /^([^:]+):(.+)$/.exec(word) ?? [];
    const hasExternalId = value !== undefined && 'externalIds' in kindOf(kind).fields;
    const contains = { contains: word, ignoreCase: true };
    const isText = (field: string) => field in kindOf(kind).filters;
    return {
      or: [
        ...searched(kind).map((field) => ({ [field]: isText(field) ? contains : { name: contains } })),
        ...(hasExternalId ? [{ externalIds: { key, value } }] : []),
      ],
    };
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
  const direction = new Enum(sort.startsWith('-') ? 'DESC' : 'ASC');
  return [{ [field]: isRecord(typeOf(kind, field)) ? { name: direction } : direction }];
}

/** One query for what several read. */
export const together = (queries: readonly string[]): string =>
  `{${queries.map((query) => query.slice(1, -1).trimEnd()).join('')}\n}`;

const pageInfo = 'pageInfo { hasPreviousPage hasNextPage startCursor endCursor }';

/** A page of a table. */
export function pageQuery(view: View): string {
  const { kind = '', before, after } = view;
  const size = before === undefined ? { first: pageSize, after } : { last: pageSize, before };
  const list = call(kindOf(kind).list, { ...size, where: whereOf(view), orderBy: orderOf(view) });
  return `{\n  ${list} {\n    nodes { id ${selection(kind, columns[kind] ?? [])} }\n    ${pageInfo}\n  }\n}`;
}

/** How many records a table has: by itself, because it reads all that match. */
export const countQuery = (view: View): string =>
  `{\n  count: ${call(kindOf(view.kind ?? '').list, { first: 0, where: whereOf(view) })} { totalCount }\n}`;

const changeFields = 'nodes { cursor at action user { id name } message fields { field before after } }';

/**
 * What has a start begins with the last one, and has a second list: what comes next, and is not over. What somebody has created or changed
 * stays in the order of creation: all work orders of a workspace may be in such a list, and sorting 100,000 takes 20 times as long.
 */
function linkedPages([field, kind]: readonly [string, string]): string[] {
  const first = atMost(10);
  const nodes = `nodes { id ${selection(kind, columns[kind] ?? [])} }`;
  const { list, order } = kindOf(kind);
  if (field !== list || !order.includes('startDate')) return [`    ${field}(first: ${first}) { totalCount ${nodes} }`];
  const fromToday = { gte: new Date().toISOString().slice(0, 10) };
  const where = { or: [{ startDate: fromToday }, { endDate: fromToday }] };
  const by = (direction: string) => [{ startDate: new Enum(direction) }];
  return [
    `    ${call(field, { first, orderBy: by('DESC') })} { totalCount ${nodes} }`,
    `    ${nextList(field)}: ${call(field, { first, where, orderBy: by('ASC') })} { ${nodes} }`,
  ];
}

export const nextList = (list: string): string => `${list}Next`;

const oneOf = (type: string): string => foreign[type]?.one ?? type.charAt(0).toLowerCase() + type.slice(1);

/** A record, with what it refers to, what refers to it, and what has become of it; or what refers to an ID of another system. */
export function recordQuery({ kind = '', id }: View): string {
  const elsewhere = foreign[kind];
  const { pages, fields } = elsewhere ? { ...elsewhere, fields: {} } : kindOf(kind);
  const lines = [
    `    ${elsewhere ? nameFields(kind) : selection(kind, Object.keys(fields))}`,
    ...Object.entries(pages).flatMap(linkedPages),
    ...(elsewhere ? [] : [`    history(first: ${atMost(20)}) { ${changeFields} }`]),
  ];
  return `{\n  ${oneOf(kind)}(id: ${literal(id)}) {\n${lines.join('\n')}\n  }\n}`;
}

/** Reads the names of records, and of what is kept elsewhere: each by its type and its ID. */
export const namesQuery = (targets: readonly (readonly [type: string, id: string])[]): string =>
  `{ ${targets.map(([type, id], index) => `name${index}: ${oneOf(type)}(id: ${literal(id)}) { ${nameFields(type)} }`).join(' ')} }`;

/** What the overview counts in groups. */
export interface Chart {
  readonly title: string;
  readonly kind: string;
  /** The field by which records are grouped: the ID of a link, or a date, of which the months count. */
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

/** Of `startDate`, the field of a group with its month: `startMonth`. Undefined for a link. */
export const monthOf = ({ field }: Chart): string | undefined =>
  field.endsWith('Date') ? field.replace(/Date$/, 'Month') : undefined;

export const linkOfChart = ({ field }: Chart): string => field.replace(/Id$/, '');

/** Months begin where the viewer is, as in the tables to which they lead. */
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** The largest groups are shown; of months all, as far as anybody looks. */
const [maxBars, maxMonths] = [12, 60];

/** Of what has a value: an index is enough for this, and takes a fifth of the time. The others are what is left of the counts. Or of what has one of these days. */
function summaryQuery(chart: Chart, days?: readonly string[]): string {
  const { kind, field } = chart;
  const month = monthOf(chart);
  const link = linkOfChart(chart);
  const groupBy = month ? `MONTH_OF_${field.replace(/Date$/, '')}` : link.replace(/[A-Z]/g, '_$&');
  const selected = month ?? `${field} ${selectionOf(kind, link)}`;
  const summary = call(`${kindOf(kind).list}Summary`, {
    groupBy: [new Enum(groupBy.toUpperCase())],
    first: atMost(month ? maxMonths : maxBars),
    where: { [field]: days ? { in: days } : { isNull: false } },
    timeZone: month && !days ? timeZone : undefined,
  });
  return `${summary} { totalCount hasMoreGroups groups { count ${selected} } }`;
}

/** A date is stored as midnight UTC, in whatever zone the months of the chart are. */
export const daysQuery = (chart: Chart, days: readonly string[]): string => `{ days: ${summaryQuery(chart, days)} }`;

/** The counts, and then each chart by itself: some take longer. */
export const overviewQueries = (): string[] => {
  const counts = kindNames.map((kind) => `  ${kindOf(kind).list}(first: 0) { totalCount }`);
  const summaries = charts.map((chart, index) => `  chart${index}: ${summaryQuery(chart)}`);
  return [counts.join('\n'), ...summaries].map((selected) => `{\n${selected}\n}`);
};

const placed = { latitude: { isNull: false }, longitude: { isNull: false } };

/** A page of the locations that a map shows. */
export const mapQuery = (after?: string): string =>
  `{\n  ${call('locations', { first: atMost(1_000), after, where: placed })} {
    nodes { id name latitude longitude }
    pageInfo { hasNextPage endCursor }\n  }\n}`;

/** Unless this has another result, the locations of a map are as they were. */
export const mapStateQuery = (): string => `{ all: locations(first: 0) { totalCount }
  ${call('locations', { first: 1, where: placed, orderBy: [{ updatedAt: new Enum('DESC') }] })} { totalCount nodes { updatedAt } } }`;

/** What is at locations. */
export const placesQuery = (ids: readonly string[]): string =>
  `{ ${call('locations', { where: { id: { in: ids } } })} {
    nodes { id name assets(first: 0) { totalCount } workOrders(first: 0) { totalCount } } } }`;

/** The categories without a parent, and those below the open ones. */
export function treeQuery({ open }: View): string {
  const levels = [{ parentId: { isNull: true } }, ...(open ? [{ parentId: { in: open.split(',') } }] : [])];
  const list = call('assetCategories', {
    first: atMost(1_000),
    where: { or: levels },
    orderBy: [{ name: new Enum('ASC') }],
  });
  return `{\n  ${list} {
    nodes { id name parent { id } children(first: 0) { totalCount } }
    pageInfo { hasNextPage }\n  }\n}`;
}

/** The field with which the records of a list, such as `ownedAssets` of a company, refer to what it is a list of: `owner`. */
export function linkOf(list: string, from: string, target: string): string | undefined {
  // They do not refer to what they are above of.
  if (list === 'ancestors') return undefined;
  const { fields } = kindOf(target);
  const links = Object.keys(fields).filter((field) => fields[field]?.type === from);
  return links.find((field) => list.startsWith(field.slice(0, 4))) ?? links[0];
}

/** The filter of a table for the records that refer to this ID. */
export function filtersOf(kind: string, link: string, id: string): Filter[] {
  const { filters } = kindOf(kind);
  const field = `${link}Id` in filters ? `${link}Id` : link;
  return [{ field, operator: 'eq', value: id }];
}
