/**
 * Cursors: the position of a record in an order. In the default order a cursor is the record's ID; in any other it also has the
 * order and the record's values, so that a cursor used with another order is noticed. A cursor can only narrow what a page shows.
 */
import { badRequest } from '../../errors.ts';
import { parseComparedValue } from '../../model/compared-values.ts';
import { expected } from '../../model/issues.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { kindOfId } from '../../records/index.ts';
import type { Value } from '../../store/query/condition.ts';
import { type Order, oldestFirst, type Position, positionOfId } from '../../store/query/record-query.ts';

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

/** True for the default order; orders after the ID have no effect. */
const isDefaultOrder = ([first]: readonly Order[]): boolean => first?.field === 'id' && first.direction === 'asc';

/** Returns `startDate DESC, name ASC` */
const textOf = (orderBy: readonly Order[]): string =>
  orderBy.map(({ field, direction }) => `${field} ${direction.toUpperCase()}`).join(', ');

/** Returns the fields of the order whose values are in a position: all except the ID. */
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
