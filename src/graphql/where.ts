/** Reads filters that are sent as JSON outside of a document, with the checks that the variables of a document get. */
import { coerceInputValue, type GraphQLInputType, type GraphQLSchema } from 'graphql';
import type { Config } from '../config.ts';
import { count } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { Condition } from '../store/query/condition.ts';
import { shortMessage, shortSegment } from './errors.ts';
import { refused } from './schema/argument.ts';
import { parseFilter } from './schema/filter/filter-condition.ts';
import { filterCost } from './schema/filter/filter-cost.ts';

/** Throws a ServiceError 400 for the first thing that is wrong with the filter. */
export function readWhere(
  schema: GraphQLSchema,
  { limits, suggestions }: Pick<Config, 'limits' | 'suggestions'>,
  kind: RecordKind,
  where: unknown,
): Condition | undefined {
  if (filterCost(kind, where, limits.maxCost) > limits.maxCost) {
    throw refused(
      ['where'],
      `expected a filter that costs at most ${count(limits.maxCost)}, received one that costs more`,
    );
  }
  // The cast is safe: every kind has an input type of this name.
  const type = schema.getType(`${kind.name}Filter`) as GraphQLInputType;
  const coerced = coerceInputValue(
    where,
    type,
    (path, _value, error) => {
      throw refused(['where', ...path.map(shortSegment)], shortMessage(error));
    },
    !suggestions,
  );
  return parseFilter(kind, coerced as Parameters<typeof parseFilter>[1], limits);
}
