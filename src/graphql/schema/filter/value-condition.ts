/** The conditions on single values in a filter. Values are parsed as input is; a ServiceError 400 says where one is not valid. */
import { isAscii } from '../../../model/characters.ts';
import type { Field, NumberField } from '../../../model/fields.ts';
import { expected, isObject, type Path } from '../../../model/issues.ts';
import type { Condition } from '../../../store/query/condition.ts';
import { parseArgument, refused } from '../argument.ts';
import type { Filter, FilterField } from './filter-fields.ts';
import { operators } from './operators.ts';

/** Limits that the parts of one filter share. */
export interface Reading {
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
export const forUnset = '{ isNull: true } for records without a value';

/** Returns one condition for each operator. */
export function valueConditions(
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

export function nearCondition(
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
export function requireObject(sent: unknown, path: Path, instead?: string): Filter {
  if (sent === null) throw isNullAt(path, instead);
  if (!isObject(sent)) throw refused(path, expected('an object', sent));
  return sent;
}

/** Null could mean no condition or no value: neither is guessed. */
const isNullAt = (path: Path, instead?: string) =>
  refused(path, `expected a value, received null: leave it out${instead === undefined ? '' : `, or use ${instead}`}`);
