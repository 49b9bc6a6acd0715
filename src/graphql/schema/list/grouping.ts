/** The groupings of summaries: by reference, by yes or no, or by the month of a time. */
import type { Field } from '../../../model/fields.ts';
import { capitalized, constantCase, linkField, uncapitalized } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { Grouping } from '../../../store/query/record-query.ts';
import { refused } from '../argument.ts';
import type { Builder } from '../builder.ts';
import { comparedFields } from '../filter/filter-fields.ts';

interface GroupingOption extends Grouping {
  readonly declared: Field;
  /** The field of the group. */
  readonly name: string;
  readonly description: string;
}

/** Keyed by their names in GraphQL. */
export type GroupingOptions = ReadonlyMap<string, GroupingOption>;

/** Returns the options of a kind: `LOCATION`, `MONTH_OF_START` and so on. */
export function groupingOptions(kind: RecordKind): GroupingOptions {
  return new Map(
    comparedFields(kind).flatMap(([field, declared]): [string, GroupingOption][] => {
      switch (declared.type) {
        case 'dateTime': {
          const base = field.replace(/(?:Date|At)$/, '');
          const description = `The month, in UTC, ${uncapitalized(declared.description)}`;
          return [
            [`MONTH_OF_${constantCase(base)}`, { field, declared, by: 'month', name: `${base}Month`, description }],
          ];
        }
        case 'boolean':
          return [
            [constantCase(field), { field, declared, by: 'value', name: field, description: declared.description }],
          ];
        case 'reference':
        case 'foreignReference': {
          const description = `${capitalized(declared.refersTo)}.`;
          return [[constantCase(linkField(field)), { field, declared, by: 'value', name: field, description }]];
        }
        default:
          return [];
      }
    }),
  );
}

export const createGroupingType = (builder: Builder, { name, pluralLabel }: RecordKind, options: GroupingOptions) =>
  builder.enumType(`${name}Grouping`, {
    description: `What to group ${pluralLabel} by.`,
    values: Object.fromEntries([...options].map(([value, { description }]) => [value, { value, description }])),
  });

/** Throws a ServiceError 400. */
export function parseGroupings(sent: readonly string[], options: GroupingOptions): GroupingOption[] {
  if (sent.length === 0) throw refused(['groupBy'], 'expected at least one value, received none');
  return sent.flatMap((value, index) => {
    if (sent.indexOf(value) < index) {
      throw refused(['groupBy', index], 'expected each value once');
    }
    return options.get(value) ?? [];
  });
}
