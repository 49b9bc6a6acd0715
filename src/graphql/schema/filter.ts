/**
 * The filters of record kinds. Each field of a filter is one object that says how it is declared, which filters are in it, and which
 * conditions it stands for. Costs are counted before anything runs, from what was sent, of whatever shape; conditions are parsed once GraphQL has
 * validated names and the types of values. Exports and the feed read the same filters as JSON.
 */
import type { Limits } from '../../config.ts';
import { type Field, isAscii, type ReferenceField } from '../../model/fields.ts';
import { count, expected, isObject, type Path } from '../../model/issues.ts';
import { capitalized, linkField, withArticle } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindNamed, recordKinds, reverseLinksOf } from '../../records/index.ts';
import type { Condition, Value } from '../../store/query/record-query.ts';
import {
  builder,
  describeReverseLink,
  type InputRef,
  memoize,
  parseArgument,
  parseText,
  refused,
  type scalarOf,
  subjectOf,
} from './builder.ts';

/** A filter as sent, validated by GraphQL. */
export type Filter = Readonly<Record<string, unknown>>;

interface FilterField {
  readonly type: InputRef<Filter> | [InputRef<Filter>];
  readonly description: string;
  /** The filters in this one, of which each costs as much as it has; without them, it has values. */
  readonly inner?: {
    readonly kind: RecordKind;
    readonly isLink: boolean;
    readonly in: (sent: unknown) => unknown;
  };
  /** Throws a ServiceError 400 that says where and what was expected. */
  conditions(sent: unknown, path: Path, reading: Reading): Condition[];
}

/** The limits of one filter, and what of them its parts have used so far. */
interface Reading {
  readonly maxTextLength: number;
  readonly relations: number;
  readonly used: { values: number; patterns: number };
}

/** Values and conditions in a filter: databases limit the parameters of a statement and the size of its expressions. */
const maxValues = 1_000;

/** The most texts with letters beyond A to Z compared ignoring case: Postgres keeps 32 patterns ready, SQLite none. */
const maxPatterns = 20;

/** The most characters of a text that becomes a pattern. */
const maxPatternLength = 1_000;

/** The most levels of nested relations: each is a subquery. */
const maxRelations = 5;

/** Half of the circumference of the Earth, taken as a sphere, in kilometres. */
const maxDistance = 20_015;

const conditionCost = 10;
/** Cost per character of a text, which the database compares with the texts of many records. */
const characterCost = 0.1;
/** Cost per character of a text that is compared letter by letter, in several forms. */
const patternCharacterCost = 10;
const relationCost = 1_000;
const relatedTimes = 10;

const otherExample = '{ createdAt: { gte: "2026-03-01" } }';

/** `WorkOrderFilter` */
export const filterOf = memoize((kind: RecordKind) => builder.inputRef<Filter>(`${kind.name}Filter`));

for (const kind of recordKinds) {
  filterOf(kind).implement({
    description: `Conditions on ${withArticle(kind.label)}, all of which must hold: \`${exampleFilter(kind)}\`. At most ${count(maxValues)} values and conditions in all, and links nested at most ${maxRelations} deep.`,
    fields: (t) =>
      Object.fromEntries(
        [...filterFields(kind)].map(([name, { type, description }]) => [name, t.field({ type, description })]),
      ),
  });
}

const filterFields = memoize((kind: RecordKind): ReadonlyMap<string, FilterField> => {
  const stored = Object.entries(kind.storedFields).filter(([name]) => name !== 'workspaceId');
  const example = exampleFilter(kind);
  return new Map([
    ...stored.map(([name, field]) => [name, valueField(kind, name, field)] as const),
    ...stored.flatMap(([name, field]) =>
      field.type === 'reference' ? [[linkField(name), linkedField(name, field)] as const] : [],
    ),
    ...reverseLinksOf(kind.name).map((link) => [link.name, reverseField(link)] as const),
    ...nearFields(kind),
    ['and', combined(kind, 'all', `All of these match: \`{ and: [${example}, { not: ${otherExample} }] }\`.`)],
    ['or', combined(kind, 'any', `At least one of these matches: \`{ or: [${example}, ${otherExample}] }\`.`)],
    ['not', negated(kind)],
  ]);
});

const valueField = (kind: RecordKind, name: string, field: Field): FilterField => ({
  type: valueFilters[field.type],
  description: `${subjectOf(field)}: \`${exampleConditions(kind, name, field)}\`.`,
  conditions(sent, path, reading) {
    const filter = requireObject(sent, path, forUnset);
    for (const [operator, value] of Object.entries(filter))
      if (value === null) throw isNullAt([...path, operator], forUnset);
    return field.type === 'externalIds'
      ? externalIdConditions(name, filter, path, reading)
      : comparisons(name, field, filter, path, reading);
  },
});

const linkedField = (name: string, { target, refersTo }: ReferenceField): FilterField => {
  const kind = kindNamed(target);
  return {
    type: filterOf(kind),
    description: `${capitalized(refersTo)}, which must be stored here and match: \`${exampleFilter(kind)}\`.`,
    inner: { kind, isLink: true, in: (sent) => [sent] },
    conditions: (sent, path, reading) => [
      { link: name, target: kind, matches: related(kind, sent, path, reading, `\`${name}: { isNull: true }\``) },
    ],
  };
};

const reverseField = (link: ReverseLink): FilterField => ({
  type: listFilterOf(link.kind),
  description: `${describeReverseLink(link)}: \`{ some: ${exampleFilter(link.kind)} }\`.`,
  inner: { kind: link.kind, isLink: true, in: (sent) => sent },
  conditions: (sent, path, reading) =>
    Object.entries(requireObject(sent, path)).map(([quantifier, filter]) => ({
      reverse: link,
      // The cast is safe: GraphQL has validated the names.
      quantifier: quantifier as keyof typeof quantifiers,
      matches: related(link.kind, filter, [...path, quantifier], reading),
    })),
});

function nearFields({ storedFields: { latitude, longitude } }: RecordKind): (readonly [string, FilterField])[] {
  if (latitude?.type !== 'number' || longitude?.type !== 'number') return [];
  const bounds = { latitude, longitude, withinKm: { min: 0, max: maxDistance } };
  const near: FilterField = {
    type: nearFilter,
    description:
      'Within a distance of a point, as the crow flies: `{ latitude: 53.08, longitude: 8.8, withinKm: 10 }`.',
    conditions(sent, path, reading) {
      countValues(reading, path, 1);
      const filter = requireObject(sent, path);
      const numberAt = (name: keyof typeof bounds): number => {
        const { [name]: value } = filter;
        const { min, max } = bounds[name];
        if (typeof value === 'number' && value >= min && value <= max) return value;
        throw refused([...path, name], expected(`a number from ${min} to ${max}`, value));
      };
      const [latitude, longitude, withinKm] = [numberAt('latitude'), numberAt('longitude'), numberAt('withinKm')];
      return [{ near: { latitude, longitude, withinKm } }];
    },
  };
  return [['near', near]];
}

const combined = (kind: RecordKind, name: 'all' | 'any', description: string): FilterField => ({
  type: [filterOf(kind)],
  description,
  inner: { kind, isLink: false, in: (sent) => (isObject(sent) ? [sent] : sent) },
  conditions(sent, path, reading) {
    const operands = (Array.isArray(sent) ? sent : [requireObject(sent, path)]).map((filter, index) => {
      countValues(reading, path, 1);
      return conditionOf(kind, filter, [...path, index], reading);
    });
    return [name === 'all' ? { all: operands } : { any: operands }];
  },
});

const negated = (kind: RecordKind): FilterField => ({
  type: filterOf(kind),
  description: `This does not match: \`{ not: ${exampleFilter(kind)} }\`.`,
  inner: { kind, isLink: false, in: (sent) => [sent] },
  conditions(sent, path, reading) {
    countValues(reading, path, 1);
    return [{ not: conditionOf(kind, sent, path, reading) }];
  },
});

type ToCondition = (field: string, values: readonly Value[], ignoreCase: true | undefined) => Condition;

const isOneOf: ToCondition = (field, values, ignoreCase) => ({ field, in: values, ...(ignoreCase && { ignoreCase }) });

const compares =
  (compare: 'gt' | 'gte' | 'lt' | 'lte'): ToCondition =>
  (field, [value = '']) => ({ field, compare, value });

const hasText =
  (text: 'contains' | 'startsWith' | 'endsWith'): ToCondition =>
  (field, [value], ignoreCase) => ({ field, text, value: String(value), ...(ignoreCase && { ignoreCase }) });

/** The operators of comparisons, in addition to `isNull` and `ignoreCase`, which compare nothing. */
const operators = {
  eq: ['The value is this one', isOneOf],
  ne: ['The value is not this one, or there is no value', (...compared) => ({ not: isOneOf(...compared) })],
  in: [`The value is one of these, at most ${count(maxValues)}`, isOneOf],
  gt: ['The value is greater than this one', compares('gt')],
  gte: ['The value is this one or greater', compares('gte')],
  lt: ['The value is less than this one', compares('lt')],
  lte: ['The value is this one or less', compares('lte')],
  contains: ['The text contains this one', hasText('contains')],
  startsWith: ['The text starts with this one', hasText('startsWith')],
  endsWith: ['The text ends with this one', hasText('endsWith')],
} satisfies Record<string, readonly [description: string, ToCondition]>;

const patternOperators: readonly string[] = ['contains', 'startsWith', 'endsWith'];

type Operator = keyof typeof operators;

/** The operators of a type of value, each with an example. */
type Examples = { readonly [O in Operator]?: string };

const equality = (one: string, several: string): Examples => ({ eq: one, ne: one, in: `[${several}]` });

const sizes = (bound: string): Examples => ({ gt: bound, gte: bound, lt: bound, lte: bound });

function comparing(name: string, type: ReturnType<typeof scalarOf>, conditionsOn: string, examples: Examples) {
  return builder.inputRef<Filter>(name).implement({
    description: `Conditions on ${conditionsOn}`,
    fields: (t) => ({
      ...Object.fromEntries(
        (Object.keys(examples) as Operator[]).map((operator) => [
          operator,
          t.field({
            type: operator === 'in' ? [type] : type,
            description: `${operators[operator][0]}: \`{ ${operator}: ${examples[operator]} }\`.`,
          }),
        ]),
      ),
      ...(examples.contains && {
        ignoreCase: t.boolean({
          description:
            'Whether upper and lower case letters count as equal in all conditions of this filter: `{ eq: "crane", ignoreCase: true }`.',
        }),
      }),
      isNull: t.boolean({ description: describeIsNull }),
    }),
  });
}

const describeIsNull = 'Whether there is no value: `{ isNull: true }`.';

const idFilter = comparing(
  'IdFilter',
  'ID',
  'an ID, all of which must hold. IDs are compared as text.',
  equality('"location_01h455vb4pex5vsknk084sn02q"', '"ERP-7", "ERP-8"'),
);

const valueFilters: Readonly<Record<Field['type'], InputRef<Filter>>> = {
  id: idFilter,
  reference: idFilter,
  foreignReference: idFilter,
  text: comparing(
    'TextFilter',
    'String',
    `a text, all of which must hold. Comparisons are case-sensitive unless \`ignoreCase\` is true. The texts of \`contains\`, \`startsWith\` and \`endsWith\`, and all texts with \`ignoreCase\`, have at most ${count(maxPatternLength)} characters.`,
    { ...equality('"Crane"', '"Crane", "Pump"'), contains: '"ran"', startsWith: '"Cr"', endsWith: '"ne"' },
  ),
  number: comparing('NumberFilter', 'Float', 'a number, all of which must hold.', {
    ...equality('53.08', '53.08, 53.09'),
    ...sizes('53.08'),
  }),
  dateTime: comparing(
    'DateTimeFilter',
    'DateTime',
    'a time, all of which must hold. A date alone means midnight UTC.',
    { ...equality('"2026-03-01T07:30:00Z"', '"2026-03-01", "2026-04-01"'), ...sizes('"2026-03-01"') },
  ),
  boolean: comparing('BooleanFilter', 'Boolean', 'a value that is true or false, all of which must hold.', {
    eq: 'true',
    ne: 'true',
  }),
  externalIds: builder.inputRef<Filter>('ExternalIdFilter').implement({
    description: 'Conditions on the IDs of a record in other systems, all of which must hold.',
    fields: (t) => ({
      key: t.string({ description: 'The record has an ID in this system: `{ key: "erp" }`.' }),
      value: t.string({ description: 'Its ID in the system `key`: `{ key: "erp", value: "4711" }`.' }),
      isNull: t.boolean({ description: describeIsNull }),
    }),
  }),
};

const nearFilter = builder.inputRef<Filter>('NearFilter').implement({
  description: 'A circle around a point on the Earth, taken as a sphere.',
  fields: (t) => ({
    latitude: t.float({ required: true, description: 'The latitude of the point in degrees, -90 to 90: `53.08`.' }),
    longitude: t.float({ required: true, description: 'The longitude of the point in degrees, -180 to 180: `8.8`.' }),
    withinKm: t.float({
      required: true,
      description: `The greatest distance in kilometres, 0 to ${count(maxDistance)}: \`10\`.`,
    }),
  }),
});

const quantifiers = {
  some: 'At least one of them matches; `{ some: {} }` if there are any.',
  none: 'None of them matches; `{ none: {} }` if there are none.',
  every: 'Every one of them matches; also true if there are none.',
};

/** `WorkOrderListFilter` */
const listFilterOf = memoize((kind: RecordKind) =>
  builder.inputRef<Filter>(`${kind.name}ListFilter`).implement({
    description: `Conditions on ${kind.pluralLabel} that are linked to a record, all of which must hold.`,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(quantifiers).map(([name, description]) => [
          name,
          t.field({ type: filterOf(kind), description }),
        ]),
      ),
  }),
);

export function exampleFilter(kind: RecordKind): string {
  const [entry] = Object.entries(kind.example).filter(([name]) => kind.fields[name]?.type === 'text');
  return entry ? `{ ${entry[0]}: { eq: ${JSON.stringify(entry[1])} } }` : otherExample;
}

function exampleConditions({ example, idPrefix }: RecordKind, name: string, field: Field): string {
  const { [name]: value } = example;
  switch (field.type) {
    case 'text':
      return field.example === undefined
        ? `{ startsWith: ${JSON.stringify(value)} }`
        : `{ eq: ${JSON.stringify(field.example)} }`;
    case 'number':
      return typeof value === 'number' ? `{ gte: ${value}, lt: ${Math.ceil(value)} }` : '{ gte: 0 }';
    case 'boolean':
      return '{ eq: true }';
    case 'dateTime':
      return '{ gte: "2026-03-01", lt: "2026-04-01" }';
    case 'externalIds':
      return '{ key: "erp", value: "4711" }';
    case 'id':
      return `{ eq: "${idPrefix}_01h455vb4pex5vsknk084sn02q" }`;
    default:
      return typeof value === 'string' ? `{ eq: ${JSON.stringify(value)} }` : '{ isNull: false }';
  }
}

/** Returns the condition for a filter, if any. Throws a ServiceError 400 that says where and what was expected. */
export const parseFilter = (
  kind: RecordKind,
  where: Filter | null | undefined,
  { maxTextLength }: Pick<Limits, 'maxTextLength'>,
): Condition | undefined =>
  where
    ? conditionOf(kind, where, ['where'], { maxTextLength, relations: 0, used: { values: 0, patterns: 0 } })
    : undefined;

function conditionOf(kind: RecordKind, filter: unknown, path: Path, reading: Reading): Condition {
  const fields = filterFields(kind);
  const all = Object.entries(requireObject(filter, path)).flatMap(([name, sent]) =>
    sent === undefined ? [] : (fields.get(name)?.conditions(sent, [...path, name], reading) ?? []),
  );
  return all.length === 1 && all[0] ? all[0] : { all };
}

/** `instead` says what a client may have meant by null. */
function related(kind: RecordKind, filter: unknown, path: Path, reading: Reading, instead?: string): Condition {
  const { relations } = reading;
  if (relations >= maxRelations) throw refused(path, `expected at most ${maxRelations} relations within each other`);
  countValues(reading, path, 1);
  return conditionOf(kind, requireObject(filter, path, instead), path, { ...reading, relations: relations + 1 });
}

function comparisons(name: string, field: Field, filter: Filter, path: Path, reading: Reading): Condition[] {
  const { ignoreCase: sentCase, ...sentOperators } = filter;
  const ignoreCase = sentCase === true || undefined;
  return Object.entries(sentOperators).map(([operator, sent]) => {
    const at = [...path, operator];
    const values: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
    countValues(reading, at, values.length);
    if (operator === 'isNull') return { field: name, isSet: sent !== true };
    const isPattern = ignoreCase || patternOperators.includes(operator);
    const maxLength = isPattern ? Math.min(maxPatternLength, reading.maxTextLength) : reading.maxTextLength;
    const parsed = values.map((value, index) => {
      const where = values === sent ? [...at, index] : at;
      const comparedValue = parseArgument(where, field, value, maxLength);
      if (ignoreCase) countPattern(reading, where, String(comparedValue));
      return comparedValue;
    });
    // The cast is safe: GraphQL has validated the names.
    const [, toCondition] = operators[operator as Operator];
    return toCondition(name, parsed, ignoreCase);
  });
}

function externalIdConditions(name: string, filter: Filter, path: Path, reading: Reading): Condition[] {
  const { key, value, isNull } = filter;
  countValues(reading, path, 1);
  if (value !== undefined && key === undefined) {
    throw refused(path, 'expected `key` with `value`, the name of the other system, received `value` alone');
  }
  const textAt = (part: string, sent: unknown) => parseText([...path, part], sent, reading);
  const conditions: Condition[] = [];
  if (key !== undefined) {
    const sameKey = { field: name, key: textAt('key', key) };
    conditions.push(value === undefined ? sameKey : { ...sameKey, value: textAt('value', value) });
  }
  if (isNull !== undefined) conditions.push({ field: name, isSet: isNull !== true });
  return conditions;
}

/** Throws if the filter has too many values. Called before they are read. */
function countValues({ used }: Reading, path: Path, added: number): void {
  if (added > maxValues) throw refused(path, `expected at most ${count(maxValues)} values, received ${count(added)}`);
  used.values += added;
  if (used.values > maxValues)
    throw refused(['where'], `expected at most ${count(maxValues)} values and conditions, received more`);
}

/** SQLite's patterns take these characters for the same one: with each of them, it would find records that Postgres does not. */
const alikeInSqlite = /[\ufffd-\uffff]/;
const withoutAlike = 'text without the characters U+FFFD to U+FFFF, which `ignoreCase` cannot tell apart';

/** Throws if the filter has too many texts that are compared letter by letter. */
function countPattern({ used }: Reading, path: Path, text: string): void {
  if (isAscii(text)) return;
  if (alikeInSqlite.test(text)) throw refused(path, expected(withoutAlike, text));
  used.patterns += 1;
  if (used.patterns <= maxPatterns) return;
  const most = `${maxPatterns} texts with letters beyond A to Z where case is ignored`;
  throw refused(path, `expected at most ${most}, received more`);
}

/** Tells clients what to send instead of null. */
const forUnset = '{ isNull: true } for records without a value';

/** Returns the fields of a part of a filter. */
function requireObject(sent: unknown, path: Path, instead?: string): Filter {
  if (sent === null) throw isNullAt(path, instead);
  if (!isObject(sent)) throw refused(path, expected('an object', sent));
  return sent;
}

/** Null could mean no condition or no value: neither is guessed. */
const isNullAt = (path: Path, instead?: string) =>
  refused(path, `expected a value, received null: leave it out${instead === undefined ? '' : `, or use ${instead}`}`);

/** The costs of filters that were read: one that a variable shares between many fields is read once, and can be as large as a request. */
const costs = new WeakMap<object, number>();

/** Returns the cost of a filter as sent. Stops reading once it is above the limit. */
export function filterCost(kind: RecordKind, where: unknown, maxCost: number): number {
  if (!isObject(where)) return 0;
  const known = costs.get(where);
  if (known !== undefined) return known;
  const fields = filterFields(kind);
  const cost = sum(where, maxCost, (sent, name) => {
    const inner = fields.get(name)?.inner;
    if (!inner) return costOfValues(sent, false, maxCost);
    const [own, times] = inner.isLink ? [relationCost, relatedTimes] : [conditionCost, 1];
    return sum(inner.in(sent), maxCost, (filter) => own + times * filterCost(inner.kind, filter, maxCost));
  });
  costs.set(where, cost);
  return cost;
}

/** Reads only the beginning of a list that is longer than allowed, which will be rejected. */
function costOfValues(sent: unknown, ignoresCase: boolean, maxCost: number): number {
  if (typeof sent === 'string') {
    return Math.floor(sent.length * (ignoresCase && !isAscii(sent) ? patternCharacterCost : characterCost));
  }
  if (Array.isArray(sent)) {
    return sent.length + sum(sent.slice(0, maxValues), maxCost, (value) => costOfValues(value, ignoresCase, maxCost));
  }
  const isFolded = isObject(sent) && sent.ignoreCase === true;
  return sum(sent, maxCost, (value) => conditionCost + costOfValues(value, isFolded, maxCost));
}

/** Adds up the costs of the values of an object or an array, until the sum is above the limit. */
function sum(values: unknown, maxCost: number, costOf: (value: unknown, name: string) => number): number {
  if (typeof values !== 'object' || values === null) return 0;
  let cost = 0;
  for (const name in values) {
    cost += costOf((values as Filter)[name], name);
    if (cost > maxCost) break;
  }
  return cost;
}
