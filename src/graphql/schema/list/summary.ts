/** Summaries: the records of a kind counted in groups, by what they refer to, by yes or no, or by month. One statement each. */
import type { Limits } from '../../../config.ts';
import { capitalized } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { FieldCost, FieldExtensions } from '../../plan/extensions.ts';
import type { Builder, ObjectFields, QueryFields } from '../builder.ts';
import { subjectOf } from '../field-labels.ts';
import { parseFilter } from '../filter/filter-condition.ts';
import { fieldsFor, type ObjectTypes } from '../object-type.ts';
import { defaultPageSize, pageSize } from './connection.ts';
import { createGroupingType, type GroupingOptions, groupingOptions, parseGroupings } from './grouping.ts';

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

export const createSummaryField =
  (builder: Builder, types: ObjectTypes, limits: Limits) => (t: QueryFields, kind: RecordKind) => {
    const options = groupingOptions(kind);
    return t.field({
      type: createSummaryType(builder, types, kind, options),
      description: `The number of ${kind.pluralLabel}, in total and in groups, the largest group first.`,
      extensions: { cost: costOfSummary(limits) } satisfies FieldExtensions,
      args: {
        where: t.arg(types.connections.whereArgument(kind)),
        groupBy: t.arg({
          type: [createGroupingType(builder, kind, options)],
          required: true,
          description: 'The values that the records of a group share; at least one.',
        }),
        first: t.arg.int({
          description: `The number of groups, 1 to ${limits.maxPageSize}; ${defaultPageSize(limits)} unless set.`,
        }),
      },
      resolve: async (_root, { where, groupBy, first }, { loaders }): Promise<SummaryOf> => {
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
  };

const costOfSummary = (limits: Limits): FieldCost => ({
  base: summaryCost,
  listSize: ({ first }) => (typeof first === 'number' ? Math.max(1, first) : defaultPageSize(limits)),
});

const monthField = (t: ObjectFields<Group>, name: string, description: string) =>
  t.string({
    nullable: true,
    description: description.replace('in UTC', 'in UTC, such as `2026-03`'),
    resolve: ({ [name]: month }) => month,
  });

function createSummaryType(builder: Builder, { links }: ObjectTypes, kind: RecordKind, options: GroupingOptions) {
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
                : fieldsFor(t, name, { ...declared, required: false, description: `${subjectOf(declared)}.` }, links),
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
