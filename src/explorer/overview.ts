/** The overview: how many records there are, by what people ask first, as bars that lead to their tables. */
import { html, nothing } from 'lit-html';
import { addressOf } from './address.ts';
import { kindNames, kindOf, title } from './kinds.ts';
import { type Chart, charts, daysQuery, linkOfChart, monthOf, overviewQueries } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { nameOf } from './table.ts';

/** The first day of the next month: `2026-12` for `2026-11`. */
function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 10);
}

/** West of Greenwich, dates of the 1st are in the evening before: here they are counted in their own month, as they are shown. */
async function withFirstDays(chart: Chart, summary: Data): Promise<Data> {
  const month = monthOf(chart) ?? '';
  const isShownEarlier = (day: string) => new Date(day).getDate() !== 1;
  const days = summary.groups.map((group: Data) => nextMonth(group[month])).filter(isShownEarlier);
  if (days.length === 0) return summary;
  const counts = new Map<string, number>(summary.groups.map((group: Data) => [group[month], group.count]));
  const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const { count, [month]: own } of (await read(daysQuery(chart, days))).days.groups) {
    add(own, count);
    add(new Date(Date.parse(own) - 1).toISOString().slice(0, 7), -count);
  }
  const groups = [...counts].filter(([, count]) => count > 0).map(([name, count]) => ({ [month]: name, count }));
  return { ...summary, groups };
}

async function* readInTurn(): AsyncGenerator<Data> {
  const [counts = '', ...queries] = overviewQueries();
  yield read(counts);
  for (const [index, query] of queries.entries()) {
    const [[name, summary]] = Object.entries(await read(query)) as [[string, Data]];
    const chart = charts[index] as Chart;
    yield { [name]: monthOf(chart) ? await withFirstDays(chart, summary) : summary };
  }
}

interface Bar {
  readonly name: string;
  readonly count: number;
  readonly href: string;
}

function barOf(chart: Chart, group: Data): Bar {
  const { kind, field } = chart;
  const month = monthOf(chart);
  const value = group[month ?? field];
  const condition = (operator: string, sent: string) => ({ field, operator, value: sent });
  const filters =
    value === null
      ? [condition('isNull', 'true')]
      : month
        ? [condition('gte', `${value}-01`), condition('lt', nextMonth(value))]
        : [condition('eq', value)];
  const name = value === null ? 'none' : month ? value : nameOf(group[linkOfChart(chart)] ?? { id: value });
  return { name, count: group.count, href: addressOf({ kind, filters }) };
}

function bars(chart: Chart, summary: Data | undefined, total: number) {
  // It is still being read.
  if (!summary) return nothing;
  const none = { [monthOf(chart) ?? chart.field]: null, count: total - summary.totalCount };
  const groups: readonly Data[] = [...summary.groups, ...(none.count > 0 ? [none] : [])];
  if (groups.length === 0) return nothing;
  const all = groups.map((group) => barOf(chart, group));
  if (monthOf(chart)) all.sort((a, b) => a.name.localeCompare(b.name));
  const most = Math.max(...all.map(({ count }) => count));
  return html`
    <section>
      <h2>${chart.title}</h2>
      <ul class="bars">
        ${all.map(
          ({ name, count, href }) => html`<li>
            <a href=${href}>
              <span>${name}</span>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect width=${Math.max(1, (count / most) * 100)} height="10" />
              </svg>
              <span>${count.toLocaleString()}</span>
            </a>
          </li>`,
        )}
      </ul>
      ${summary.hasMoreGroups ? html`<p>These are the largest. <a href=${addressOf({ kind: chart.kind })}>All</a></p>` : nothing}
    </section>`;
}

const draw = (data: Data) => html`
  <ul class="counts">
    ${kindNames.map(
      (kind) => html`<li>
        <a href=${addressOf({ kind })}><b>${data[kindOf(kind).list].totalCount.toLocaleString()}</b> ${title(kind).toLowerCase()}</a>
      </li>`,
    )}
  </ul>
  <p>
    <a href=${addressOf({ kind: 'Location', view: 'map' })}>Map of locations</a> ·
    <a href=${addressOf({ kind: 'AssetCategory', view: 'tree' })}>Tree of asset categories</a>
  </p>
  <div class="charts">
    ${charts.map((chart, index) => bars(chart, data[`chart${index}`], data[kindOf(chart.kind).list].totalCount))}
  </div>`;

export const overview: Viewer = { queries: overviewQueries, read: readInTurn, draw: (_, data) => draw(data) };
