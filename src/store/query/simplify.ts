/**
 * Simplifies a condition before it becomes SQL. Constants such as `all: []` are folded here, because Postgres would fold them in a subquery
 * together with its filter by workspace, and Citus rejects a subquery without this filter. Knows no SQL.
 */
import type { Table } from '../../model/record-kind.ts';
import type { Condition } from './condition.ts';

const always: Condition = { all: [] };
const never: Condition = { any: [] };

export const isAlways = (condition: Condition): boolean => 'all' in condition && condition.all.length === 0;
export const isNever = (condition: Condition): boolean => 'any' in condition && condition.any.length === 0;

/**
 * Returns a condition that matches the same records of the table. Constants remain only at the top, or as
 * `matches: { all: [] }`. There is no `every`, and no `in` without values.
 */
export function simplified(condition: Condition, table: Table): Condition {
  if ('all' in condition) {
    const parts = condition.all.map((part) => simplified(part, table)).filter((part) => !isAlways(part));
    return parts.find(isNever) ?? (parts.length === 1 ? (parts[0] as Condition) : { all: parts });
  }
  if ('any' in condition) {
    const parts = condition.any.map((part) => simplified(part, table)).filter((part) => !isNever(part));
    return parts.find(isAlways) ?? (parts.length === 1 ? (parts[0] as Condition) : { any: parts });
  }
  if ('not' in condition) return opposite(simplified(condition.not, table));
  if ('link' in condition) {
    const matches = simplified(condition.matches, condition.target);
    return isNever(matches) ? never : { ...condition, matches };
  }
  if ('reverse' in condition) return simplifiedReverse(condition);
  if ('in' in condition && condition.in.length === 0) return never;
  // Postgres 17 folds these, too.
  if ('isSet' in condition && table.storedFields[condition.field]?.required) return condition.isSet ? always : never;
  return condition;
}

function opposite(condition: Condition): Condition {
  if (isAlways(condition)) return never;
  if (isNever(condition)) return always;
  return 'not' in condition ? condition.not : { not: condition };
}

function simplifiedReverse({ reverse, quantifier, matches }: Extract<Condition, { quantifier: string }>): Condition {
  // "Every record matches" is "no record fails to match".
  const inner = simplified(quantifier === 'every' ? { not: matches } : matches, reverse.kind);
  if (isNever(inner)) return quantifier === 'some' ? never : always;
  return { reverse, quantifier: quantifier === 'some' ? 'some' : 'none', matches: inner };
}
