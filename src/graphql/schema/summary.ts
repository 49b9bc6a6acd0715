/** Summaries: the records of a kind counted in groups, by the values of their fields, or by month. One statement each. */
import type { Field } from '../../model/fields.ts';
import { capitalized, constantCase, linkField, uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Grouping } from '../../store/query/record-query.ts';
import type { CostFunction, FieldExtensions } from '../limits.ts';
import { refused } from './argument.ts';
import { builder, type ObjectFields, type QueryFields, subjectOf } from './builder.ts';
import { defaultPageSize, pageSize, whereArgument } from './connection.ts';
import { comparedFields, filterCost, parseFilter } from './filter/filter-condition.ts';
import { fieldsFor } from './object-types.ts';

/** A group of records: their number, and the values of the fields that are grouped by. */
// biome-ignore lint/suspicious/noExplicitAny: only the kind's declaration says what each field holds.
type Group = Readonly<Record<string, any>>;

interface SummaryOf {
  readonly totalCount: number;
  readonly groups: readonly Group[];
  readonly hasMoreGroups: boolean;
}

/** A summary reads every record that matches. */
const summaryCost = 1_000;

export function summaryField(t: QueryFields, kind: RecordKind) {
  const options = groupingOptions(kind);
  return t.field({
    type: createSummaryType(kind, options),
    description: `The number of ${kind.pluralLabel}, in total and in groups, the largest group first.`,
    extensions: { cost: costOfSummary(kind) } satisfies FieldExtensions,
    args: {
      where: t.arg(whereArgument(kind)),
      groupBy: t.arg({
        type: [createGroupingType(kind, options)],
        required: true,
        description: 'The values that the records of a group share; at least one.',
      }),
      first: t.arg.int({
        description:
          'The number of groups, from 0 to the setting `MAX_PAGE_SIZE`; 50 unless set, or as many as it allows.',
      }),
    },
    resolve: async (_root, { where, groupBy, first }, { loaders, limits }): Promise<SummaryOf> => {
      const query = {
        limit: pageSize('first', first ?? defaultPageSize(limits), limits),
        groupBy: parseGroupings(groupBy, options),
        where: parseFilter(kind, where, limits),
      };
      const { totalCount, groups } = await loaders.summarize(kind, query);
      return {
        totalCount,
        groups: groups.slice(0, query.limit).map(({ count, values }) => ({
          ...Object.fromEntries(query.groupBy.map(({ name }, index) => [name, values[index]])),
          count,
        })),
        hasMoreGroups: groups.length > query.limit,
      };
    },
  });
}

const costOfSummary =
  (kind: RecordKind): CostFunction =>
  ({ where, first }, limits) => ({
    own: summaryCost + filterCost(kind, where, limits.maxCost),
    items: typeof first === 'number' ? Math.max(1, first) : defaultPageSize(limits),
  });

const monthField = (t: ObjectFields<Group>, name: string, description: string) =>
  t.string({
    nullable: true,
    description: description.replace('in UTC', 'in UTC, such as `2026-03`'),
    resolve: ({ [name]: month }) => month,
  });

function createSummaryType(kind: RecordKind, options: GroupingOptions) {
  const group = builder.objectRef<Group>(`${kind.name}Group`).implement({
    description: `${capitalized(kind.pluralLabel)} that have the values of \`groupBy\` in common; fields that they are not grouped by are null.`,
    fields: (t) =>
      ({
        count: t.exposeInt('count', { description: `The number of ${kind.pluralLabel} in the group.` }),
        ...Object.fromEntries(
          [...options.values()].flatMap(
            ({ name, declared, by, description }): readonly (readonly [string, object])[] =>
              by === 'month'
                ? [[name, monthField(t, name, description)]]
                : fieldsFor(t, name, { ...declared, required: false, description: `${subjectOf(declared)}.` }),
          ),
        ),
      }) as never,
  });
  return builder.objectRef<SummaryOf>(`${kind.name}Summary`).implement({
    description: `The number of ${kind.pluralLabel} that match, in total and in groups.`,
    fields: (t) => ({
      totalCount: t.exposeInt('totalCount', { description: `The number of all ${kind.pluralLabel} that match.` }),
      groups: t.field({
        type: [group],
        description: 'The groups, the largest first.',
        resolve: ({ groups }) => [...groups],
      }),
      hasMoreGroups: t.exposeBoolean('hasMoreGroups', { description: 'Whether there are more groups than `first`.' }),
    }),
  });
}

interface GroupingOption extends Grouping {
  readonly declared: Field;
  readonly name: string;
  readonly description: string;
}

type GroupingOptions = ReadonlyMap<string, GroupingOption>;

/** Returns the options of a kind: `LOCATION`, `MONTH_OF_START` and so on. */
function groupingOptions(kind: RecordKind): GroupingOptions {
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
        case 'text':
        case 'number':
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

const createGroupingType = ({ name, pluralLabel }: RecordKind, options: GroupingOptions) =>
  builder.enumType(`${name}Grouping`, {
    description: `What to group ${pluralLabel} by.`,
    values: Object.fromEntries([...options].map(([value, { description }]) => [value, { value, description }])),
  });

/** Throws a ServiceError 400. */
function parseGroupings(sent: readonly string[], options: GroupingOptions): GroupingOption[] {
  if (sent.length === 0) throw refused(['groupBy'], 'expected at least one value, received none');
  return sent.flatMap((value, index) => {
    if (sent.indexOf(value) < index) {
      throw refused(['groupBy', index], 'expected each value once');
    }
    return options.get(value) ?? [];
  });
}
