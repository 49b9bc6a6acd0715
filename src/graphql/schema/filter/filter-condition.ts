/**
 * Translates filters into the store's conditions. GraphQL has validated their fields and the types of their values; what the
 * values themselves may be is in value-condition.ts.
 */
import type { Limits } from '../../../config.ts';
import { count, type Path } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { Condition } from '../../../store/query/condition.ts';
import { refused } from '../argument.ts';
import { type Filter, type FilterField, filterFields } from './filter-fields.ts';
import { maxValues } from './operators.ts';
import { forUnset, nearCondition, type Reading, requireObject, valueConditions } from './value-condition.ts';

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
