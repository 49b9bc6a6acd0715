/**
 * Translates filters into the store's conditions. GraphQL has validated their fields and the types of their values; what the values
 * themselves may be is checked here.
 */
import type { Limits } from '../../../config.ts';
import { isAscii } from '../../../model/characters.ts';
import type { Field, NumberField } from '../../../model/fields.ts';
import { count, expected, isObject, type Path } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { Condition } from '../../../store/query/condition.ts';
import { parseArgument, refused } from '../argument.ts';
import { type Filter, type FilterField, filterFields, maxValues, operators } from './filter-fields.ts';

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

/** Returns one condition for each operator. */
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
