/** Orders of lists, also by fields of linked records, and cursors, which hold for one order. */
import { badRequest } from '../../errors.ts';
import type { Field } from '../../model/fields.ts';
import { expected, type Path } from '../../model/issues.ts';
import { uncapitalized } from '../../model/labels.ts';
import { hasPlace } from '../../model/places.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { parseComparedValue } from '../../model/schemas.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import {
  isOrderedByKey,
  oldestFirst,
  orderedField,
  orderName,
  type Position,
  positionOfId,
  type RecordOrder,
  type ScalarValue,
} from '../../store/query/record-query.ts';
import { badArgument, builder, enumType, type InputRef, queryLinks, sortableFields, subjectOf } from './builder.ts';
import { type Filter, parsePoint, pointType } from './filter.ts';

/** `{ startDate: 'desc' }`, `{ project: { name: 'asc' } }` or `{ distance: { latitude: 53.08, longitude: 8.8 } }` */
interface SentOrder {
  readonly [name: string]: RecordOrder['direction'] | SentOrder | Filter | null | undefined;
}

/** Each is a lookup for every matching record. */
const maxLinks = 2;

const direction = enumType('OrderDirection', 'The direction of an order. Records without a value come last in both.', {
  asc: 'From the smallest value, the earliest time or the start of the alphabet.',
  desc: 'From the greatest value, the latest time or the end of the alphabet.',
});

const types = new Map(
  recordKinds.map((kind) => {
    const type = builder.inputRef<SentOrder>(`${kind.name}OrderBy`).implement({
      description: `What to order ${kind.pluralLabel} by: exactly one field. Names, references and numbers are ordered as people sort them: \`bay 3\` before \`Bay 10\`. Other text is ordered by its Unicode code points.`,
      isOneOf: true,
      fields: (t) =>
        Object.fromEntries([
          ...sortableFields(kind).map(([name, field]) => [
            name,
            t.field({ type: direction, description: describeOrder(field) }),
          ]),
          ...(hasPlace(kind)
            ? [['distance', t.field({ type: pointType, description: describeDistance })] as const]
            : []),
          ...queryLinks(kind).map(({ name, target, refersTo }) => [
            name,
            t.field({
              type: orderOf(target),
              description: `By a field of ${refersTo}; at most ${maxLinks} links within each other. Slower than by a field of the ${kind.label} itself.`,
            }),
          ]),
        ]),
    });
    return [kind, type] as const;
  }),
);
const describeDistance = `By the distance from this point, the nearest first: \`{ latitude: 53.08, longitude: 8.8 }\`. Those without coordinates come last.`;

export const orderOf = (kind: RecordKind) => types.get(kind) as InputRef<SentOrder>;

function describeOrder(field: Field): string {
  const subject = uncapitalized(subjectOf(field));
  return field.type === 'dateTime' ? `By the time ${subject}.` : `By ${subject}.`;
}

export function parseOrder(kind: RecordKind, sent: readonly SentOrder[] | null | undefined): readonly RecordOrder[] {
  const orders = (sent ?? []).flatMap((order, index) => ordersIn(kind, order, ['orderBy', index]));
  const names = orders.map(({ order }) => orderName(order));
  const repeated = orders.find((_, index) => names.indexOf(names[index] ?? '') < index);
  if (repeated) throw badArgument(repeated.path, 'expected each field once');
  // No two records have the same ID: later fields have no effect.
  const id = names.indexOf('id');
  const effective = orders.slice(0, id < 0 ? undefined : id + 1).map(({ order }) => order);
  const isDefault = effective.length === 0 || isDefaultOrder(effective);
  return isDefault ? oldestFirst : effective;
}

interface OrderAt {
  readonly order: RecordOrder;
  readonly path: Path;
}

/** At most one order; none for an absent variable. */
function ordersIn(
  kind: RecordKind,
  sent: SentOrder,
  path: Path,
  links: NonNullable<RecordOrder['links']> = [],
): OrderAt[] {
  return Object.entries(sent).flatMap(([name, value]): OrderAt[] => {
    const at = [...path, name];
    if (!value) return [];
    if (typeof value === 'string') {
      return [{ order: { field: name, direction: value, ...(links.length > 0 && { links }) }, path: at }];
    }
    if (name === 'distance' && hasPlace(kind)) {
      const from = parsePoint(value, at);
      return [{ order: { field: name, direction: 'asc', from, ...(links.length > 0 && { links }) }, path: at }];
    }
    const link = queryLinks(kind).find((other) => other.name === name);
    if (!link) return [];
    if (links.length === maxLinks) throw badArgument(at, `expected at most ${maxLinks} links within each other`);
    return ordersIn(link.target, value as SentOrder, at, [...links, link]);
  });
}

const orderCost = 10;
const linkCost = 1_000;

export const costOfOrder = (sent: readonly SentOrder[] | null | undefined): number =>
  (sent ?? []).reduce((sum, order) => sum + orderCost + linkCost * Math.min(maxLinks + 1, linksIn(order)), 0);

const linksIn = (order: SentOrder): number =>
  Math.max(0, ...Object.values(order).map((value) => (typeof value === 'object' && value ? 1 + linksIn(value) : 0)));

export function cursorOf(orderBy: readonly RecordOrder[], record: { readonly id: string }): string {
  if (isDefaultOrder(orderBy)) return record.id;
  const values = valueOrders(orderBy).map((order) => (record as Readonly<Record<string, unknown>>)[orderName(order)]);
  return Buffer.from(JSON.stringify([orderOfCursor(kindOfId(record.id), orderBy), values, record.id])).toString(
    'base64url',
  );
}

/** 10,000 characters, each of up to six in JSON, in base64. */
const maxPerValue = 80_000;

export function parseCursor(kind: RecordKind, orderBy: readonly RecordOrder[], name: string, sent: string): Position {
  // A text may be as long as a request, and sent to many fields.
  const isLong = sent.length > maxPerValue * (1 + orderBy.length);
  const cursor = kindOfId(sent) ? ([orderText(oldestFirst), [], sent] as const) : isLong ? undefined : decoded(sent);
  const [order, values, id] = cursor ?? [];
  if (typeof id !== 'string' || kindOfId(id) !== kind) {
    throw badRequest(`${name}: ${expected(`a cursor from a page of ${kind.pluralLabel}`, sent)}`);
  }
  if (order !== orderOfCursor(kind, orderBy)) {
    const problem = `expected a cursor from a page in the same order (${orderText(orderBy)}), received one of another order`;
    throw badRequest(`${name}: ${problem}`);
  }
  if (isDefaultOrder(orderBy)) return positionOfId(id);
  const parsed = parseValues(kind, orderBy, values);
  if (!parsed) throw badRequest(`${name}: ${expected(`a cursor from a page of ${kind.pluralLabel}`, sent)}`);
  return { values: parsed, id };
}

const isDefaultOrder = ([first]: readonly RecordOrder[]): boolean =>
  first !== undefined && orderName(first) === 'id' && first.direction === 'asc';

/** `startDate DESC, project.name ASC` or `distance from 53.08 8.8 ASC` */
const orderText = (orderBy: readonly RecordOrder[]): string =>
  orderBy
    .map(({ direction, from, ...order }) => {
      const point = from ? ` from ${from.latitude} ${from.longitude}` : '';
      return `${orderName({ direction, ...order })}${point} ${direction.toUpperCase()}`;
    })
    .join(', ');

/** In version 0.3, names were ordered by their code points: its cursors are of another order. */
function orderOfCursor(kind: RecordKind | undefined, orderBy: readonly RecordOrder[]): string {
  const isByKey = orderBy.some((order) => kind && isOrderedByKey(kind, order));
  return `${orderText(orderBy)}${isByKey ? ' 2' : ''}`;
}

const valueOrders = (orderBy: readonly RecordOrder[]): RecordOrder[] =>
  orderBy.filter((order) => orderName(order) !== 'id');

function decoded(sent: string): readonly unknown[] | undefined {
  try {
    const cursor: unknown = JSON.parse(Buffer.from(sent, 'base64url').toString());
    return Array.isArray(cursor) ? cursor : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined unless each field of the order has a valid value or null. */
function parseValues(
  kind: RecordKind,
  orderBy: readonly RecordOrder[],
  values: unknown,
): (ScalarValue | null)[] | undefined {
  const orders = valueOrders(orderBy);
  if (!Array.isArray(values) || values.length !== orders.length) return undefined;
  for (const [index, order] of orders.entries()) {
    const value = values[index];
    const field = orderedField(kind, order);
    const parsed = field && parseComparedValue(field, value, Number.POSITIVE_INFINITY);
    const isValue = parsed !== undefined && 'value' in parsed && parsed.value === value;
    if (value !== null && !isValue) return undefined;
  }
  return values;
}
