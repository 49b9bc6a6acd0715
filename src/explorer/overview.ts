/** The overview: work orders and returns to look at now, then numbers of records as bars that lead to their tables. */
import { html, nothing } from 'lit-html';
import { addressOf, type Filter, filtersOf, maxFinished, type View } from './address.ts';
import { dateLocale, timeZone } from './clock.ts';
import { chooseFiles } from './imports.ts';
import { isFinished, kindNames, kindOf, linkOf, nameOf, title as titleOf, words } from './kinds.ts';
import { rankMatches } from './matches.ts';
import { ascending, atMost, groupsQuery, query, rowsOf, statusLabels, whereOf } from './queries.ts';
import type { Data, Viewer } from './service.ts';
import { statusLink } from './table.ts';
import {
  button,
  cell,
  clashMark,
  headOf,
  labelStyle,
  link,
  newLink,
  notice,
  phoneLine,
  tableCell,
  time,
} from './values.ts';

/** Groups of unfinished records by the conditions of their tables, in the order of a time. */
const groups: readonly (readonly [title: string, kind: string, time: string, ...conditions: string[]])[] = [
  ['Overdue', 'WorkOrder', 'endDate', 'endDate.lt:today'],
  // Nobody knows whether those without a status are finished.
  ['Returns overdue', 'Allocation', 'endDate', 'endDate.gte:today-90', 'endDate.lt:today', 'statusId.isNull:false'],
  ['Due today', 'WorkOrder', 'endDate', 'endDate.eq:today'],
  ['Starts today', 'WorkOrder', 'startDate', 'startDate.eq:today', 'endDate.ne:today'],
  ['Under way', 'WorkOrder', 'endDate', 'startDate.lt:today', 'endDate.gt:today'],
  ['Next seven days', 'WorkOrder', 'startDate', 'startDate.gt:today', 'startDate.lte:today+7'],
  ['Returns in seven days', 'Allocation', 'endDate', 'endDate.gte:today', 'endDate.lte:today+7'],
  // Counting all that have ever started would take a second per 100,000.
  ['Without an end', 'WorkOrder', 'startDate', 'startDate.gte:today-90', 'startDate.lt:today', 'endDate.isNull:true'],
  ['Coming without a location', 'WorkOrder', 'startDate', 'startDate.gte:today', 'locationId.isNull:true'],
  ['Without a start', 'WorkOrder', 'endDate', 'startDate.isNull:true'],
];

const statusesQuery = [
  `statuses: ${groupsQuery('WorkOrder', 'status', 50)}`,
  `returns: ${groupsQuery('Allocation', 'status', 50)}`,
].join('\n  ');
const countsQuery = [
  ...kindNames.map((kind) => query(kindOf(kind).list, { first: 0 }, 'totalCount')),
  query('labels', statusLabels, 'nodes { key name color }'),
].join('\n  ');

/** The statuses of work orders and allocations, by their IDs. */
const statusesOf = ({ statuses, returns }: Data): readonly Data[] =>
  rankMatches(
    [statuses, returns].flatMap((found) => found?.groups.map(({ status }: Data) => status) ?? []),
    '',
  );

/** The IDs of the finished statuses: those of the address, or by their names. */
const finishedOf = ({ finished }: View, data: Data): readonly string[] =>
  (finished?.split(',') ?? statusesOf(data).flatMap((status) => (isFinished(status) ? status.id : []))).slice(
    0,
    maxFinished,
  );

function viewsOf(view: View, data: Data): readonly View[] {
  const unfinished = finishedOf(view, data).map((id) => `statusId.ne:${id}`);
  // An allocation for a work order is no return.
  const isNoOrder = ['workOrderId.isNull:true'];
  return groups.map(([, kind, sort, ...conditions]) => {
    const isReturn = kind === 'Allocation';
    const filters = filtersOf(kind, [...conditions, ...(isReturn ? isNoOrder : []), ...unfinished]);
    return { kind, filters, sort, columns: `asset,${isReturn ? 'project,' : ''}status,location,${sort}` };
  });
}

function agendaQueries(view: View, data: Data): readonly string[] {
  const queries = viewsOf(view, data).map(({ kind = '', sort = '', columns = '', ...group }, index) => {
    const page = { first: atMost(5), where: whereOf({ kind, ...group }), orderBy: [{ [sort]: ascending }] };
    return `group${index}: ${query(kindOf(kind).list, page, `totalCount ${rowsOf(kind, [...columns.split(','), 'startDate'])}`)}`;
  });
  // The first two are drawn at once. Eight would have too many tokens with more finished statuses in each.
  const parts = finishedOf(view, data).length > 10 ? [0, 2, 4, 6, 8] : [0, 2];
  return parts.map((from, at) => queries.slice(from, parts[at + 1]).join('\n  '));
}

function groupOf([title, kind, field]: (typeof groups)[number], address: string, { totalCount, nodes, ofKind }: Data) {
  const row = (order: Data) => {
    // Whom to call about a return.
    const who = order.project?.company ?? order.project;
    return html`<tr>
      <th scope="row">${link(kind, order, nameOf(kind === 'Allocation' ? order.asset : order))}
        ${phoneLine(order.asset, order.location, who)}</th>
      <td class="more">${order.asset && link('Asset', order.asset, order.asset.uid ?? nameOf(order.asset))}</td>
      <td class="more">${cell(kind, 'location', order)} ${who && html`<small>${nameOf(who)}</small>`}</td>
      <td>${tableCell(kind, 'status', order)}${clashMark(kind, order, ofKind)}</td>
      <td>${order[field] && time(order[field], !title.endsWith('today'))}</td>
    </tr>`;
  };
  const all = html`<tr><th scope="row"><a class="link" href=${address}>All ${totalCount.toLocaleString()}</a></th>
    <td class="more"></td><td class="more"></td><td></td><td></td></tr>`;
  return html`<tbody>
    <tr>
      <th scope="rowgroup" .style=${'white-space: nowrap'}><h2 class=${/overdue/i.test(title) ? 'error' : nothing}>${title}
        <small>${totalCount.toLocaleString()}</small></h2></th>
      <td class="more"></td><td class="more"></td><td></td>
      <td><div><small>${titleOf(field)}</small> <a class="link" href=${address} aria-label=${`Show all: ${title}`}>Show&nbsp;all</a></div></td>
    </tr>
    ${nodes.map(row)} ${totalCount > nodes.length ? all : nothing}
  </tbody>`;
}

/** Links that make a status a finished one, or an unfinished one. */
function finishedChoice(view: View, data: Data, mayName: boolean) {
  const finished = finishedOf(view, data);
  const isFinished = ({ id }: Data) => finished.includes(id);
  const names = statusesOf(data).filter(isFinished).map(nameOf);
  const choice = (status: Data) => {
    const others = finished.filter((id) => id !== status.id && id !== 'none');
    const changed = isFinished(status) ? others : [...others, status.id];
    return html`<a class="button" aria-current=${isFinished(status) ? 'true' : nothing}
      href=${addressOf({ ...view, finished: changed.join(',') || 'none' })}>${nameOf(status)}</a>`;
  };
  return html`<details>
    <summary class="quiet">Finished work orders and allocations are not listed: ${names.join(', ') || 'no status is a finished one'}</summary>
    <div class="row">Statuses of finished ones: ${statusesOf(data).map(choice)}</div>
    <div class="row">Names and colours: ${labelLinks(data.labels.nodes)} ${mayName ? statusLink('WorkOrder') : nothing}</div>
  </details>`;
}

function agenda(view: View, data: Data, mayName: boolean) {
  const views = viewsOf(view, data);
  const filled = groups.flatMap((group, index) => {
    const found: Data = data[`group${index}`] ?? {};
    const ofKind = groups.flatMap(([, kind], at) => (kind === group[1] ? (data[`group${at}`]?.nodes ?? []) : []));
    return found.totalCount > 0 ? [groupOf(group, addressOf(views[index] ?? {}), { ...found, ofKind })] : [];
  });
  // Not read yet.
  if (filled.length === 0 && !data.labels) return nothing;
  if (filled.length === 0)
    return notice('Nothing is overdue, and nothing is planned for the next seven days', nothing, 'card empty pad');
  const columns = { Name: '', Asset: 'code more', Location: 'more', Status: 'status', When: 'date' };
  const heads = Object.entries(columns).map(([name, classes]) => headOf(name, classes));
  return html`<div class="card scroll" role="region" aria-label="To look at now">
    <table class="groups">
      <thead><tr>${heads}</tr></thead>
      ${filled}
    </table>
  </div>
  ${data.labels && finishedChoice(view, data, mayName)}`;
}

/** Records in groups by a field: the ID of a link, or the start for its month. */
const charts = [
  { title: 'Assets by status', kind: 'Asset', field: 'statusId' },
  { title: 'Work orders by status', kind: 'WorkOrder', field: 'statusId' },
  { title: 'Assets by location', kind: 'Asset', field: 'currentLocationId' },
  { title: 'Work orders by location', kind: 'WorkOrder', field: 'locationId' },
  { title: 'Work orders by month', kind: 'WorkOrder', field: 'startDate' },
  { title: 'Projects by status', kind: 'Project', field: 'statusId' },
] as const;

type Chart = (typeof charts)[number];

/**
 * Months begin in the viewer's time zone, as the times in tables. West of Greenwich they begin at midnight UTC: a date
 * is stored as midnight UTC, and the first day of a month would be counted in the month before.
 */
const monthZone = new Date(2026, 0).getTimezoneOffset() > 0 ? 'UTC' : timeZone;

/** The filters of whole months, counted from one such as `2026-11`. */
function monthFilters(month: string, from: number, to: number): readonly Filter[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const begin = (months: number) => {
    const day = new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 10);
    return monthZone === 'UTC' ? `${day}T00:00:00Z` : day;
  };
  return [
    { field: 'startDate', operator: 'gte', value: begin(from) },
    { field: 'startDate', operator: 'lt', value: begin(to) },
  ];
}

/** The largest groups; the months of a year around this one. */
function chartQuery({ kind, field }: Chart, index: number): string {
  if (field !== 'startDate')
    return `chart${index}: ${groupsQuery(kind, linkOf(field), 8, undefined, 'totalCount hasMoreGroups')}`;
  const filters = monthFilters(new Date().toISOString().slice(0, 7), -8, 4);
  const groupBy = [Symbol('MONTH_OF_START')];
  const sent = { groupBy, first: atMost(12), where: whereOf({ kind, filters }), timeZone: monthZone };
  return `chart${index}: ${query(`${kindOf(kind).list}Summary`, sent, 'totalCount groups { count startMonth }')}`;
}

const monthName = (month: string): string =>
  new Date(month).toLocaleDateString(dateLocale, { month: 'long', year: 'numeric', timeZone: 'UTC' });

function barOf({ kind, field }: Chart, group: Data, most: number) {
  const { count, startMonth: month, [field]: value } = group;
  const target: Data = group[linkOf(field)] ?? { id: value };
  const name = month ? monthName(month) : value ? nameOf(target) : `No ${words(linkOf(field))}`;
  const filter = value ? { field, operator: 'eq', value } : { field, operator: 'isNull', value: 'true' };
  return html`<tr>
    <th scope="row" class="status"><a href=${addressOf({ kind, filters: month ? monthFilters(month, 0, 1) : [filter] })}>${name}</a></th>
    <td><svg width="100%" height="8" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"
      class=${target.color ? 'label' : nothing} .style=${labelStyle(target.color)}>
      <rect width=${Math.max(1, (count / most) * 100)} height="8" /></svg></td>
    <td class="number">${count.toLocaleString()}</td>
  </tr>`;
}

function chartOf(chart: Chart, summary: Data | undefined, total = 0) {
  const { title, kind, field } = chart;
  const { groups = [], totalCount = total, hasMoreGroups } = summary ?? {};
  const isOfMonths = field === 'startDate';
  const rest = isOfMonths || total === totalCount ? [] : [{ count: total - totalCount }];
  const inOrder = isOfMonths ? groups.toSorted((a: Data, b: Data) => (a.startMonth < b.startMonth ? -1 : 1)) : groups;
  const bars: readonly Data[] = [...inOrder, ...rest];
  if (bars.length === 0) return nothing;
  const most = Math.max(...bars.map(({ count }) => count));
  const all = html`<p class="pad">These are the largest. <a href=${addressOf({ kind })}>All</a></p>`;
  return html`<section class="card">
    <header class="row"><h2>${title}</h2>
      <small class="end">${isOfMonths && totalCount < total ? `${totalCount.toLocaleString()} of ` : ''}${total.toLocaleString()}</small></header>
    <table><tbody>${bars.map((group) => barOf(chart, group, most))}</tbody></table>
    ${hasMoreGroups ? all : nothing}
  </section>`;
}

const totalOf = (kind: string, data: Data): number | undefined => data[kindOf(kind).list]?.totalCount;

const labelLinks = (labels: readonly Data[]) =>
  labels.map(({ key, ...label }) => link('Status', { id: key.replace('STATUS:', ''), ...label }));

function firstSteps(mayWrite: boolean, labels: readonly Data[]) {
  const entries = html`${button('Import a file', () => chooseFiles('Asset'), 'primary')}
    <a class="button" href=${addressOf({ kind: 'Asset', view: 'new' })}>New asset</a> ${statusLink('Asset')}`;
  const demo = html`<a class="button" href="documentation/README.md#start">How to start a demo</a>`;
  return notice('No records are stored here yet', html`${labelLinks(labels)} ${mayWrite ? entries : nothing} ${demo}`);
}

export const overview: Viewer = {
  // Each part by itself: some take longer, and the first rows do not wait for them.
  queries: (view, data) => [statusesQuery, ...agendaQueries(view, data), countsQuery, ...charts.map(chartQuery)],
  draw(view, data, { mayWrite }) {
    const isEmpty = kindNames.every((kind) => totalOf(kind, data) === 0);
    const isUsed = data.statuses?.groups.length > 0 || (data.labels && !isEmpty);
    const overdue: number = (data.group0?.totalCount ?? 0) + (data.group1?.totalCount ?? 0);
    const today = new Date().toLocaleDateString(dateLocale, { weekday: 'long', day: 'numeric', month: 'long' });
    const drawn = charts.map((chart, index) => chartOf(chart, data[`chart${index}`], totalOf(chart.kind, data)));
    return {
      title: 'Overview',
      note: overdue > 0 ? `${today}: ${overdue.toLocaleString()} overdue` : today,
      actions: mayWrite('WorkOrder') && isUsed ? newLink('WorkOrder') : nothing,
      content: isEmpty
        ? firstSteps(mayWrite('Asset'), data.labels.nodes)
        : html`${agenda(view, data, mayWrite('Status'))} <div class="columns" .style=${'--min: 328px'}>${drawn}</div>`,
    };
  },
};
