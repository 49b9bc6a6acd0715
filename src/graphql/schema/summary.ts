import type { Field } from '../../model/fields.ts';
import { expected } from '../../model/issues.ts';
import { capitalized, constantCase, linkField, uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Bounds, Grouping } from '../../store/query/record-query.ts';
import { type CostFunction, describePageSize, type FieldExtensions, pageCost, pageSize } from '../limits.ts';
import {
  badArgument,
  builder,
  type ObjectFields,
  type QueryFields,
  type RecordShape,
  sortableFields,
  subjectOf,
} from './builder.ts';
import { filterCost, parseFilter } from './filter.ts';
import { fieldsFor, whereArgument } from './records.ts';

type SummaryGroup = RecordShape & Bounds;

interface SummaryResult extends Bounds {
  readonly totalCount: number;
  readonly groups: readonly SummaryGroup[];
  readonly hasMoreGroups: boolean;
}

/** A summary reads every matching record, for a time zone twice. */
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
      timeZone: t.arg.string({
        description: 'The time zone of months and days, by its IANA name, such as `Europe/Berlin`; UTC unless set.',
      }),
      first: t.arg.int({ description: describePageSize('groups') }),
    },
    resolve: async (_root, { where, groupBy, timeZone, first }, { loaders, limits }): Promise<SummaryResult> => {
      const query = {
        limit: pageSize('first', first, limits),
        groupBy: parseGroupings(groupBy, options),
        timeZone: parseTimeZoneArgument(timeZone),
        where: parseFilter(kind, where, limits),
      };
      const { groups, ...all } = await loaders.summarize(kind, query);
      return {
        ...all,
        groups: groups.slice(0, query.limit).map(({ values, ...group }) => ({
          ...Object.fromEntries(query.groupBy.map(({ name }, index) => [name, values[index]])),
          ...group,
        })),
        hasMoreGroups: groups.length > query.limit,
      };
    },
  });
}

/** The offsets of a hundred years take 0.1 s to compute, once per zone. */
const timeZoneCost = 20_000;

const costOfSummary =
  (kind: RecordKind): CostFunction =>
  ({ where, timeZone, first }, limits) => ({
    fieldCost: summaryCost + (timeZone ? timeZoneCost : 0) + filterCost(kind, where, limits),
    ...pageCost({ first }, limits),
  });

const dateField = (t: ObjectFields<SummaryGroup>, { name, by, description }: GroupingOption) =>
  t.string({
    nullable: true,
    description: description.replace('`timeZone`', `$&, such as \`${by === 'month' ? '2026-03' : '2026-03-01'}\``),
    resolve: ({ [name]: date }) => date,
  });

/** `min` and `max` have two types, because the loaders tell selections apart by type. */
function boundFieldsOf(kind: RecordKind) {
  const bounded = sortableFields(kind).filter(([, { type }]) => type === 'dateTime' || type === 'number');
  const fieldOf = (bound: keyof Bounds, values: string) => {
    const description = `${values} of these ${kind.pluralLabel}; null where none has a value.`;
    const type = builder.objectRef<RecordShape>(`${kind.name}${capitalized(bound)}`).implement({
      description,
      fields: (t) => Object.assign({}, ...bounded.map(([name, field]) => fieldsFor(t, name, optional(field)))),
    });
    return <T extends Bounds>(t: ObjectFields<T>) => t.field({ type, description, resolve: (of) => of[bound] });
  };
  const min = fieldOf('min', 'The earliest times and the least numbers');
  const max = fieldOf('max', 'The latest times and the greatest numbers');
  return <T extends Bounds>(t: ObjectFields<T>) => ({ min: min(t), max: max(t) });
}

const optional = (field: Field): Field => ({ ...field, required: false, description: `${subjectOf(field)}.` });

function createSummaryType(kind: RecordKind, options: GroupingOptions) {
  const boundFields = boundFieldsOf(kind);
  const group = builder.objectRef<SummaryGroup>(`${kind.name}Group`).implement({
    description: `${capitalized(kind.pluralLabel)} that have the values of \`groupBy\` in common; fields that they are not grouped by are null.`,
    fields: (t) => ({
      count: t.exposeInt('count', { description: `The number of ${kind.pluralLabel} in the group.` }),
      ...boundFields(t),
      ...Object.assign(
        {},
        ...[...options.values()].map((option) =>
          option.by === 'value'
            ? fieldsFor(t, option.name, optional(option.declared))
            : { [option.name]: dateField(t, option) },
        ),
      ),
    }),
  });
  return builder.objectRef<SummaryResult>(`${kind.name}Summary`).implement({
    description: `The number of ${kind.pluralLabel} that match, in total and in groups.`,
    fields: (t) => ({
      totalCount: t.exposeInt('totalCount', { description: `The number of all ${kind.pluralLabel} that match.` }),
      ...boundFields(t),
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

/** `LOCATION`, `MONTH_OF_START` */
const groupingOptions = (kind: RecordKind): GroupingOptions =>
  new Map(
    sortableFields(kind).flatMap(([field, declared]): [string, GroupingOption][] => {
      if (declared.type === 'id') return [];
      if (declared.type !== 'dateTime') {
        const description = 'refersTo' in declared ? `${capitalized(declared.refersTo)}.` : declared.description;
        return [[constantCase(linkField(field)), { field, declared, by: 'value', name: field, description }]];
      }
      const base = field.replace(/(?:Date|At)$/, '');
      return (['month', 'day'] as const).map((by) => {
        const description = `The ${by}, in \`timeZone\`, ${uncapitalized(declared.description)}`;
        const name = `${base}${capitalized(by)}`;
        return [`${by.toUpperCase()}_OF_${constantCase(base)}`, { field, declared, by, name, description }];
      });
    }),
  );

const createGroupingType = ({ name, pluralLabel }: RecordKind, options: GroupingOptions) =>
  builder.enumType(`${name}Grouping`, {
    description: `What to group ${pluralLabel} by.`,
    values: Object.fromEntries([...options].map(([value, { description }]) => [value, { value, description }])),
  });

function parseGroupings(sent: readonly string[], options: GroupingOptions): GroupingOption[] {
  if (sent.length === 0) throw badArgument(['groupBy'], 'expected at least one value, received none');
  return sent.flatMap((value, index) => {
    if (sent.indexOf(value) < index) throw badArgument(['groupBy', index], 'expected each value once');
    return options.get(value) ?? [];
  });
}

/** Rejects offsets, which only later versions of Node know. */
function parseTimeZoneArgument(sent: string | null | undefined): string | undefined {
  if (sent === null || sent === undefined) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: sent }).resolvedOptions();
    if (/^\w/.test(timeZone)) return timeZone;
  } catch {}
  throw badArgument(['timeZone'], expected('an IANA time zone such as "Europe/Berlin"', sent));
}
