/** The orders of lists: an input type for each kind with one field per stored field, of which exactly one is set. */
import type { Field } from '../../model/fields.ts';
import { uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { recordKinds } from '../../records/index.ts';
import { type Order, oldestFirst } from '../../store/query/record-query.ts';
import { lengthOf } from '../plan/extensions.ts';
import { refused } from './argument.ts';
import { builder, type InputRef } from './builder.ts';
import { subjectOf } from './field-labels.ts';
import { comparedFields } from './filter/filter-fields.ts';

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

/** The cost of each field of an order. */
const orderCost = 10;

/** Returns what an order adds to the cost of its list. */
export const costOfOrder = (sent: unknown): number => (sent ? orderCost * lengthOf(sent) : 0);
