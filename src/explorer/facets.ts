/** Facets: the most frequent values of a table's status, place and type, with counts. Each narrows the table down. */
import { html, nothing } from 'lit-html';
import type { Filter, View } from './address.ts';
import { firstPage } from './filters.ts';
import { isLink, kindOf, nameOf, title, typeOf } from './kinds.ts';
import { atMost, namesOf, query, whereOf } from './queries.ts';
import type { Data } from './service.ts';
import { labelStyle } from './values.ts';

/** The first three that a kind has are its facets. */
const preferred = ['status', 'currentLocation', 'location', 'assetType', 'type', 'project', 'category', 'parent'];

const facetFields = ({ kind = '' }: View): readonly string[] =>
  preferred.filter((field) => isLink(typeOf(kind, field)) && `${field}Id` in kindOf(kind).filters).slice(0, 3);

const isChoice = ({ field, operator }: Filter, link: string): boolean => field === `${link}Id` && operator === 'eq';

/** The filters without the chosen value of a facet. */
const othersOf = ({ filters = [] }: View, link: string): readonly Filter[] =>
  filters.filter((filter) => !isChoice(filter, link));

const maxValues = 5;

/** A facet with conditions counts all records that match. */
const maxCounted = 20_000;

function facetQuery(view: View, link: string): string {
  const { kind = '' } = view;
  // Without a condition, an index has the counts of all values. Else the group without a value may be one of them.
  const where = whereOf({ ...view, filters: othersOf(view, link) }) ?? { [`${link}Id`]: { isNull: false } };
  const groupBy = [Symbol(link.replace(/[A-Z]/g, '_$&').toUpperCase())];
  const sent = { groupBy, first: atMost(maxValues + 1), where };
  const selection = `groups { count ${link}Id ${link} { ${namesOf(typeOf(kind, link))} } }`;
  return `${link}Facet: ${query(`${kindOf(kind).list}Summary`, sent, selection)}`;
}

/** Depends on the count of the table. A search looks at all records of the kind, whose number is read first. */
export function facetQueries(view: View, { count, all }: Data): readonly string[] {
  const total = query(kindOf(view.kind).list, { first: 0 }, 'totalCount');
  const counted = (view.search ? all : count)?.totalCount ?? Number.POSITIVE_INFINITY;
  const isCheap = (link: string) => counted <= maxCounted || (!view.search && othersOf(view, link).length === 0);
  const facetsOfView = facetFields(view).filter(isCheap);
  return [
    ...(view.search ? [`all: ${total}`] : []),
    ...(facetsOfView.length > 0 ? [facetsOfView.map((link) => facetQuery(view, link)).join('\n  ')] : []),
  ];
}

function facet(view: View, link: string, groups: readonly Data[]) {
  const choice = (group: Data) => {
    const value: string = group[`${link}Id`];
    const isChosen = view.filters?.some((filter) => isChoice(filter, link) && filter.value === value);
    const own = isChosen ? [] : [{ field: `${link}Id`, operator: 'eq', value }];
    const target: Data = group[link] ?? { id: value };
    const style = labelStyle(target.color);
    return html`<a href=${firstPage(view, { filters: [...othersOf(view, link), ...own] })}
      aria-current=${isChosen ? 'true' : nothing}>
      <span class=${style ? 'label' : nothing} .style=${style}>${nameOf(target)}</span>
      <small>${group.count.toLocaleString()}</small></a>`;
  };
  return html`<h2>${title(link)}</h2> ${groups.map(choice)}`;
}

const groupsOf = (data: Data, link: string): readonly Data[] =>
  (data[`${link}Facet`]?.groups ?? []).filter((group: Data) => group[`${link}Id`] !== null).slice(0, maxValues);

/** Stands beside the table, or opens from its button. */
export function facets(view: View, data: Data) {
  const shown = facetFields(view).filter((link) => groupsOf(data, link).length > 0);
  if (shown.length === 0) return nothing;
  return html`<aside id="facets" class="nav facets end" popover aria-label="Narrow down">
    ${shown.map((link) => facet(view, link, groupsOf(data, link)))}
  </aside>`;
}

export const facetsButton = (view: View, data: Data) =>
  facetFields(view).some((link) => groupsOf(data, link).length > 0)
    ? html`<button type="button" class="bare narrow" popovertarget="facets">Narrow down</button>`
    : nothing;
