/** GraphQL has validated names and the types of values; what the values themselves may be is checked here. */
import type { Limits } from '../../../config.ts';
import { isAscii } from '../../../model/characters.ts';
import type { Field, NumberField } from '../../../model/fields.ts';
import { count, expected, isObject, type Path } from '../../../model/issues.ts';
import { linkField } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { ReverseLink } from '../../../model/reverse-link.ts';
import { kindNamed } from '../../../records/index.ts';
import { reverseLinksOf } from '../../../records/reverse-links.ts';
import type { Condition, Value } from '../../../store/query/record-query.ts';
import { parseArgument, refused } from '../argument.ts';

/** A filter as sent, validated by GraphQL: see filter-condition.ts. */
export type Filter = Readonly<Record<string, unknown>>;

export type FilterField =
  | { readonly type: 'value'; readonly name: string; readonly field: Field }
  | { readonly type: 'link'; readonly name: string; readonly target: RecordKind; readonly refersTo: string }
  | { readonly type: 'reverse'; readonly link: ReverseLink }
  | { readonly type: 'near'; readonly latitude: NumberField; readonly longitude: NumberField }
  | { readonly type: 'and' | 'or' | 'not' };

/** Returns the fields to filter and order by: all but the workspace, which is the same, and external IDs. */
export const comparedFields = ({
  storedFields,
}: RecordKind): (readonly [string, Exclude<Field, { type: 'externalIds' }>])[] =>
  Object.entries(storedFields).flatMap(([name, field]) =>
    name === 'workspaceId' || field.type === 'externalIds' ? [] : [[name, field] as const],
  );

const fieldsByKind = new WeakMap<RecordKind, ReadonlyMap<string, FilterField>>();

export function filterFields(kind: RecordKind): ReadonlyMap<string, FilterField> {
  const cached = fieldsByKind.get(kind);
  if (cached) return cached;
  const fields = new Map([
    ...Object.entries(kind.storedFields).flatMap(([name, field]) =>
      name === 'workspaceId' ? [] : valueAndLink(name, field),
    ),
    ...reverseLinksOf(kind.name).map((link) => [link.name, { type: 'reverse', link }] as const),
    ...near(kind),
    ...(['and', 'or', 'not'] as const).map((type) => [type, { type }] as const),
  ] as (readonly [string, FilterField])[]);
  fieldsByKind.set(kind, fields);
  return fields;
}

function valueAndLink(name: string, field: Field): (readonly [string, FilterField])[] {
  const value = [name, { type: 'value', name, field }] as const;
  if (field.type !== 'reference') return [value];
  const { refersTo, target } = field;
  return [value, [linkField(name), { type: 'link', name, target: kindNamed(target), refersTo }]];
}

export function near({ storedFields: { latitude, longitude } }: RecordKind): (readonly [string, FilterField])[] {
  if (latitude?.type !== 'number' || longitude?.type !== 'number') return [];
  return [['near', { type: 'near', latitude, longitude }]];
}

/** Values and conditions in a filter: databases limit the parameters of a statement and the size of its expressions. */
export const maxValues = 1_000;

export type ComparingFilter = 'IdFilter' | 'TextFilter' | 'NumberFilter' | 'DateTimeFilter' | 'BooleanFilter';

interface Comparing {
  readonly type: 'ID' | 'String' | 'Float' | 'DateTime' | 'Boolean';
  /** Examples: one value, several, and one for comparing sizes, if it differs. */
  readonly one: string;
  readonly several: string;
  readonly bound?: string;
}

export const comparingFilters: Readonly<Record<ComparingFilter, Comparing>> = {
  IdFilter: { type: 'ID', one: '"location_01h455vb4pex5vsknk084sn02q"', several: '"ERP-7", "ERP-8"' },
  TextFilter: { type: 'String', one: '"Crane"', several: '"Crane", "Pump"' },
  NumberFilter: { type: 'Float', one: '53.08', several: '53.08, 53.09' },
  DateTimeFilter: {
    type: 'DateTime',
    one: '"2026-03-01T07:30:00Z"',
    several: '"2026-03-01", "2026-04-01"',
    bound: '"2026-03-01"',
  },
  BooleanFilter: { type: 'Boolean', one: 'true', several: 'true, false' },
};

interface Operator {
  readonly filters: readonly ComparingFilter[];
  readonly description: string;
  readonly example?: string;
  readonly isBound?: boolean;
  readonly takesList?: boolean;
  /** True if its text becomes a pattern, whose length is limited. */
  readonly isPattern?: boolean;
  condition(field: string, values: readonly Value[], letterCase: { readonly ignoreCase?: boolean }): Condition;
}

const all = Object.keys(comparingFilters) as ComparingFilter[];

const comparison = (compare: 'gt' | 'gte' | 'lt' | 'lte', description: string): Operator => ({
  filters: ['NumberFilter', 'DateTimeFilter'],
  description,
  isBound: true,
  condition: (field, [value = '']) => ({ field, compare, value }),
});

const pattern = (text: 'contains' | 'startsWith' | 'endsWith', description: string, example: string): Operator => ({
  filters: ['TextFilter'],
  description,
  example,
  isPattern: true,
  condition: (field, [value], letterCase) => ({ field, text, value: String(value), ...letterCase }),
});

/** In the order of the schema. `isNull` and `ignoreCase` compare nothing: see filter-types.ts. */
export const operators: Readonly<Record<string, Operator>> = {
  eq: {
    filters: all,
    description: 'The value is this one',
    condition: (field, values, letterCase) => ({ field, in: values, ...letterCase }),
  },
  ne: {
    filters: all,
    description: 'The value is not this one, or there is no value',
    condition: (field, values, letterCase) => ({ not: { field, in: values, ...letterCase } }),
  },
  in: {
    filters: all.filter((name) => name !== 'BooleanFilter'),
    description: `The value is one of these, at most ${count(maxValues)}`,
    takesList: true,
    condition: (field, values, letterCase) => ({ field, in: values, ...letterCase }),
  },
  gt: comparison('gt', 'The value is greater than this one'),
  gte: comparison('gte', 'The value is this one or greater'),
  lt: comparison('lt', 'The value is less than this one'),
  lte: comparison('lte', 'The value is this one or less'),
  contains: pattern('contains', 'The text contains this one', '"ran"'),
  startsWith: pattern('startsWith', 'The text starts with this one', '"Cr"'),
  endsWith: pattern('endsWith', 'The text ends with this one', '"ne"'),
};

/** The most texts with letters beyond A to Z compared ignoring case: Postgres keeps 32 patterns ready, SQLite none. */
const maxPatterns = 20;

/** The most levels of nested relations: each is a subquery. */
export const maxRelations = 5;

/** Returns the condition for a filter, if any. Throws a ServiceError 400 that says where and what was expected. */
export function parseFilter(
  kind: RecordKind,
  where: Filter | null | undefined,
  { maxTextLength }: Pick<Limits, 'maxTextLength'>,
): Condition | undefined {
  let values = 0;
  let patterns = 0;

  function countValues(path: Path, added: number): void {
    if (added > maxValues) throw refused(path, `expected at most ${count(maxValues)} values, received ${count(added)}`);
    values += added;
    if (values > maxValues)
      throw refused(['where'], `expected at most ${count(maxValues)} values and conditions, received more`);
  }

  function countPattern(path: Path): void {
    patterns += 1;
    if (patterns > maxPatterns) {
      throw refused(
        path,
        `expected at most ${maxPatterns} texts with letters beyond A to Z where case is ignored, received more`,
      );
    }
  }

  const reading: Reading = { maxTextLength, countValues, countPattern };

  function conditionOf(of: RecordKind, filter: unknown, path: Path, relations: number): Condition {
    const fields = filterFields(of);
    const all = Object.entries(requireObject(filter, path)).flatMap(([name, sent]) => {
      const field = fields.get(name);
      if (!field || sent === undefined) return [];
      return conditionsOf(of, field, sent, [...path, name], relations);
    });
    return all.length === 1 && all[0] ? all[0] : { all };
  }

  function conditionsOf(of: RecordKind, field: FilterField, sent: unknown, path: Path, relations: number): Condition[] {
    const related = (target: RecordKind, filter: unknown, at: Path, instead?: string): Condition => {
      if (relations >= maxRelations) throw refused(at, `expected at most ${maxRelations} relations within each other`);
      countValues(at, 1);
      return conditionOf(target, requireObject(filter, at, instead), at, relations + 1);
    };
    const operands = () =>
      (Array.isArray(sent) ? sent : [requireObject(sent, path)]).map((filter, index) => {
        countValues(path, 1);
        return conditionOf(of, filter, [...path, index], relations);
      });

    switch (field.type) {
      case 'and':
        return [{ all: operands() }];
      case 'or':
        return [{ any: operands() }];
      case 'not':
        countValues(path, 1);
        return [{ not: conditionOf(of, sent, path, relations) }];
      case 'link':
        return [
          {
            link: field.name,
            target: field.target,
            matches: related(field.target, sent, path, `\`${field.name}: { isNull: true }\``),
          },
        ];
      case 'reverse':
        return Object.entries(requireObject(sent, path)).map(([quantifier, filter]) => ({
          reverse: field.link,
          quantifier: quantifier as 'some' | 'none' | 'every',
          matches: related(field.link.kind, filter, [...path, quantifier]),
        }));
      case 'near':
        countValues(path, 1);
        return [nearCondition(field, requireObject(sent, path), path)];
      case 'value':
        return valueConditions(field.name, field.field, requireObject(sent, path, forUnset), path, reading);
    }
  }

  return where === null || where === undefined ? undefined : conditionOf(kind, where, ['where'], 0);
}

/** Limits that the parts of one filter share. */
interface Reading {
  readonly maxTextLength: number;
  /** Throws if the filter has too many values. Called before they are read. */
  countValues(path: Path, added: number): void;
  /** Throws if the filter has too many texts that are compared letter by letter. */
  countPattern(path: Path): void;
}

/** The most characters of a text that becomes a pattern. */
export const maxPatternLength = 1_000;

/** SQLite's patterns take these characters for the same one: with each of them, it would find records that Postgres does not. */
const alikeInSqlite = /[\ufffd-\uffff]/;
const withoutAlike = 'text without the characters U+FFFD to U+FFFF, which `ignoreCase` cannot tell apart';

/** Half of the circumference of the Earth, taken as a sphere, in kilometres. */
export const maxDistance = 20_015;

/** Tells clients what to send instead of null. */
const forUnset = '{ isNull: true } for records without a value';

function valueConditions(
  fieldName: string,
  field: Field,
  filter: Filter,
  path: Path,
  { maxTextLength, countValues, countPattern }: Reading,
): Condition[] {
  for (const [operator, sent] of Object.entries(filter))
    if (sent === null) throw isNullAt([...path, operator], forUnset);
  if (field.type === 'externalIds') {
    countValues(path, 1);
    return externalIdConditions(fieldName, filter, path, maxTextLength);
  }
  const { ignoreCase, ...sentOperators } = filter;
  const letterCase = ignoreCase === true ? { ignoreCase: true } : {};
  return Object.entries(sentOperators).map(([name, sent]) => {
    const at = [...path, name];
    const { isPattern = false, condition } = operators[name] ?? {};
    const maxLength = ignoreCase === true || isPattern ? Math.min(maxPatternLength, maxTextLength) : maxTextLength;
    const parse = (value: unknown, where: Path) => {
      const parsed = parseArgument(where, field, value, maxLength);
      if (ignoreCase === true && !isAscii(String(parsed))) {
        if (alikeInSqlite.test(String(parsed))) throw refused(where, expected(withoutAlike, parsed));
        countPattern(where);
      }
      return parsed;
    };
    const values: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
    countValues(at, values.length);
    // GraphQL has validated the names: only `isNull` has no operator.
    if (!condition) return { field: fieldName, isSet: sent !== true };
    const parsed = values.map((value, index) => parse(value, values === sent ? [...at, index] : at));
    return condition(fieldName, parsed, letterCase);
  });
}

function externalIdConditions(
  name: string,
  { key, value, isNull }: Filter,
  path: Path,
  maxTextLength: number,
): Condition[] {
  const textAt = (part: string, sent: unknown) =>
    String(parseArgument([...path, part], { type: 'text' }, sent, maxTextLength));
  if (value !== undefined && key === undefined) {
    throw refused(path, 'expected `key` with `value`, the name of the other system, received `value` alone');
  }
  return [
    ...(key === undefined
      ? []
      : [{ field: name, key: textAt('key', key), ...(value !== undefined && { value: textAt('value', value) }) }]),
    ...(isNull === undefined ? [] : [{ field: name, isSet: isNull !== true }]),
  ];
}

function nearCondition(
  { latitude, longitude }: Extract<FilterField, { type: 'near' }>,
  filter: Filter,
  path: Path,
): Condition {
  const numberAt = (name: string, { min, max }: Pick<NumberField, 'min' | 'max'>): number => {
    const value = filter[name];
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw refused([...path, name], expected(`a number from ${min} to ${max}`, value));
  };
  return {
    near: {
      latitude: numberAt('latitude', latitude),
      longitude: numberAt('longitude', longitude),
      withinKm: numberAt('withinKm', { min: 0, max: maxDistance }),
    },
  };
}

/** Returns the fields of a part of a filter. `instead` says what a client may have meant by null. */
function requireObject(sent: unknown, path: Path, instead?: string): Filter {
  if (sent === null) throw isNullAt(path, instead);
  if (!isObject(sent)) throw refused(path, expected('an object', sent));
  return sent;
}

/** Null could mean no condition or no value: neither is guessed. */
const isNullAt = (path: Path, instead?: string) =>
  refused(path, `expected a value, received null: leave it out${instead === undefined ? '' : `, or use ${instead}`}`);

const conditionCost = 10;
/** Cost per character of a text, which the database compares with the texts of many records. */
const characterCost = 0.1;
/** Cost per character of a text that is compared letter by letter, in several forms. */
const patternCharacterCost = 10;
const relationCost = 1_000;
const relatedTimes = 10;

/** The costs of filters that were read: one that a variable shares between many fields is read once, and can be as large as a request. */
const costs = new WeakMap<object, number>();

/** Returns the cost of a filter as sent, of whatever shape. Stops reading once the cost is above the limit. */
export function filterCost(filtered: RecordKind, where: unknown, maxCost: number): number {
  function costOf(kind: RecordKind, filter: unknown): number {
    if (!isObject(filter)) return 0;
    const known = costs.get(filter);
    if (known !== undefined) return known;
    const fields = filterFields(kind);
    const cost = sum(filter, (sent, name) => costOfField(kind, fields.get(name), sent));
    costs.set(filter, cost);
    return cost;
  }

  function costOfField(kind: RecordKind, field: FilterField | undefined, sent: unknown): number {
    switch (field?.type) {
      case 'and':
      case 'or':
        return sum(isObject(sent) ? [sent] : sent, (item) => conditionCost + costOf(kind, item));
      case 'not':
        return conditionCost + costOf(kind, sent);
      case 'link':
        return relationCost + relatedTimes * costOf(field.target, sent);
      case 'reverse':
        return sum(sent, (related) => relationCost + relatedTimes * costOf(field.link.kind, related));
      case 'value':
        return sum(sent, (value) => conditionCost + costOfValues(value, isObject(sent) && sent.ignoreCase === true));
      default:
        return conditionCost;
    }
  }

  /** Reads only the beginning of a list that is longer than allowed, which will be rejected. */
  const costOfValues = (sent: unknown, ignoresCase: boolean): number =>
    Array.isArray(sent)
      ? sent.length + sum(sent.slice(0, maxValues), (value) => costOfText(value, ignoresCase))
      : costOfText(sent, ignoresCase);

  const costOfText = (sent: unknown, ignoresCase: boolean): number => {
    if (typeof sent !== 'string') return 0;
    const isPattern = ignoresCase && !isAscii(sent);
    return Math.floor(sent.length * (isPattern ? patternCharacterCost : characterCost));
  };

  /** Adds up the costs of the values of an object or an array, until the sum is above the limit. */
  function sum(values: unknown, costOfValue: (value: unknown, name: string) => number): number {
    if (typeof values !== 'object' || values === null) return 0;
    let cost = 0;
    for (const name in values) {
      cost += costOfValue((values as Filter)[name], name);
      if (cost > maxCost) break;
    }
    return cost;
  }

  return costOf(filtered, where);
}
