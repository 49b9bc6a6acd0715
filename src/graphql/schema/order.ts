/** A cursor has the order, unless that is the default, and the values: its use with another order is noticed. It only narrows a page. */
import { badRequest } from '../../errors.ts';
import { parseComparedValue } from '../../model/compared-values.ts';
import type { Field } from '../../model/fields.ts';
import { expected } from '../../model/issues.ts';
import { uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import { type Order, oldestFirst, type Position, positionOfId, type Value } from '../../store/query/record-query.ts';
import { lengthOf } from '../limits.ts';
import { refused } from './argument.ts';
import { builder, comparedFields, type InputRef, subjectOf } from './builder.ts';

/** `{ startDate: 'desc' }` */
export type SentOrder = Readonly<Record<string, Order['direction'] | null | undefined>>;

const direction = builder.enumType('OrderDirection', {
  description: 'The direction of an order. Records without a value come last in both.',
  values: {
    ASC: { value: 'asc', description: 'From the smallest value, the earliest time or the start of the alphabet.' },
    DESC: { value: 'desc', description: 'From the greatest value, the latest time or the end of the alphabet.' },
  } as const,
});
/** `WorkOrderOrderBy`, and the like for every kind. */
const types = new Map(
  recordKinds.map((kind) => {
    const type = builder.inputRef<SentOrder>(`${kind.name}OrderBy`).implement({
      description: `What to order ${kind.pluralLabel} by: exactly one field, such as \`${exampleOrder(kind).slice(1, -1)}\`. Text is ordered by its Unicode code points.`,
      isOneOf: true,
      fields: (t) =>
        Object.fromEntries(
          comparedFields(kind).map(([name, field]) => [
            name,
            t.field({ type: direction, description: describeOrder(field) }),
          ]),
        ),
    });
    return [kind, type] as const;
  }),
);
export const orderOf = (kind: RecordKind) => types.get(kind) as InputRef<SentOrder>;

/** Returns `By the name of the asset.` */
function describeOrder(field: Field): string {
  const subject = uncapitalized(subjectOf(field));
  return field.type === 'dateTime' ? `By the time ${subject}.` : `By ${subject}.`;
}

/** Returns an example: by the kind's first time, or by the time of creation, which every kind has; latest first. */
export function exampleOrder(kind: RecordKind): string {
  const [time] = comparedFields(kind).find(([, { type }]) => type === 'dateTime') ?? ['createdAt'];
  return `[{ ${time}: DESC }]`;
}

/** Returns the order for an argument. Throws a ServiceError 400. */
export function parseOrder(sent: readonly SentOrder[] | null | undefined): readonly Order[] {
  const orders: Order[] = [];
  for (const [index, order] of (sent ?? []).entries()) {
    for (const [field, direction] of Object.entries(order)) {
      if (!direction) continue;
      if (orders.some((earlier) => earlier.field === field)) {
        throw refused(['orderBy', index, field], 'expected each field once');
      }
      orders.push({ field, direction });
    }
  }
  // No two records have the same ID: what follows it has no effect.
  const id = orders.findIndex(({ field }) => field === 'id');
  const effective = id < 0 ? orders : orders.slice(0, id + 1);
  const isDefault = effective.length === 0 || (id === 0 && effective[0]?.direction === 'asc');
  return isDefault ? oldestFirst : effective;
}

const orderCost = 10;

export const costOfOrder = (sent: unknown): number => (sent ? orderCost * lengthOf(sent) : 0);

/** Returns the cursor of a record in an order. The record has the fields of the order. */
export function cursorOf(orderBy: readonly Order[], record: { readonly id: string }): string {
  if (isDefaultOrder(orderBy)) return record.id;
  const values = valueFields(orderBy).map((field) => (record as Readonly<Record<string, unknown>>)[field]);
  return Buffer.from(JSON.stringify([textOf(orderBy), values, record.id])).toString('base64url');
}

/** Returns the position of a cursor from a page in this order. Throws a ServiceError 400. */
export function parseCursor(kind: RecordKind, orderBy: readonly Order[], name: string, sent: string): Position {
  const cursor = kindOfId(sent) ? ([textOf(oldestFirst), [], sent] as const) : decoded(sent);
  const [order, values, id] = cursor ?? [];
  if (typeof id !== 'string' || kindOfId(id) !== kind) {
    throw badRequest(`${name}: ${expected(`a cursor from a page of ${kind.pluralLabel}`, sent)}`);
  }
  if (order !== textOf(orderBy)) {
    const problem = `expected a cursor from a page in the same order (${textOf(orderBy)}), received one of another order`;
    throw badRequest(`${name}: ${problem}`);
  }
  if (isDefaultOrder(orderBy)) return positionOfId(id);
  const parsed = parseValues(kind, orderBy, values);
  if (!parsed) throw badRequest(`${name}: ${expected(`a cursor from a page of ${kind.pluralLabel}`, sent)}`);
  return { values: parsed, id };
}

const isDefaultOrder = ([first]: readonly Order[]): boolean => first?.field === 'id' && first.direction === 'asc';

/** Returns `startDate DESC, name ASC` */
const textOf = (orderBy: readonly Order[]): string =>
  orderBy.map(({ field, direction }) => `${field} ${direction.toUpperCase()}`).join(', ');

const valueFields = (orderBy: readonly Order[]): string[] =>
  orderBy.map(({ field }) => field).filter((field) => field !== 'id');

/** Returns undefined unless the text has the form of a cursor, of whatever order. */
function decoded(sent: string): readonly unknown[] | undefined {
  try {
    const cursor: unknown = JSON.parse(Buffer.from(sent, 'base64url').toString());
    return Array.isArray(cursor) ? cursor : undefined;
  } catch {
    return undefined;
  }
}

/** Returns undefined unless there is a value, or null, for each field of the order, in the form that records have. */
function parseValues(kind: RecordKind, orderBy: readonly Order[], values: unknown): (Value | null)[] | undefined {
  const fields = valueFields(orderBy);
  if (!Array.isArray(values) || values.length !== fields.length) return undefined;
  for (const [index, name] of fields.entries()) {
    const value = values[index];
    const field = kind.storedFields[name];
    const parsed = field && parseComparedValue(field, value, Number.POSITIVE_INFINITY);
    const isValue = parsed !== undefined && 'value' in parsed && parsed.value === value;
    if (value !== null && !isValue) return undefined;
  }
  return values;
}
