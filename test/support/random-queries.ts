/** Random records of all kinds, and random conditions, orders and summaries about them, which a seed repeats. */
import type { Field } from '../../src/model/fields.ts';
import { linkFields } from '../../src/model/links.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { kindNamed, recordKinds, reverseLinksOf } from '../../src/records/index.ts';
import {
  type Condition,
  type Grouping,
  type Order,
  orderName,
  type Value,
} from '../../src/store/query/record-query.ts';
import type { createRandom } from './random.ts';

type Random = ReturnType<typeof createRandom>;

/** Few, so that many records have the same: similar letters, patterns of both databases, and characters that sort apart. */
export const texts: readonly string[] = [
  ...'a A ab aB AB b abc Crane crane cranes ä Ä ÄRGER Ärger é ß SS ss Straße İ i I ı ſ s S k K σ ς Σ ǆ ǅ Ǆ ﬁ _ a_b null true 0 1'.split(
    ' ',
  ),
  ...'% a%b * ? [a] [^a] a] ^a a-c . .* (a) {1} + $ | ***:a (?i)a " "a" ` ; -- /* ?1 $1 :a [] {}'.split(' '),
  ...'e\u0301 \u212a \u0001 \u007f \u00a0 \u200b \ufeff \ud7ff \ue000 \uffff \u{10000} \u{1F600} a\u{1F600} \u{10428} \u{10400} \u{10ffff} a\u{10ffff}'.split(
    ' ',
  ),
  ...['', 'CRANE 7', '\\', '\\a', 'a\\', "'", "a'b", '\n', 'a\nb', '\t', ' ', ' a', 'a '],
  // Indexes on Postgres have the first 100 characters.
  ...[
    'x'.repeat(100),
    `${'x'.repeat(100)}a`,
    `${'x'.repeat(100)}B`,
    `${'x'.repeat(99)}\u{1F600}`,
    '\u{1F600}'.repeat(101),
  ],
];
const numbers = [
  0, 1, -1, 0.1, 0.2, 0.30000000000000004, 53.08, 8.8, 37.65855569801003, -5.341375331072999, 1e-300, -1e-100, 5e-324,
  -5e-324, 89.99999999999999, 90, -90, 180, -180, -0.5,
];
const times = [
  '0001-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2026-02-28T23:59:59.999Z',
  '2026-03-01T00:00:00.000Z',
  '2026-03-01T00:00:00.001Z',
  '2026-03-31T23:59:59.999Z',
  '2026-04-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];
const foreignIds = ['x', 'X', 'company-1', "com'pany", '*', 'ß', '\u{1F600}'];
const externalKeys = ['erp', 'ERP', '', '"', "'", '\\', '$.erp', '$', '0', '[0]', 'a.b', '\u{1F600}', '__proto__', 'ä'];

export function createGenerator(random: Random, idsByTable: ReadonlyMap<string, readonly string[]>) {
  const { chance, integer } = random;
  const pick = <T>(items: readonly T[]): T => items[integer(items.length)] as T;
  const several = <T>(most: number, make: () => T): T[] => Array.from({ length: integer(most + 1) }, make);
  const idOf = (kind: RecordKind): string => pick([...(idsByTable.get(kind.table) ?? []), 'x', 'company-1']);
  const fieldsOf = ({ storedFields }: RecordKind) =>
    Object.entries(storedFields).filter(([name]) => name !== 'workspaceId');

  function fieldValue(kind: RecordKind, field: Field): Value {
    if (field.type === 'number') {
      const { min, max } = field;
      const number = chance(0.8) ? pick(numbers) : min + (integer(1_000_000) / 1_000_000) * (max - min);
      return Math.min(max, Math.max(min, number));
    }
    if (field.type === 'boolean') return chance(0.5);
    if (field.type === 'dateTime') return pick(times);
    if (field.type === 'id') return idOf(kind);
    if (field.type === 'reference') return idOf(kindNamed(field.target));
    if (field.type === 'foreignReference') return field.target === 'Workspace' ? 'ours' : pick(foreignIds);
    return pick(texts);
  }

  const externalIds = () => Object.fromEntries(several(3, () => [pick(externalKeys), pick(texts)]));

  /** A value to store; a field that may be without one often is. */
  function storedValue(kind: RecordKind, field: Field): unknown {
    if (!field.required && chance(0.3)) return null;
    if (field.type === 'externalIds') return externalIds();
    // Unique values may occur once: they are made different, and many are unset.
    if (field.unique) return chance(0.5) ? null : `${pick(texts)}${integer(1e9)}`;
    if (field.type === 'reference' && field.mustExist)
      return idsByTable.get(kindNamed(field.target).table)?.length
        ? pick(idsByTable.get(kindNamed(field.target).table) ?? [])
        : null;
    return fieldValue(kind, field);
  }

  const record = (kind: RecordKind): object =>
    Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, storedValue(kind, field)]));

  function condition(kind: RecordKind, depth = 3): Condition {
    const inner = () => condition(kind, depth - 1);
    if (depth > 0 && chance(0.3)) {
      return pick([() => ({ all: several(3, inner) }), () => ({ any: several(3, inner) }), () => ({ not: inner() })])();
    }
    if (depth > 0 && chance(0.3)) return linkCondition(kind, depth);
    if ('latitude' in kind.fields && chance(0.15)) {
      const near = { latitude: pick([0, 53.08, 90, -90, 12.5]), longitude: pick([0, 8.8, 180, -180]) };
      return { near: { ...near, withinKm: pick([0, 1, 500.5, 5_000.1, 12_000.3, 20_038]) } };
    }
    return fieldCondition(kind);
  }

  function linkCondition(kind: RecordKind, depth: number): Condition {
    const links = fieldsOf(kind).flatMap(([link, field]) =>
      field.type === 'reference' ? [{ link, target: kindNamed(field.target) }] : [],
    );
    const reverse = reverseLinksOf(kind.name);
    const choice = pick([...links, ...reverse]);
    if (!choice) return fieldCondition(kind);
    if ('link' in choice) return { ...choice, matches: condition(choice.target, depth - 1) };
    return {
      reverse: choice,
      quantifier: pick(['some', 'none', 'every'] as const),
      matches: condition(choice.kind, depth - 1),
    };
  }

  function fieldCondition(kind: RecordKind): Condition {
    const [name, field] = pick(fieldsOf(kind));
    if (chance(0.15)) return { field: name, isSet: chance(0.5) };
    if (field.type === 'externalIds') {
      return { field: name, key: pick(externalKeys), ...(chance(0.7) && { value: pick(texts) }) };
    }
    const value = () => fieldValue(kind, field);
    if (chance(0.4)) {
      const ignoreCase = field.type === 'text' && chance(0.4);
      return { field: name, in: chance(0.4) ? [value()] : several(4, value), ...(ignoreCase && { ignoreCase }) };
    }
    if (field.type === 'text' && chance(0.7)) {
      const text = pick(['contains', 'startsWith', 'endsWith'] as const);
      return { field: name, text, value: pick(texts), ...(chance(0.5) && { ignoreCase: chance(0.8) }) };
    }
    return { field: name, compare: pick(['gt', 'gte', 'lt', 'lte'] as const), value: value() };
  }

  /** Each field once, and the ID last. */
  function orderBy(kind: RecordKind): Order[] {
    const orders = new Map(several(3, () => order(kind)).map((it) => [orderName(it), it]));
    const id = orders.get('id');
    orders.delete('id');
    return [...orders.values(), ...(id ? [id] : [])];
  }

  function order(kind: RecordKind, links: NonNullable<Order['links']> = []): Order {
    const choices = linkFields(kind);
    if (choices.length > 0 && links.length < 2 && chance(0.25)) {
      const [, reference, { target }] = pick(choices);
      return order(kindNamed(target), [...links, { reference, target: kindNamed(target) }]);
    }
    const [field] = pick(fieldsOf(kind).filter(([, { type }]) => type !== 'externalIds'));
    return { field, direction: pick(['asc', 'desc']), ...(links.length > 0 && { links }) };
  }

  function groupings(kind: RecordKind): Grouping[] {
    const groupable = fieldsOf(kind).flatMap(([field, { type }]): Grouping[] => {
      if (type === 'dateTime') return [{ field, by: pick(['month', 'day'] as const) }];
      return type === 'externalIds' ? [] : [{ field, by: 'value' }];
    });
    return [pick(groupable), ...several(2, () => pick(groupable))];
  }

  /** Fields that have a least and a greatest value. */
  const bounded = (kind: RecordKind): string[] =>
    fieldsOf(kind).flatMap(([name, { type }]) =>
      (type === 'dateTime' || type === 'number') && chance(0.4) ? [name] : [],
    );

  /** A reverse link of any type, and IDs to follow it from. */
  function reverseLink(): { link: ReverseLink; parentIds: string[] } {
    const targets = [...recordKinds.map(({ name }) => name), 'Company', 'Status', 'User', 'AssetType'];
    const link = pick(targets.flatMap((target) => reverseLinksOf(target)));
    const kind = recordKinds.find(({ name }) => name === link.target);
    return { link, parentIds: several(12, () => (kind ? idOf(kind) : pick([...foreignIds, 'nobody']))) };
  }

  const fields = (kind: RecordKind): ReadonlySet<string> | undefined =>
    chance(0.3) ? undefined : new Set(['id', ...fieldsOf(kind).flatMap(([name]) => (chance(0.4) ? [name] : []))]);

  return { record, condition, orderBy, groupings, bounded, reverseLink, fields, pick, chance, integer };
}
