/** Summaries: the records of a kind counted in groups, by what they refer to, by yes or no, or by month. One statement each. */
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { expected, formatIssue } from '../../model/issues.ts';
import { capitalized, linkField } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Grouping } from '../../store/query.ts';
import type { FieldCost, FieldExtensions } from '../plan/extensions.ts';
import type { Builder, QueryFields } from './builder.ts';
import { defaultPageSize } from './connection.ts';
import { parseFilter } from './filter-condition.ts';
import { comparedFields } from './filter-fields.ts';
import { fieldsFor, type ObjectTypes } from './object-type.ts';

/** What records can be grouped by: the field of a group, and its declaration. */
interface GroupingOption extends Grouping {
  readonly name: string;
  readonly description: string;
}

/** The count, and the values of the fields that are grouped by. */
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
          description: 'What the records of a group have in common; at least one.',
        }),
        first: t.arg.int({
          description: `The number of groups, 1 to ${limits.maxPageSize}; ${defaultPageSize(limits)} unless set.`,
        }),
      },
      resolve: async (_root, { where, groupBy, first }, { loaders }): Promise<SummaryOf> => {
        const limit = first ?? defaultPageSize(limits);
        if (limit < 1 || limit > limits.maxPageSize) {
          throw badRequest(`first: ${expected(`a whole number from 1 to ${limits.maxPageSize}`, limit)}`);
        }
        const groupings = parseGroupings(groupBy, options);
        const query = { where: parseFilter(kind, where, limits), groupBy: groupings, limit };
        const { totalCount, groups } = await loaders.summarize(kind, query);
        return {
          totalCount,
          groups: groups.slice(0, limit).map(({ count, values }) => ({
            ...Object.fromEntries(groupings.map(({ name }, index) => [name, values[index]])),
            count,
          })),
          hasMoreGroups: groups.length > limit,
        };
      },
    });
  };

const costOfSummary = (limits: Limits): FieldCost => ({
  base: summaryCost,
  listSize: ({ first }) => (typeof first === 'number' ? Math.max(1, first) : defaultPageSize(limits)),
});

/** By their names in GraphQL: `LOCATION`, `MONTH_OF_START`. */
function groupingOptions(kind: RecordKind): ReadonlyMap<string, GroupingOption> {
  return new Map(
    comparedFields(kind).flatMap(([field, { type, description }]): [string, GroupingOption][] => {
      if (type === 'dateTime') {
        const base = field.replace(/(?:Date|At)$/, '');
        return [[`MONTH_OF_${constantCase(base)}`, { field, by: 'month', name: `${base}Month`, description }]];
      }
      if (type !== 'reference' && type !== 'foreignReference' && type !== 'boolean') return [];
      return [[constantCase(linkField(field)), { field, by: 'value', name: field, description }]];
    }),
  );
}

/** `CURRENT_LOCATION` */
const constantCase = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();

const createGroupingType = (
  builder: Builder,
  { name, label }: RecordKind,
  options: ReadonlyMap<string, GroupingOption>,
) =>
  builder.enumType(`${name}Grouping`, {
    description: `What to group by: what a ${label} refers to, a value that is true or false, or the month of a time.`,
    values: Object.fromEntries(
      [...options].map(([value, { by, description }]) => [
        value,
        { value, description: by === 'month' ? `By month, in UTC. ${description}` : description },
      ]),
    ),
  });

function parseGroupings(sent: readonly string[], options: ReadonlyMap<string, GroupingOption>): GroupingOption[] {
  if (sent.length === 0) throw badRequest('groupBy: expected at least one value, received none');
  return sent.flatMap((value, index) => {
    if (sent.indexOf(value) < index) {
      throw badRequest(formatIssue({ path: ['groupBy', index], message: 'expected each value once' }));
    }
    return options.get(value) ?? [];
  });
}

function createSummaryType(
  builder: Builder,
  { links }: ObjectTypes,
  kind: RecordKind,
  options: ReadonlyMap<string, GroupingOption>,
) {
  const group = builder.objectRef<Group>(`${kind.name}Group`).implement({
    description: `${capitalized(kind.pluralLabel)} that have the values of \`groupBy\` in common; what they are not grouped by is null.`,
    fields: (t) =>
      ({
        count: t.exposeInt('count', { description: `The number of ${kind.pluralLabel} in the group.` }),
        ...Object.fromEntries(
          [...options.values()].flatMap(({ name, field, by, description }): readonly (readonly [string, object])[] => {
            const declared = kind.storedFields[field];
            if (by === 'value' && declared) return fieldsFor(t, name, { ...declared, required: false }, links);
            const resolve = ({ [name]: month }: Group) => month;
            return [
              [
                name,
                t.string({
                  nullable: true,
                  description: `By month, in UTC, such as \`2026-03\`. ${description}`,
                  resolve,
                }),
              ],
            ];
          }),
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
        resolve: async ({ groups }, _args, { loaders }, { fieldNodes }) => {
          await loaders.follow(groups, fieldNodes);
          return groups;
        },
      }),
      hasMoreGroups: t.exposeBoolean('hasMoreGroups', { description: 'Whether there are more groups than `first`.' }),
    }),
  });
}
