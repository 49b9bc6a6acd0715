/**
 * Translates filters into the store's conditions. GraphQL has validated their fields and the types of values; the values
 * themselves are parsed here. Throws a ServiceError 400 that says where and what was expected.
 */
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { parseComparedValue } from '../../model/compared-values.ts';
import type { Field, NumberField } from '../../model/fields.ts';
import { count, expected, formatIssue, isObject, type Path } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Comparison, Condition } from '../../store/condition.ts';
import { type FilterField, filterFields } from './filter-fields.ts';
import type { Filter } from './filter-type.ts';

/** Values in a filter: databases limit the parameters of a statement and the size of its expressions. */
const maxValues = 1_000;

/** Relations within each other: each is a subquery. */
const maxRelations = 5;

/** Characters of texts that become patterns. */
const maxPatternLength = 1_000;

/** Kilometres: no two points of the Earth are further apart. */
const maxDistance = 20_038;

/** The condition for a filter; undefined if there is none. */
export function parseFilter(
  kind: RecordKind,
  where: Filter | null | undefined,
  { maxTextLength }: Pick<Limits, 'maxTextLength'>,
): Condition | undefined {
  let values = 0;

  function countValues(path: Path, added: number): void {
    if (added > maxValues) throw refused(path, `expected at most ${count(maxValues)} values, received ${count(added)}`);
    values += added;
    if (values > maxValues)
      throw refused(['where'], `expected at most ${count(maxValues)} values and conditions, received more`);
  }

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
    const related = (target: RecordKind, filter: unknown, at: Path): Condition => {
      if (relations >= maxRelations) throw refused(at, `expected at most ${maxRelations} relations within each other`);
      countValues(at, 1);
      return conditionOf(target, filter, at, relations + 1);
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
        return [{ link: field.name, target: field.target, matches: related(field.target, sent, path) }];
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
        return valueConditions(field.name, field.field, requireObject(sent, path), path);
    }
  }

  function valueConditions(name: string, field: Field, filter: Filter, path: Path): Condition[] {
    const { ignoreCase = false, ...operators } = filter;
    if (ignoreCase === null) throw isNullAt([...path, 'ignoreCase']);
    if (field.type === 'externalIds') return externalIdConditions(name, operators, path);
    return Object.entries(operators).map(([operator, sent]) => {
      const at = [...path, operator];
      if (sent === null) throw isNullAt(at);
      const isPattern = ignoreCase === true || ['contains', 'startsWith', 'endsWith'].includes(operator);
      const maxLength = isPattern ? Math.min(maxPatternLength, maxTextLength) : maxTextLength;
      const parse = (value: unknown, where: Path) => {
        const parsed = parseComparedValue(field, value, maxLength);
        if ('problem' in parsed) throw refused(where, parsed.problem);
        return parsed.value;
      };
      countValues(at, operator === 'in' ? (sent as unknown[]).length : 1);
      const letterCase = ignoreCase === true ? { ignoreCase: true } : {};
      switch (operator) {
        case 'isNull':
          return { field: name, isSet: sent !== true };
        case 'in':
          return {
            field: name,
            in: (sent as unknown[]).map((value, index) => parse(value, [...at, index])),
            ...letterCase,
          };
        case 'eq':
          return { field: name, in: [parse(sent, at)], ...letterCase };
        case 'ne':
          return { not: { field: name, in: [parse(sent, at)], ...letterCase } };
        case 'contains':
        case 'startsWith':
        case 'endsWith':
          return { field: name, text: operator, value: String(parse(sent, at)), ...letterCase } satisfies Comparison;
        default:
          return { field: name, compare: operator as 'gt' | 'gte' | 'lt' | 'lte', value: parse(sent, at) };
      }
    });
  }

  function externalIdConditions(name: string, { key, value, isNull }: Filter, path: Path): Condition[] {
    const textAt = (part: string, sent: unknown): string => {
      const parsed = parseComparedValue({ type: 'text' }, sent, maxTextLength);
      if ('problem' in parsed) throw refused([...path, part], parsed.problem);
      return String(parsed.value);
    };
    for (const [part, sent] of Object.entries({ key, value, isNull }))
      if (sent === null) throw isNullAt([...path, part]);
    countValues(path, 1);
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

  return where === null || where === undefined ? undefined : conditionOf(kind, where, ['where'], 0);
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

function requireObject(sent: unknown, path: Path): Filter {
  if (sent === null) throw isNullAt(path);
  if (!isObject(sent)) throw refused(path, expected('an object', sent));
  return sent;
}

const refused = (path: Path, message: string) => badRequest(formatIssue({ path, message }));

/** Null could mean no condition or no value: neither is guessed. */
const isNullAt = (path: Path) =>
  refused(path, 'expected a value, received null: leave it out, or use { isNull: true } for records without a value');
