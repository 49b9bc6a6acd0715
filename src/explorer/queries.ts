/** Writes the queries of the views as text that anybody can copy: with their values in it, in place of variables. */
import { constantCase } from '../model/labels.ts';
import { type Filter, textOf, type View } from './address.ts';
import { rangeOf } from './days.ts';
import {
  columns,
  isLink,
  isOfTime,
  isRecord,
  kindOf,
  linkOf,
  nameFields,
  searchedLinks,
  textFields,
  typeOf,
} from './kinds.ts';

/** The page has the setting in it; these modules also run without a page. */
const { document } = globalThis as { document?: { body: { dataset: Readonly<Record<string, string>> } } };

/** As many as this, or as the service allows. */
export const atMost = (size: number): number => Math.min(size, Number(document?.body.dataset.maxPageSize ?? 1_000));

export const [ascending, descending] = [Symbol('ASC'), Symbol('DESC')];

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

export const query = (name: string, sent: object, selection: string): string => {
  const values = pairs(sent);
  return `${values ? `${name}(${values})` : name} { ${selection} }`;
};

export const documentOf = (queries: readonly string[]): string => `{\n  ${queries.join('\n  ')}\n}`;

export const namesOf = (kind: string): string => selectionOf(kind, nameFields(kind));

/** The names of a record to choose, and where it is. */
export const choiceOf = (kind: string): string =>
  kind === 'Asset' ? selectionOf(kind, [...nameFields(kind), 'currentLocation']) : namesOf(kind);

/** Fields of a record; of a link, what names the record to which it leads. */
export function selectionOf(kind: string, fields: readonly string[]): string {
  const selected = fields.map((field) => {
    const type = typeOf(kind, field);
    // A link to a record that is not stored here has an ID only.
    const id = isRecord(type) && `${field}Id` in kindOf(kind).filters ? `${field}Id ` : '';
    // The customer of an allocation is the company of its project.
    const customer = kind === 'Allocation' && type === 'Project' ? ` company { ${namesOf('Company')} }` : '';
    return isLink(type) ? `${id}${field} { ${namesOf(type)}${customer} }` : field;
  });
  return [...new Set(selected)].join(' ');
}

/** The largest groups of a kind by a link; by an index where all of them have a value. */
export function groupsQuery(kind: string, link: string, size: number, where?: object, totals = ''): string {
  const isSet = { [`${link}Id`]: { isNull: false } };
  const sent = { groupBy: [Symbol(constantCase(link))], first: atMost(size), where: where ?? isSet };
  const groups = `groups { count ${link}Id ${link} { ${namesOf(typeOf(kind, link))} } }`;
  return query(`${kindOf(kind).list}Summary`, sent, `${totals} ${groups}`);
}

export const statusLabels = { first: atMost(100), where: { key: { startsWith: 'STATUS:' } } };

/** The columns of a table, and the fields that name each record. A start is shown with its end. */
export const rowsOf = (kind: string, fields: readonly string[] = columns[kind] ?? []): string =>
  `nodes { ${selectionOf(kind, [...nameFields(kind), ...fields.flatMap((field) => (field === 'startDate' ? [field, 'endDate'] : field))])} }`;

/** Midnight in the viewer's time zone. */
const startOf = (day: string): string => new Date(`${day}T00:00`).toISOString();

/** A day begins in the time zone of the viewer. A time at midnight UTC is a date: it is of this day for everybody. */
function dayCondition(field: string, operator: string, [day, next]: readonly [string, string]): object {
  const before = (end: string) => ({ [field]: { lt: startOf(end), ne: end } });
  // The range lets the database read an index from the earlier midnight on.
  const since = (first: string) => ({ [field]: { gte: [startOf(first), first].sort()[0] }, not: before(first) });
  const within = { and: [since(day), before(next)] };
  if (operator === 'lt' || operator === 'lte') return before(operator === 'lt' ? day : next);
  if (operator === 'gt' || operator === 'gte') return since(operator === 'gte' ? day : next);
  return operator === 'eq' ? within : { not: within };
}

/** The asset has no allocation on any of these days. A date is the whole day; without an end, an allocation goes on. */
function freeCondition([day, next]: readonly [string, string]): object {
  const ends = [{ gt: startOf(day) }, { eq: day }, { isNull: true }].map((endDate) => ({ endDate }));
  return { allocations: { none: { startDate: { lt: startOf(next), ne: next }, or: ends } } };
}

const alikeOperators: Readonly<Record<string, string>> = {
  eq: 'alike',
  contains: 'containsAlike',
  startsWith: 'startsAlike',
};

function conditionOf(kind: string, { field, operator, value }: Filter): object | undefined {
  const type = kindOf(kind).filters[field];
  const range = isOfTime(type) ? rangeOf(value) : undefined;
  // The service refuses another value by its field.
  if (type === 'PeriodFilter')
    return range ? freeCondition(range) : { allocations: { none: { startDate: { lt: value } } } };
  if (range) return dayCondition(field, operator, range);
  if (operator === 'within') return { [linkOf(field)]: { within: value } };
  const isWord = operator === 'isNull' || type === 'BooleanFilter';
  const isNumber = type === 'NumberFilter' && value.trim() !== '' && Number.isFinite(Number(value));
  // The service refuses other values.
  const sent = isNumber ? Number(value) : isWord && /^(true|false)$/.test(value) ? value === 'true' : value;
  const alike = type === 'TextFilter' && alikeOperators[operator];
  if (alike) return { [field]: { [alike]: sent } };
  return { [field]: { [operator]: sent, ...(type === 'TextFilter' && !isWord && { ignoreCase: true }) } };
}

/** `GE0101`, `GE-0101` and `GE 0101` are one number to people. */
export const spellingsOf = (text: string): readonly string[] => [
  ...new Set(['-', ' ', ''].map((between) => text.replace(/^(\p{L}+)[ -]?(?=\d+$)/u, `$1${between}`))),
];

/** Conditions on each text of a record. */
const textConditions = (kind: string, operator: string, text: string): readonly object[] =>
  textFields(kind).flatMap((field) => spellingsOf(text).map((spelling) => ({ [field]: { [operator]: spelling } })));

/** The other systems of which records have IDs, as far as they have been read. */
export const systems = new Set<string>();

/** A search of all kinds looks into these within the 2,000 tokens that a document may have. */
const maxSystems = 8;

/** `erp:4711` is an ID in another system. */
function namedId(text: string): readonly object[] {
  const [key, ...rest] = text.split(':');
  const alike = rest.join(':').trim();
  return key && alike ? [{ key, alike }] : [];
}

const withIds = (kind: string, ids: readonly object[]): readonly object[] =>
  'externalIds' in kindOf(kind).fields ? ids.map((externalIds) => ({ externalIds })) : [];

/** A whole text such as `4711` or `erp 4711` may also be an ID in any system. */
export function externalIdConditions(kind: string, text: string): readonly object[] {
  const whole = text.trim();
  const idIn = (key: string) => ({ key, alike: whole.startsWith(`${key} `) ? whole.slice(key.length + 1) : whole });
  return withIds(kind, [...namedId(whole), ...[...systems].slice(0, maxSystems).map(idIn)]);
}

/** The word must be in a text of the record, or of a record or label to which it leads. */
function wordCondition(kind: string, word: string): object {
  const conditionsOf = (type: string) => textConditions(type, 'containsAlike', word);
  // The customer of an allocation is the company of its project.
  const customer = kind === 'Allocation' ? [{ project: { company: { or: conditionsOf('Company') } } }] : [];
  const links = [
    ...searchedLinks(kind).map((link) => ({ [link]: { or: conditionsOf(typeOf(kind, link)) } })),
    ...customer,
  ];
  return { or: [...conditionsOf(kind), ...links, ...withIds(kind, namedId(word))] };
}

function searchConditions(kind: string, search: string): readonly object[] {
  const words = search.split(/\s+/).filter(Boolean);
  const conditions = words.map((word) => wordCondition(kind, word));
  const externalId = words.length > 0 ? externalIdConditions(kind, search) : [];
  return externalId.length > 0 ? [{ or: [{ and: conditions }, ...externalId] }] : conditions;
}

/** Filters of a field with several values are one: it has one of the values, or none of them. */
export function filterGroups(filters: readonly Filter[]): readonly (readonly Filter[])[] {
  const keyOf = (filter: Filter) =>
    ['eq', 'ne', 'within'].includes(filter.operator) ? `${filter.field}.${filter.operator}` : textOf(filter);
  return [...new Set(filters.map(keyOf))].map((key) => filters.filter((filter) => keyOf(filter) === key));
}

/** The condition of a table, as the argument `where` and as the exports take it. */
export function whereOf({ kind = '', search = '', filters = [] }: View): object | undefined {
  const groups = filterGroups(filters).flatMap((group) => {
    const all = group.map((filter) => conditionOf(kind, filter));
    return all.length > 1 && group[0]?.operator !== 'ne' ? [{ or: all }] : all;
  });
  const conditions = [...groups, ...searchConditions(kind, search)];
  return conditions.length > 1 ? { and: conditions } : conditions[0];
}
