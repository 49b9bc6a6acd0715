/** Conditions without constants, which match what they matched with them: no database is needed. */
import { describe, expect, test } from 'vitest';
import { asset, assetCategory, location, project, recordKinds } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import type { Condition } from '../../src/store/query/condition.ts';
import { isAlways, isNever, simplified } from '../../src/store/query/simplify.ts';
import { byEffort } from '../support/effort.ts';
import { createModel, type PlainRecord } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';
import { createGenerator } from '../support/random-queries.ts';

const always: Condition = { all: [] };
const never: Condition = { any: [] };
const named: Condition = { field: 'name', in: ['Crane'] };
const notNamed: Condition = { not: named };

const reverse = reverseLinksOf('Location').find(({ name }) => name === 'projects');
const projects = (quantifier: 'some' | 'none' | 'every', matches: Condition): Condition => {
  if (!reverse) throw new Error('locations have no projects');
  return { reverse, quantifier, matches };
};
const inLocation = (matches: Condition): Condition => ({ link: 'locationId', target: location, matches });

test.each<[string, Condition, Condition]>([
  ['all of nothing', { all: [always, { not: never }] }, always],
  ['all of one', { all: [always, named] }, named],
  ['all with never', { all: [named, { any: [never] }] }, never],
  ['any of nothing', { any: [never, { not: always }] }, never],
  ['any of one', { any: [never, named] }, named],
  ['any with always', { any: [named, { all: [] }] }, always],
  ['not not', { not: { not: { all: [named] } } }, named],
  ['one of no values', { field: 'name', in: [] }, never],
  ['a required field that is set', { field: 'createdAt', isSet: true }, always],
  ['a required field that is not set', { field: 'createdAt', isSet: false }, never],
  ['an optional field that is set', { field: 'city', isSet: true }, { field: 'city', isSet: true }],
  ['a link to what matches never', inLocation({ all: [never] }), never],
  ['a link to anything', inLocation({ any: [named, always] }), inLocation(always)],
  ['some of anything', projects('some', { all: [always] }), projects('some', always)],
  ['some of never', projects('some', { not: always }), never],
  ['none of anything', projects('none', { not: never }), projects('none', always)],
  ['none of never', projects('none', never), always],
  ['every is always', projects('every', always), always],
  ['every is never', projects('every', { field: 'name', isSet: false }), projects('none', always)],
  ['every is something', projects('every', named), projects('none', notNamed)],
  ['every is not something', projects('every', notNamed), projects('none', named)],
])('a condition is simplified: %s', (_, condition, expected) => {
  expect(simplified(condition, location)).toEqual(expected);
});

/** Whether constants are only where they may be: see `simplified`. */
function hasNoConstants(condition: Condition): boolean {
  if (isAlways(condition) || isNever(condition)) return false;
  if ('all' in condition) return condition.all.every(hasNoConstants);
  if ('any' in condition) return condition.any.every(hasNoConstants);
  if ('not' in condition) return hasNoConstants(condition.not);
  if ('quantifier' in condition && condition.quantifier === 'every') return false;
  if ('matches' in condition) return isAlways(condition.matches) || hasNoConstants(condition.matches);
  return !('in' in condition) || condition.in.length > 0;
}

describe.each(Array.from({ length: byEffort({ small: 3, long: 40 }) }, (_, seed) => seed))('with seed %d', (seed) => {
  test('a simplified condition matches the same records, and has no constants inside', () => {
    const ids = new Map(recordKinds.map(({ table }) => [table, [] as string[]]));
    const generator = createGenerator(createRandom(seed), ids);
    const now = '2026-03-01T00:00:00.000Z';
    const records = (table: string, make: () => object): PlainRecord[] =>
      Array.from({ length: 30 }, (_, index) => {
        const id = `${table}_${index}`;
        ids.get(table)?.push(id);
        return { ...make(), id, workspaceId: 'ours', createdAt: now, updatedAt: now };
      });
    const world = new Map(recordKinds.map((kind) => [kind.table, records(kind.table, () => generator.record(kind))]));
    const model = createModel(world);
    let constants = 0;

    for (let time = 0; time < 2_000; time += 1) {
      const kind = generator.pick([asset, assetCategory, location, project]);
      const where = generator.condition(kind, 4);
      const simple = simplified(where, kind);

      const name = JSON.stringify(simple, (key, value) => (['target', 'kind'].includes(key) ? value.name : value));
      expect(model.list(kind, { where: simple }), name).toEqual(model.list(kind, { where }));
      const isConstant = isAlways(simple) || isNever(simple);
      expect(isConstant || hasNoConstants(simple), name).toBe(true);
      if (!isConstant && !hasNoConstants(where)) constants += 1;
    }
    expect(constants).toBeGreaterThan(100);
  });
});
