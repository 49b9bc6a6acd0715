/** What the overview counts. */
import { kindNames, kindOf } from './kinds.ts';
import { atMost, call, Enum, selectionOf } from './queries.ts';

export interface Chart {
  readonly title: string;
  readonly kind: string;
  /** The field by which records are grouped: the ID of a link, or a date, of which the months count. */
  readonly field: string;
}

export const charts: readonly Chart[] = [
  { title: 'Assets by status', kind: 'Asset', field: 'statusId' },
  { title: 'Assets by location', kind: 'Asset', field: 'currentLocationId' },
  { title: 'Work orders by status', kind: 'WorkOrder', field: 'statusId' },
  { title: 'Work orders by location', kind: 'WorkOrder', field: 'locationId' },
  { title: 'Work orders by month of their start', kind: 'WorkOrder', field: 'startDate' },
  { title: 'Projects by status', kind: 'Project', field: 'statusId' },
];

/** Of `startDate`, the field of a group with its month: `startMonth`. Undefined for a link. */
export const monthOf = ({ field }: Chart): string | undefined =>
  field.endsWith('Date') ? field.replace(/Date$/, 'Month') : undefined;

export const linkOfChart = ({ field }: Chart): string => field.replace(/Id$/, '');

/** Months begin where the viewer is, as in the tables to which they lead. */
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** The largest groups are shown; of months all, as far as anybody looks. */
const [maxBars, maxMonths] = [12, 60];

/** Of what has a value: an index is enough for this, and takes a fifth of the time. The others are what is left of the counts. */
function summaryQuery(chart: Chart): string {
  const { kind, field } = chart;
  const month = monthOf(chart);
  const link = linkOfChart(chart);
  const groupBy = month ? `MONTH_OF_${field.replace(/Date$/, '')}` : link.replace(/[A-Z]/g, '_$&');
  const selected = month ?? `${field} ${selectionOf(kind, link)}`;
  const summary = call(`${kindOf(kind).list}Summary`, {
    groupBy: [new Enum(groupBy.toUpperCase())],
    first: atMost(month ? maxMonths : maxBars),
    where: { [field]: { isNull: false } },
    timeZone: month && timeZone,
  });
  return `${summary} { totalCount hasMoreGroups groups { count ${selected} } }`;
}

/** The counts, and then each chart by itself: some take longer. */
export const overviewQueries = (): string[] => {
  const counts = kindNames.map((kind) => `  ${kindOf(kind).list}(first: 0) { totalCount }`);
  const summaries = charts.map((chart, index) => `  chart${index}: ${summaryQuery(chart)}`);
  return [counts.join('\n'), ...summaries].map((selected) => `{\n${selected}\n}`);
};
