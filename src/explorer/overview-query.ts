/** What the overview counts. */
import { kindNames, kindOf } from './kinds.ts';

export interface Chart {
  readonly title: string;
  readonly kind: string;
  /** A name of the summary's enum, and the field of a group that has its value. */
  readonly groupBy: string;
  readonly link: string;
  /** The field to filter by. */
  readonly filter: string;
}

export const charts: readonly Chart[] = [
  { title: 'Assets by status', kind: 'Asset', groupBy: 'STATUS', link: 'status', filter: 'statusId' },
  {
    title: 'Assets by location',
    kind: 'Asset',
    groupBy: 'CURRENT_LOCATION',
    link: 'currentLocation',
    filter: 'currentLocationId',
  },
  { title: 'Work orders by status', kind: 'WorkOrder', groupBy: 'STATUS', link: 'status', filter: 'statusId' },
  { title: 'Work orders by location', kind: 'WorkOrder', groupBy: 'LOCATION', link: 'location', filter: 'locationId' },
  {
    title: 'Work orders by month of their start',
    kind: 'WorkOrder',
    groupBy: 'MONTH_OF_START',
    link: 'startMonth',
    filter: 'startDate',
  },
  { title: 'Projects by status', kind: 'Project', groupBy: 'STATUS', link: 'status', filter: 'statusId' },
];

const maxBars = 12;

/** The largest are shown, in the order of time. */
const maxMonths = 60;

const fieldsOf = ({ link, filter }: Chart): string => {
  if (link.endsWith('Month')) return link;
  return `${filter} ${link} { id${link === 'status' ? '' : ' name'} }`;
};

export const overviewQuery = (): string => {
  const counts = kindNames.map((kind) => `  ${kindOf(kind).list}(first: 0) { totalCount }`);
  const summaries = charts.map((chart, index) => {
    const call = `${kindOf(chart.kind).list}Summary(groupBy: [${chart.groupBy}], first: ${chart.link.endsWith('Month') ? maxMonths : maxBars})`;
    return `  chart${index}: ${call} { hasMoreGroups groups { count ${fieldsOf(chart)} } }`;
  });
  return `{\n${[...counts, ...summaries].join('\n')}\n}`;
};
