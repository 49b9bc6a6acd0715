/** Filters of record kinds, also for exports. GraphQL has validated names and types. */
import type { Limits } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { type Field, isAscii, isSorted } from '../../model/fields.ts';
import { expected, formatCount, type Path } from '../../model/issues.ts';
import { capitalized, withArticle } from '../../model/labels.ts';
import { hasPlace, type Point } from '../../model/places.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { unicodeForms } from '../../model/sort-key.ts';
import { recordKinds, reverseLinksOf, treeOf } from '../../records/index.ts';
import type { AlikeComparison, Condition, ScalarValue } from '../../store/query/record-query.ts';
import {
  badArgument,
  builder,
  describeReverseLink,
  type InputRef,
  memoize,
  parseArgument,
  parseText,
  queryLinks,
  type scalarOf,
  subjectOf,
} from './builder.ts';

// biome-ignore lint/suspicious/noExplicitAny: GraphQL has validated the types.
export type Filter = Readonly<Record<string, any>>;

interface FilterField {
  readonly type: InputRef<Filter> | [InputRef<Filter>] | 'ID';
  readonly description: string;
  conditions(sent: Filter, path: Path, context: FilterContext): Condition[];
}

interface FilterContext {
  readonly maxTextLength: number;
  readonly relations: number;
  readonly used: { values: number };
}

/** Values and conditions: databases limit both in a statement. */
const maxValues = 1_000;

const maxPatternLength = 1_000;

/** Each is a subquery. */
const maxRelations = 5;

/** Half the circumference of a spherical Earth, in kilometres. */
const maxDistance = 20_015;

export const exampleFilter = '`{ createdAt: { gte: "2026-03-01" } }`';

export const filterOf = memoize((kind: RecordKind) => builder.inputRef<Filter>(`${kind.name}Filter`));

for (const kind of recordKinds) {
  filterOf(kind).implement({
    description: `Conditions on ${withArticle(kind.label)}, all of which must hold: ${exampleFilter}. At most ${formatCount(maxValues)} values and conditions in all, and links nested at most ${maxRelations} deep.`,
    fields: (t) =>
      Object.fromEntries(
        [...filterFields(kind)].map(([name, { type, description }]) => [name, t.field({ type, description })]),
      ),
  });
}

const filterFields = memoize((kind: RecordKind): ReadonlyMap<string, FilterField> => {
  const stored = Object.entries(kind.storedFields).filter(([name]) => name !== 'workspaceId');
  return new Map([
    ...stored.map(([name, field]) => [name, valueField(name, field)] as const),
    ...queryLinks(kind).map((link) => [link.name, linkedField(link)] as const),
    ...reverseLinksOf(kind.name).map((link) => [link.name, reverseField(link)] as const),
    ...(hasPlace(kind) ? [['near', near] as const] : []),
    ...(kind.storedFields.startDate && kind.storedFields.endDate ? [['during', during] as const] : []),
    ...(treeOf(kind.name) ? [['within', within(kind)] as const] : []),
    ['and', combined(kind, 'All of these match.', (all) => ({ all }))],
    ['or', combined(kind, 'At least one of these matches.', (any) => ({ any }))],
    ['not', negated(kind)],
  ]);
});

const valueField = (name: string, field: Field): FilterField => ({
  type: valueFilters[field.type],
  description: `${subjectOf(field)}.`,
  conditions: (sent, path, context) =>
    field.type === 'externalIds'
      ? externalIdConditions(name, sent, path, context)
      : comparisonConditions(name, field, sent, path, context),
});

const linkedField = ({
  reference,
  target,
  refersTo,
  keyPrefix,
}: ReturnType<typeof queryLinks>[number]): FilterField => ({
  type: filterOf(target),
  description: `${capitalized(refersTo)}, which must be stored here and match; \`{}\` if it is stored here.`,
  conditions: (sent, path, context) => [
    {
      link: reference,
      target,
      matches: relatedCondition(target, sent, path, context),
      ...(keyPrefix && { keyPrefix }),
    },
  ],
});

const reverseField = (link: ReverseLink): FilterField => ({
  type: listFilterOf(link.kind),
  description: `${describeReverseLink(link)}.`,
  conditions: (sent, path, context) =>
    entriesIn(sent, path).map(([quantifier, filter]) => ({
      reverse: link,
      quantifier: quantifier as keyof typeof quantifiers,
      matches: relatedCondition(link.kind, filter, [...path, quantifier], context),
    })),
});

const within = (kind: RecordKind): FilterField => ({
  type: 'ID',
  description: `The ${kind.label} with this ID, and all below it, at most 100,000. An unknown ID matches nothing.`,
  conditions(sent, path, context) {
    countValues(context, path, 1);
    const id = parseArgument(path, kind.storedFields.id, sent, context.maxTextLength);
    return [{ within: String(id), tree: treeOf(kind.name) as ReverseLink }];
  },
});

const combined = (
  kind: RecordKind,
  description: string,
  combine: (operands: Condition[]) => Condition,
): FilterField => ({
  type: [filterOf(kind)],
  description,
  conditions: (sent, path, context) => [
    combine(sent.map((filter: Filter, index: number) => nestedCondition(kind, filter, [...path, index], context))),
  ],
});

const negated = (kind: RecordKind): FilterField => ({
  type: filterOf(kind),
  description: 'This does not match.',
  conditions: (sent, path, context) => [{ not: nestedCondition(kind, sent, path, context) }],
});

type ToCondition = (field: string, values: readonly ScalarValue[], ignoreCase: true | undefined) => Condition;

const isOneOf: ToCondition = (field, values, ignoreCase) => ({ field, in: values, ...(ignoreCase && { ignoreCase }) });

const compares =
  (compare: 'gt' | 'gte' | 'lt' | 'lte'): ToCondition =>
  (field, [value = '']) => ({ field, compare, value });

const hasText =
  (text: 'contains' | 'startsWith' | 'endsWith'): ToCondition =>
  (field, [value], ignoreCase) => ({ field, text, value: String(value), ...(ignoreCase && { ignoreCase }) });

const operators = {
  eq: ['The value is this one', isOneOf],
  ne: ['The value is not this one, or there is no value', (...compared) => ({ not: isOneOf(...compared) })],
  in: [`The value is one of these, at most ${formatCount(maxValues)}`, isOneOf],
  gt: ['The value is greater than this one', compares('gt')],
  gte: ['The value is this one or greater', compares('gte')],
  lt: ['The value is less than this one', compares('lt')],
  lte: ['The value is this one or less', compares('lte')],
  contains: ['The text contains this one', hasText('contains')],
  startsWith: ['The text starts with this one', hasText('startsWith')],
  endsWith: ['The text ends with this one', hasText('endsWith')],
  // Used for texts without a sort key, in each Unicode form.
  alike: ['The text is alike to this one: `{ alike: "muhlhof" }` finds the name `Mühlhof`', isOneOf],
  startsAlike: ['The text is alike to one that starts with this one', hasText('startsWith')],
  containsAlike: ['The text is alike to one that contains this one', hasText('contains')],
} satisfies Record<string, readonly [description: string, ToCondition]>;

type Operator = keyof typeof operators;

const sizes: readonly Operator[] = ['gt', 'gte', 'lt', 'lte'];
const patterns: readonly Operator[] = ['contains', 'startsWith', 'endsWith'];
const alikeParts: Readonly<Record<string, AlikeComparison['alike']>> = {
  alike: 'all',
  startsAlike: 'startsWith',
  containsAlike: 'contains',
};

function comparing(
  name: string,
  type: ReturnType<typeof scalarOf>,
  compared: string,
  names: readonly Operator[] = ['eq', 'ne', 'in'],
) {
  return builder.inputRef<Filter>(name).implement({
    description: `Conditions on ${compared}`,
    fields: (t) => ({
      ...Object.fromEntries(
        names.map((operator) => [
          operator,
          t.field({ type: operator === 'in' ? [type] : type, description: `${operators[operator][0]}.` }),
        ]),
      ),
      ...(type === 'String' && {
        ignoreCase: t.boolean({
          description: 'Whether upper and lower case letters count as equal in all conditions of this filter.',
        }),
      }),
      isNull: t.boolean({ description: describeIsNull }),
    }),
  });
}

const describeIsNull = 'Whether there is no value: `{ isNull: true }`.';

const idFilter = comparing('IdFilter', 'ID', 'an ID, all of which must hold. IDs are compared as text.');

const valueFilters: Readonly<Record<Field['type'], InputRef<Filter>>> = {
  id: idFilter,
  reference: idFilter,
  foreignReference: idFilter,
  text: comparing(
    'TextFilter',
    'String',
    `a text, all of which must hold. Comparisons are case-sensitive unless \`ignoreCase\` is true. The texts of \`contains\`, \`startsWith\` and \`endsWith\`, and all texts with \`ignoreCase\`, have at most ${formatCount(maxPatternLength)} characters. \`alike\`, \`startsAlike\` and \`containsAlike\` ignore case, accents, white space and leading zeros in names, references and numbers, and only case and Unicode forms in other texts.`,
    ['eq', 'ne', 'in', ...patterns, ...(Object.keys(alikeParts) as Operator[])],
  ),
  number: comparing('NumberFilter', 'Float', 'a number, all of which must hold.', ['eq', 'ne', 'in', ...sizes]),
  dateTime: comparing(
    'DateTimeFilter',
    'DateTime',
    'a time, all of which must hold. A date alone means midnight UTC: `{ gte: "2026-03-01", lt: "2026-04-01" }`.',
    ['eq', 'ne', 'in', ...sizes],
  ),
  boolean: comparing('BooleanFilter', 'Boolean', 'a value that is true or false, all of which must hold.', [
    'eq',
    'ne',
  ]),
  externalIds: builder.inputRef<Filter>('ExternalIdFilter').implement({
    description: 'Conditions on the IDs of a record in other systems, all of which must hold.',
    fields: (t) => ({
      key: t.string({ description: 'The record has an ID in this system: `{ key: "erp" }`.' }),
      value: t.string({ description: 'Its ID in the system `key`: `{ key: "erp", value: "4711" }`.' }),
      alike: t.string({ description: 'Like `value`, but the letters of the ID may be composed or decomposed.' }),
      isNull: t.boolean({ description: describeIsNull }),
    }),
  }),
};

type Range = readonly [min: number, max: number, subject: string];

const pointRanges: Readonly<Record<string, Range>> = {
  latitude: [-90, 90, 'The latitude of the point in degrees'],
  longitude: [-180, 180, 'The longitude of the point in degrees'],
};

const nearRanges = { ...pointRanges, withinKm: [0, maxDistance, 'The greatest distance in kilometres'] as Range };

const rangesType = (name: string, description: string, ranges: Readonly<Record<string, Range>>) =>
  builder.inputRef<Filter>(name).implement({
    description,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(ranges).map(([name, [min, max, subject]]) => [
          name,
          t.float({ required: true, description: `${subject}, ${min} to ${formatCount(max)}.` }),
        ]),
      ),
  });

function requireRanges(sent: Filter, path: Path, ranges: Readonly<Record<string, Range>>): void {
  for (const [name, [min, max]] of Object.entries(ranges)) {
    const { [name]: value } = sent;
    if (!(value >= min && value <= max))
      throw badArgument([...path, name], { code: 'out-of-range', min, max, received: value });
  }
}

export const pointType = rangesType('PointInput', 'A point on the Earth.', pointRanges);

/** Throws a 400 for a point not on the Earth. */
export function parsePoint(sent: Filter, path: Path): Point {
  requireRanges(sent, path, pointRanges);
  return { latitude: sent.latitude, longitude: sent.longitude };
}

const near: FilterField = {
  type: rangesType('NearFilter', 'A circle around a point on the Earth, taken as a sphere.', nearRanges),
  description: 'Within a distance of a point, as the crow flies: `{ latitude: 53.08, longitude: 8.8, withinKm: 10 }`.',
  conditions(sent, path, context) {
    countValues(context, path, 1);
    requireRanges(sent, path, nearRanges);
    return [{ near: { latitude: sent.latitude, longitude: sent.longitude, withinKm: sent.withinKm } }];
  },
};

const during: FilterField = {
  type: builder.inputRef<Filter>('DuringFilter').implement({
    description: 'A time from one moment to another.',
    fields: (t) => ({
      from: t.field({ type: 'DateTime', required: true, description: 'The start.' }),
      to: t.field({
        type: 'DateTime',
        description: 'The end, exclusive. Without it, the time is open.',
      }),
    }),
  }),
  description:
    'It has started and not ended at some moment of this time: `{ from: "2026-12-07", to: "2026-12-12" }`. A record without an end never ends; one without a start, or whose end is not after its start, never matches.',
  conditions(sent, path, context) {
    countValues(context, path, 1);
    const times = entriesIn(sent, path, () => undefined).map(([name, time]) => [
      name,
      String(parseArgument([...path, name], { type: 'dateTime' }, time, context.maxTextLength)),
    ]);
    const { from, to } = Object.fromEntries(times);
    if (to <= from) throw badArgument([...path, 'to'], expected('a time after `from`', sent.to));
    return [{ during: { from, to } }];
  },
};

const quantifiers = {
  some: 'At least one of them matches; `{ some: {} }` if there are any.',
  none: 'None of them matches; `{ none: {} }` if there are none.',
  every: 'Every one of them matches; also true if there are none.',
};

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

type ParsedFilter = { readonly condition: Condition; readonly cost: number } | { readonly refusal: ServiceError };

/** Fields share the filter of a variable: ten such fields with 10 MB of texts took 1.4 s. */
const parsedFilters = new WeakMap<Filter, ParsedFilter>();

function parsedFilter(kind: RecordKind, where: Filter, { maxTextLength }: Pick<Limits, 'maxTextLength'>): ParsedFilter {
  const cached = parsedFilters.get(where);
  if (cached) return cached;
  let parsed: ParsedFilter;
  try {
    const condition = conditionOf(kind, where, ['where'], { maxTextLength, relations: 0, used: { values: 0 } });
    parsed = { condition, cost: costOf(condition) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    parsed = { refusal: error };
  }
  parsedFilters.set(where, parsed);
  return parsed;
}

export function parseFilter(
  kind: RecordKind,
  where: Filter | null | undefined,
  limits: Pick<Limits, 'maxTextLength'>,
): Condition | undefined {
  if (!where) return undefined;
  const parsed = parsedFilter(kind, where, limits);
  if ('refusal' in parsed) throw parsed.refusal;
  return parsed.condition;
}

function conditionOf(kind: RecordKind, filter: Filter, path: Path, context: FilterContext): Condition {
  const fields = filterFields(kind);
  const insteadOf = (name: string) => (fields.has(`${name}Id`) ? `${name}Id: { isNull: true }` : undefined);
  const all = entriesIn(filter, path, insteadOf).flatMap(
    ([name, sent]) => fields.get(name)?.conditions(sent, [...path, name], context) ?? [],
  );
  return all.length === 1 && all[0] ? all[0] : { all };
}

const isNull = '{ isNull: true }';

/** Rejects null, which could mean no condition or no value. */
function entriesIn(filter: Filter, path: Path, insteadOf: (name: string) => string | undefined = () => isNull) {
  const entries = Object.entries(filter);
  for (const [name, sent] of entries) {
    if (sent !== null) continue;
    const instead = insteadOf(name);
    const use = instead === undefined ? '' : `, or use ${instead} for records without a value`;
    throw badArgument([...path, name], `expected a value, received null: leave it out${use}`);
  }
  return entries;
}

function nestedCondition(kind: RecordKind, filter: Filter, path: Path, context: FilterContext): Condition {
  countValues(context, path, 1);
  return conditionOf(kind, filter, path, context);
}

function relatedCondition(kind: RecordKind, filter: Filter, path: Path, context: FilterContext): Condition {
  const { relations } = context;
  if (relations >= maxRelations)
    throw badArgument(path, `expected at most ${maxRelations} relations within each other`);
  return nestedCondition(kind, filter, path, { ...context, relations: relations + 1 });
}

function comparisonConditions(
  name: string,
  field: Field,
  filter: Filter,
  path: Path,
  context: FilterContext,
): Condition[] {
  const { ignoreCase: sentCase, ...operands } = Object.fromEntries(entriesIn(filter, path));
  const ignoreCase = sentCase === true || undefined;
  return Object.entries(operands).map(([operator, sent]) => {
    const at = [...path, operator];
    const values: readonly unknown[] = operator === 'in' && Array.isArray(sent) ? sent : [sent];
    countValues(context, at, values.length);
    if (operator === 'isNull') return { field: name, isSet: sent !== true };
    const alike = alikeParts[operator];
    const ignoresCase = alike ? alike !== 'all' || !isSorted(field) : ignoreCase;
    const isPattern = ignoresCase || patterns.includes(operator as Operator);
    const maxLength = isPattern ? Math.min(maxPatternLength, context.maxTextLength) : context.maxTextLength;
    const parsed = values.map((value, index) => {
      const where = values === sent ? [...at, index] : at;
      const comparedValue = parseArgument(where, field, value, maxLength);
      if (ignoresCase && alikeInSqlite.test(String(comparedValue)))
        throw badArgument(where, expected(withoutAlike(alike ? operator : 'ignoreCase'), value));
      return comparedValue;
    });
    const [, toCondition] = operators[operator as Operator];
    if (!alike) return toCondition(name, parsed, ignoreCase);
    const text = String(parsed[0]);
    if (isSorted(field)) return { field: name, alike, value: text };
    return { any: unicodeForms(text).map((form) => toCondition(name, [form], true)) };
  });
}

/** Patterns of SQLite take these characters for the same one. */
const alikeInSqlite = /[\ufffd-\uffff]/;
const withoutAlike = (option: string) =>
  `text without the characters U+FFFD to U+FFFF, which \`${option}\` cannot tell apart`;

function externalIdConditions(name: string, filter: Filter, path: Path, context: FilterContext): Condition[] {
  const { isNull, ...texts } = Object.fromEntries(entriesIn(filter, path));
  countValues(context, path, 1);
  const [operator] = ['value', 'alike'].filter((other) => texts[other] !== undefined);
  if (operator && texts.key === undefined) {
    const problem = `expected \`key\` with \`${operator}\`, the name of the other system, received \`${operator}\` alone`;
    throw badArgument(path, problem);
  }
  const parsed = Object.entries(texts).map(([part, text]) => [part, parseText([...path, part], text, context)]);
  const { key, value, alike } = Object.fromEntries(parsed);
  const hasId = (id?: string): Condition => ({ field: name, key, value: id });
  return [
    ...(value !== undefined || (key !== undefined && alike === undefined) ? [hasId(value)] : []),
    ...(alike === undefined ? [] : [{ any: unicodeForms(alike).map(hasId) }]),
    ...(isNull === undefined ? [] : [{ field: name, isSet: isNull !== true }]),
  ];
}

function countValues({ used }: FilterContext, path: Path, added: number): void {
  if (added > maxValues)
    throw badArgument(path, `expected at most ${formatCount(maxValues)} values, received ${formatCount(added)}`);
  used.values += added;
  if (used.values > maxValues)
    throw badArgument(['where'], `expected at most ${formatCount(maxValues)} values and conditions, received more`);
}

const conditionCost = 10;
const charactersPerCost = 10;
const letterCost = 10;
const relationCost = 1_000;
const relatedTimes = 10;
/** All IDs below the record are read. */
const withinCost = 5_000;

/** An invalid filter costs nothing: its field fails before it reads. */
export function filterCost(kind: RecordKind, where: Filter | null | undefined, limits: Limits): number {
  const parsed = where && parsedFilter(kind, where, limits);
  return parsed && 'cost' in parsed ? parsed.cost : 0;
}

function costOf(condition: Condition): number {
  if ('all' in condition) return sum(condition.all, costOf);
  if ('any' in condition) return sum(condition.any, costOf);
  if ('not' in condition) return costOf(condition.not);
  if ('matches' in condition) return relationCost + relatedTimes * costOf(condition.matches);
  if ('near' in condition || 'during' in condition) return 3 * conditionCost;
  if ('within' in condition) return withinCost;
  const ignoreCase = 'ignoreCase' in condition || ('alike' in condition && condition.alike !== 'all');
  const costOfText = (text: string) =>
    ignoreCase && !isAscii(text) ? letterCost * text.length : Math.floor(text.length / charactersPerCost);
  const costOfValue = (value: ScalarValue | undefined) => (typeof value === 'string' ? costOfText(value) : 0);
  if ('in' in condition) return conditionCost + Math.max(0, condition.in.length - 1) + sum(condition.in, costOfValue);
  return conditionCost + ('value' in condition ? costOfValue(condition.value) : 0);
}

const sum = <T>(values: readonly T[], costOf: (value: T) => number): number =>
  values.reduce((total, value) => total + costOf(value), 0);
