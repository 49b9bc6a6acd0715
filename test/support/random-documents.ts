/**
 * Random records of all kinds, and random documents of the schema about them, which a seed repeats: any fields, with aliases, fragments,
 * directives, filters, orders and pages, and any part of an argument in a variable.
 */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import type { Field } from '../../src/model/fields.ts';
import { isObject } from '../../src/model/issues.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { kindNamed, label, labelKey, labelledTypes, recordKinds, reverseLinksOf } from '../../src/records/index.ts';
import type { ScalarValue } from '../../src/store/query/record-query.ts';
import { queriedLinks, type SentFilter, type SentOrder } from './query-model.ts';
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
  ...'Bay_2 bay_3 Bay_10 BAY_010 bay_0 12_bay 112_Bay 7 07 700 1a2 a1 ² ½ a\u0308 a\u0308rger Łódź lodz Ørsted orsted'
    .split(' ')
    .map((text) => text.replace('_', ' ')),
  ...['bay  1 ', '1'.repeat(40), `0${'1'.repeat(12)}`, '1'.repeat(13)],
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

type Ids = ReadonlyMap<string, readonly string[]>;

/** References lead to any of the IDs, those to records that must exist to the second ones. */
export function createGenerator(random: Random, idsByTable: Ids, existing: Ids = idsByTable) {
  const { chance, integer } = random;
  const pick = <T>(items: readonly T[]): T => items[integer(items.length)] as T;
  const several = <T>(most: number, make: () => T): T[] => Array.from({ length: integer(most + 1) }, make);
  const storedIds = ({ table }: RecordKind): readonly string[] => idsByTable.get(table) ?? [];
  const idOf = (kind: RecordKind): string => pick([...storedIds(kind), 'x', 'company-1']);
  const fieldsOf = ({ storedFields }: RecordKind) =>
    Object.entries(storedFields).filter(([name]) => name !== 'workspaceId');
  const labelKeys = random.shuffle(labelledTypes.flatMap((type) => foreignIds.map((id) => labelKey(type, id))));

  function fieldValue(kind: RecordKind, field: Field): ScalarValue {
    if (field.type === 'number') {
      const { min, max } = field;
      const number = chance(0.8) ? pick(numbers) : min + (integer(1_000_000) / 1_000_000) * (max - min);
      return Math.min(max, Math.max(min, number));
    }
    if (field.type === 'boolean') return chance(0.5);
    if (field.type === 'dateTime') return pick(times);
    if (field.type === 'id') return idOf(kind);
    if (field.type === 'reference') return idOf(kindNamed(field.target));
    if (field.type === 'foreignReference') return pick(foreignIds);
    return pick(texts);
  }

  const externalIds = () => Object.fromEntries(several(3, () => [pick(externalKeys), pick(texts)]));

  /** A value to store; a field that may be without one often is. */
  function storedValue(kind: RecordKind, field: Field): unknown {
    if (!field.required && chance(0.3)) return null;
    if (field.type === 'externalIds') return externalIds();
    // Unique values may occur once: they are made different, and many are unset.
    if (field.unique && kind === label) return labelKeys.pop() ?? null;
    if (field.unique) return chance(0.5) ? null : `${pick(texts)}${integer(1e9)}`;
    if (field.type === 'reference' && field.mustExist)
      return pick([...(field.required ? [] : [null]), ...(existing.get(kindNamed(field.target).table) ?? [])]);
    return fieldValue(kind, field);
  }

  const record = (kind: RecordKind): object =>
    Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, storedValue(kind, field)]));

  function filter(kind: RecordKind, depth = 3): SentFilter {
    return Object.fromEntries(Array.from({ length: chance(0.8) ? 1 : integer(4) }, () => condition(kind, depth)));
  }

  function condition(kind: RecordKind, depth: number): readonly [string, unknown] {
    const inner = (of = kind) => filter(of, depth - 1);
    if (depth > 0 && chance(0.3)) {
      return chance(0.3) ? ['not', inner()] : [pick(['and', 'or']), several(3, inner)];
    }
    const related = [...queriedLinks(kind), ...reverseLinksOf(kind.name)];
    if (depth > 0 && related.length > 0 && chance(0.35)) {
      const link = pick(related);
      if ('direction' in link) return [link.name, { [pick(['some', 'none', 'every'])]: inner(link.kind) }];
      return [link.name, inner(link.target)];
    }
    if ('parentId' in kind.fields && chance(0.1)) return ['within', idOf(kind)];
    if ('startDate' in kind.fields && chance(0.2)) {
      const [from, to] = [pick(times), pick(times)].toSorted();
      return ['during', chance(0.2) ? { from } : { from, to }];
    }
    if ('latitude' in kind.fields && chance(0.15)) {
      return ['near', { ...point(), withinKm: pick([0, 1, 500.5, 5_000.1, 12_000.3, 20_015]) }];
    }
    const [name, field] = pick(fieldsOf(kind));
    return [name, chance(0.02) ? { isNull: null } : comparison(kind, field)];
  }

  const point = () => ({ latitude: pick([0, 53.08, 90, -90, 12.5]), longitude: pick([0, 8.8, 180, -180]) });

  /** Conditions on one field. Those that ignore case compare few texts, and none that SQLite cannot tell apart. */
  function comparison(kind: RecordKind, field: Field): SentFilter {
    if (chance(0.15)) return { isNull: chance(0.5) };
    if (field.type === 'externalIds')
      return { key: pick(externalKeys), ...(chance(0.7) && { [pick(['value', 'alike'])]: pick(texts) }) };
    if (field.type === 'text' && chance(0.4)) {
      const value = pick(texts.filter((text) => !/[\ufffd-\uffff]/.test(text)));
      if (chance(0.4)) return { [pick(['alike', 'startsAlike', 'containsAlike'])]: value };
      return { [pick(['eq', 'ne', 'contains', 'startsWith', 'endsWith'])]: value, ignoreCase: chance(0.9) };
    }
    const operators: readonly string[] =
      field.type === 'text'
        ? ['eq', 'ne', 'in', 'contains', 'startsWith', 'endsWith']
        : field.type === 'number' || field.type === 'dateTime'
          ? ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte']
          : field.type === 'boolean'
            ? ['eq', 'ne']
            : ['eq', 'ne', 'in'];
    const value = () => fieldValue(kind, field);
    return Object.fromEntries(
      Array.from({ length: chance(0.8) ? 1 : 2 }, () => pick(operators)).map((operator) => [
        operator,
        operator === 'in' ? several(4, value) : value(),
      ]),
    );
  }

  /** Each field once. */
  const orderBy = (kind: RecordKind): SentOrder[] => [
    ...new Map(
      several(3, () => order(kind, 2)).map((it) => [JSON.stringify(it).replace(/ASC|DESC|[-\d.]+/g, ''), it]),
    ).values(),
  ];

  function order(kind: RecordKind, links: number): SentOrder {
    const choices = queriedLinks(kind);
    if (choices.length > 0 && links > 0 && chance(0.25)) {
      const { name, target } = pick(choices);
      return { [name]: order(target, links - 1) };
    }
    if ('latitude' in kind.fields && chance(0.3)) return { distance: point() as never };
    const [name] = pick(fieldsOf(kind).filter(([, { type }]) => type !== 'externalIds'));
    return { [name]: pick(['ASC', 'DESC'] as const) };
  }

  return { record, filter, orderBy, point, idOf, pick, several, chance, integer };
}

/** A cursor of the kind in an order, for `after` and `before`. */
type CursorFor = (kind: RecordKind, orderBy: readonly SentOrder[]) => string;

/** Returns a function that makes documents, each with the variables to send. */
export function createDocuments(
  schema: GraphQLSchema,
  { filter, orderBy, point, idOf, pick, several, chance, integer }: ReturnType<typeof createGenerator>,
  cursorFor: CursorFor,
) {
  let variables: Record<string, unknown> = {};
  let definitions: string[] = [];
  let fragments: { readonly type: string; readonly name: string; readonly definition: string }[] = [];
  let hasDirectives = false;
  let names = 0;

  function nextName(prefix: string): string {
    names += 1;
    return `${prefix}${names}`;
  }

  /** Returns a value as GraphQL has it, any part of which may be in a variable instead. */
  function literal(value: unknown, type: GraphQLInputType, mayVary = true): string {
    if (mayVary && chance(0.12)) return variable(value, type);
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      const items = Array.isArray(value) ? value : [value];
      return `[${items.map((item) => literal(item, nullable.ofType, mayVary)).join(', ')}]`;
    }
    if (isEnumType(nullable)) return String(value);
    if (!isInputObjectType(nullable) || !isObject(value)) return JSON.stringify(value);
    const fields = nullable.getFields();
    const entries = Object.entries(value).map(([name, inner]) => {
      const { [name]: field } = fields;
      if (!field) throw new Error(`${nullable} has no field ${name}`);
      // What a one-of input is given by a variable must not be null.
      if (nullable.isOneOf && mayVary && chance(0.12)) return `${name}: ${variable(inner, field.type, '!')}`;
      return `${name}: ${literal(inner, field.type, mayVary && !nullable.isOneOf)}`;
    });
    return `{ ${entries.join(', ')} }`;
  }

  /** A variable that has the value, or has it by default, or now and then has none. */
  function variable(value: unknown, type: GraphQLInputType, required = ''): string {
    const name = nextName('v');
    const byDefault = chance(0.3) ? ` = ${literal(value, type, false)}` : '';
    definitions.push(`$${name}: ${type}${required}${byDefault}`);
    const isOptional = required === '' && !isNonNullType(type);
    if (isOptional && chance(0.05)) variables[name] = null;
    else if (byDefault === '' && !(isOptional && chance(0.15))) variables[name] = value;
    return `$${name}`;
  }

  function selection(type: GraphQLOutputType, depth: number, mustRename = false): string {
    const named = getNamedType(type);
    if (!isObjectType(named)) {
      const kind = pick(recordKinds).name;
      return `{ id __typename ... on ${kind} ${selection(schema.getType(kind) as GraphQLOutputType, depth, true)} }`;
    }
    const usable = Object.values(named.getFields()).filter((field) => depth > 0 || !isComposite(field));
    if (usable.length === 0 || chance(0.05)) return '{ __typename }';
    const selected = Array.from({ length: 1 + integer(4) }, () => {
      const known = fragments.filter((fragment) => fragment.type === named.name);
      if (known.length > 0 && chance(0.3)) return `...${pick(known).name}`;
      const text = fieldText(pick(usable), depth, mustRename);
      const wrap = integer(12);
      if (wrap === 0) return `... on ${named.name}${directive()} { ${text} __typename }`;
      if (wrap === 1) return `...${directive()} { ${text} }`;
      if (wrap === 2 && named.getInterfaces().length > 0) return `... on Node { id } ${text}`;
      if (wrap > 3) return text;
      const name = nextName('f');
      fragments.push({ type: named.name, name, definition: `fragment ${name} on ${named.name} { ${text} }` });
      return `...${name}${directive()}`;
    });
    return `{ ${selected.join(' ')} }`;
  }

  function fieldText(field: GraphQLField<unknown, unknown>, depth: number, mustRename: boolean): string {
    const args = argumentsOf(field, depth);
    // Fields of one name are one field, and need the same arguments.
    const alias = mustRename || args !== '' || chance(0.1) ? `${nextName('a')}: ` : '';
    const below = isComposite(field) ? ` ${selection(field.type, depth - 1)}` : '';
    return `${alias}${field.name}${args}${directive()}${below}`;
  }

  function directive(): string {
    if (!hasDirectives || chance(0.5)) return '';
    const condition = literal(chance(0.5), schema.getDirective('skip')?.args[0]?.type as GraphQLInputType);
    return ` @${pick(['skip', 'include'])}(if: ${condition})`;
  }

  function argumentsOf({ type, args }: GraphQLField<unknown, unknown>, depth: number): string {
    const returned = getNamedType(type).name.replace(/(?:Connection|Summary)$/, '');
    const kind = recordKinds.find(({ name }) => name === returned);
    const order = kind ? orderBy(kind) : [];
    const sent = args.flatMap((argument) => {
      if (argument.name === 'orderBy' ? order.length === 0 : !isRequiredArgument(argument) && chance(0.5)) return [];
      const value = argumentValue(argument, kind, order, depth);
      return value === undefined ? [] : [`${argument.name}: ${literal(value, argument.type)}`];
    });
    return sent.length > 0 ? `(${sent.join(', ')})` : '';
  }

  /** What is refused deep in the document leaves a part of the data. */
  function argumentValue(
    { name, type }: GraphQLArgument,
    kind: RecordKind | undefined,
    order: readonly SentOrder[],
    depth: number,
  ) {
    const named = getNamedType(type);
    switch (name) {
      case 'where':
        return kind && filter(kind);
      case 'orderBy':
        return order;
      case 'first':
        return chance(depth < 4 ? 0.1 : 0.01) ? pick([-1, 1_001]) : integer(9);
      case 'last':
        return chance(depth < 4 ? 0.2 : 0.1) ? 1 + integer(5) : undefined;
      case 'after':
      case 'before':
        return kind && chance(0.4) ? (chance(0.05) ? 'x' : cursorFor(kind, order)) : undefined;
      case 'from':
        return chance(0.05) ? { ...point(), latitude: 91 } : point();
      case 'below':
        return chance(0.7);
      case 'groupBy':
        return isEnumType(named) ? [0, ...several(2, () => 0)].map(() => pick(named.getValues()).name) : undefined;
      case 'timeZone':
        return pick(['UTC', 'Europe/Berlin', 'America/New_York', 'Mars']);
      case 'asOf':
        return pick(times);
      case 'ids':
        return several(5, () => idOf(pick(recordKinds)));
      case 'id':
        return chance(0.2) ? pick(foreignIds) : idOf(kind ?? pick(recordKinds));
      case 'key':
        return pick(externalKeys);
      case 'value':
      case 'uid':
        return pick(texts);
      default:
        return undefined;
    }
  }

  return () => {
    [variables, definitions, fragments, names] = [{}, [], [], 0];
    hasDirectives = chance(0.3);
    const selected = selection(schema.getQueryType() as GraphQLOutputType, 5);
    const declared = definitions.length > 0 ? ` (${definitions.join(', ')})` : '';
    const query = [`query${declared} ${selected}`, ...fragments.map(({ definition }) => definition)].join(' ');
    return { query, variables };
  };
}

const isComposite = ({ type }: GraphQLField<unknown, unknown>): boolean => 'getFields' in getNamedType(type);
