/** The overview: how many records there are, by what people ask first, as bars that lead to their tables. */
import { html, nothing } from 'lit-html';
import { addressOf, type Filter } from './address.ts';
import { nameOf } from './cells.ts';
import { kindNames, kindOf, words } from './kinds.ts';
import { type Chart, charts, fieldOf, monthZone, overviewQueries } from './queries.ts';
import type { Data, Viewer } from './service.ts';

/** The first moment of a month, as a filter has it: in UTC, or as a day where the viewer is. */
const begin = (month: string): string => `${month}-01${monthZone === 'UTC' ? 'T00:00:00Z' : ''}`;

const monthAfter = (month: string): string =>
  new Date(Date.parse(`${month}-28`) + 4 * 86_400_000).toISOString().slice(0, 7);

/** The name of a group, and the filters of its records. */
function describe(chart: Chart, group: Data): { name: string; filters: Filter[] } {
  const field = fieldOf(chart);
  const filter = (operator: string, value: string) => ({ field, operator, value });
  const { startMonth: month, [field]: id } = group;
  if (month) return { name: month, filters: [filter('gte', begin(month)), filter('lt', begin(monthAfter(month)))] };
  if (id) return { name: nameOf(group[chart.by] ?? { id }), filters: [filter('eq', id)] };
  return { name: 'none', filters: [filter('isNull', 'true')] };
}

function bars(chart: Chart, summary: Data | undefined, total: number) {
  // It is still being read.
  if (!summary) return nothing;
  const rest = total - summary.totalCount;
  const groups: readonly Data[] = rest > 0 ? [...summary.groups, { count: rest }] : summary.groups;
  if (groups.length === 0) return nothing;
  const all = groups.map((group) => ({ count: group.count, ...describe(chart, group) }));
  if (chart.by === 'startMonth') all.sort((a, b) => a.name.localeCompare(b.name));
  const most = Math.max(...all.map(({ count }) => count));
  return html`
    <section>
      <h2>${chart.title}</h2>
      <ul class="bars">
        ${all.map(
          ({ name, count, filters }) => html`<li>
            <a href=${addressOf({ kind: chart.kind, filters })}>
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

export const overview: Viewer = {
  queries: overviewQueries,
  draw(_, data) {
    const countOf = (kind: string): number => data[kindOf(kind).list].totalCount;
    return html`
      <ul class="counts">
        ${kindNames.map(
          (kind) => html`<li>
            <a href=${addressOf({ kind })}><b>${countOf(kind).toLocaleString()}</b> ${words(kindOf(kind).list)}</a>
          </li>`,
        )}
      </ul>
      <p>
        <a href=${addressOf({ kind: 'Location', view: 'map' })}>Map of locations</a> ·
        <a href=${addressOf({ kind: 'AssetCategory', view: 'tree' })}>Tree of asset categories</a>
      </p>
      <div class="charts">
        ${charts.map((chart, index) => bars(chart, data[`chart${index}`], countOf(chart.kind)))}
      </div>`;
  },
};
