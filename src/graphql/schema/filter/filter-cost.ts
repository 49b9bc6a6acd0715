/** The cost of filters. A relation may read as many records as the list, and each relation in it as many again. */
import { isAscii } from '../../../model/characters.ts';
import { isObject } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { type Filter, type FilterField, filterFields, maxValues } from './filter-fields.ts';

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
