/** The overview: how many records there are, by what people ask first, as bars that lead to their tables. */
import { html, nothing } from 'lit-html';
import { addressOf } from './address.ts';
import { kindNames, kindOf, linkOf, nameOf, typeOf, words } from './kinds.ts';
import { atMost, namesOf, query } from './queries.ts';
import type { Data, Viewer } from './service.ts';

/** What is counted in groups: records by the field that a group has in common, which is the ID of a link, or the start for its month. */
const charts = [
  { title: 'Assets by status', kind: 'Asset', field: 'statusId' },
  { title: 'Assets by location', kind: 'Asset', field: 'currentLocationId' },
  { title: 'Work orders by status', kind: 'WorkOrder', field: 'statusId' },
  { title: 'Work orders by location', kind: 'WorkOrder', field: 'locationId' },
  { title: 'Work orders by month of their start', kind: 'WorkOrder', field: 'startDate' },
  { title: 'Projects by status', kind: 'Project', field: 'statusId' },
] as const;

type Chart = (typeof charts)[number];

/**
 * Months begin where the viewer is, in whose time zone the tables have their times. But what is stored as a date is at midnight UTC, and west
 * of Greenwich the first day of a month would be counted in the month before: months are those of UTC there.
 */
const monthZone = new Date(2026, 0).getTimezoneOffset() > 0 ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The largest groups of what has a value: an index is enough for them, and takes a fifth of the time. Of months all, as far as anybody looks. */
function chartQuery({ kind, field }: Chart, index: number): string {
  const by = linkOf(field);
  const constant = by.replace(/[A-Z]/g, '_$&').toUpperCase();
  const [groups, selected] =
    field === 'startDate'
      ? [{ groupBy: [Symbol('MONTH_OF_START')], first: atMost(60), timeZone: monthZone }, 'startMonth']
      : [{ groupBy: [Symbol(constant)], first: atMost(12) }, `${field} ${by} { ${namesOf(typeOf(kind, by))} }`];
  const sent = { ...groups, where: { [field]: { isNull: false } } };
  const summary = `${kindOf(kind).list}Summary`;
  return `chart${index}: ${query(summary, sent, `totalCount hasMoreGroups groups { count ${selected} }`)}`;
}

/** The first moment of a month, as a filter has it: in UTC, or as a day where the viewer is. */
const begin = (month: string): string => `${month}-01${monthZone === 'UTC' ? 'T00:00:00Z' : ''}`;

const monthAfter = (month: string): string =>
  new Date(Date.parse(`${month}-28`) + 4 * 86_400_000).toISOString().slice(0, 7);

function describe({ kind, field }: Chart, group: Data) {
  const { startMonth: month, [field]: id } = group;
  const to = (...conditions: readonly (readonly [operator: string, value: string])[]) =>
    addressOf({ kind, filters: conditions.map(([operator, value]) => ({ field, operator, value })) });
  if (month) return { name: month, href: to(['gte', begin(month)], ['lt', begin(monthAfter(month))]) };
  if (id) return { name: nameOf(group[linkOf(field)] ?? { id }), href: to(['eq', id]) };
  return { name: 'none', href: to(['isNull', 'true']) };
}

function bars(chart: Chart, summary: Data | undefined, total: number) {
  // It is still being read.
  if (!summary) return nothing;
  const rest = total - summary.totalCount;
  const groups: readonly Data[] = rest > 0 ? [...summary.groups, { count: rest }] : summary.groups;
  if (groups.length === 0) return nothing;
  const all = groups.map((group) => ({ count: group.count, ...describe(chart, group) }));
  if (chart.field === 'startDate') all.sort((a, b) => a.name.localeCompare(b.name));
  const most = Math.max(...all.map(({ count }) => count));
  const bar = ({ name, count, href }: (typeof all)[number]) => html`<li><a href=${href}>
    <span>${name}</span>
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect width=${Math.max(1, (count / most) * 100)} height="10" />
    </svg>
    <span>${count.toLocaleString()}</span>
  </a></li>`;
  const more = html`<p>These are the largest. <a href=${addressOf({ kind: chart.kind })}>All</a></p>`;
  return html`<section>
    <h2>${chart.title}</h2>
    <ul class="bars">${all.map(bar)}</ul>
    ${summary.hasMoreGroups ? more : nothing}
  </section>`;
}

export const overview: Viewer = {
  // The counts, and then each chart by itself: some take longer.
  queries: () => [
    kindNames.map((kind) => query(kindOf(kind).list, { first: 0 }, 'totalCount')).join('\n  '),
    ...charts.map(chartQuery),
  ],
  draw(_, data) {
    const countOf = (kind: string): number => data[kindOf(kind).list].totalCount;
    const count = (kind: string) => html`<li>
      <a href=${addressOf({ kind })}><b>${countOf(kind).toLocaleString()}</b> ${words(kindOf(kind).list)}</a>
    </li>`;
    return html`
      <ul class="counts">${kindNames.map(count)}</ul>
      <p><a href=${addressOf({ kind: 'Location', view: 'map' })}>Map of locations</a> ·
        <a href=${addressOf({ kind: 'Location', view: 'tree' })}>Tree of locations</a> ·
        <a href=${addressOf({ kind: 'AssetCategory', view: 'tree' })}>Tree of asset categories</a></p>
      <div class="charts">${charts.map((chart, index) => bars(chart, data[`chart${index}`], countOf(chart.kind)))}</div>`;
  },
};
