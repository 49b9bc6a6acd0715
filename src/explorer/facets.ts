/** Facets: the most frequent values of a table's status, place and type, with counts. Each narrows the table down. */
import { html, nothing } from 'lit-html';
import { type Filter, textOf, type View } from './address.ts';
import { firstPage } from './filters.ts';
import { isLink, kindOf, nameOf, title, typeOf } from './kinds.ts';
import { groupsQuery, query, whereOf } from './queries.ts';
import type { Data } from './service.ts';
import { labelStyle } from './values.ts';

/** The first three that a kind has are its facets. */
const preferred = ['status', 'currentLocation', 'location', 'assetType', 'type', 'project', 'category', 'parent'];

const facetFields = (kind = ''): readonly string[] =>
  preferred.filter((field) => isLink(typeOf(kind, field)) && `${field}Id` in kindOf(kind).filters).slice(0, 3);

/** The filters without the chosen values of a facet. */
const othersOf = ({ filters = [] }: View, link: string): readonly Filter[] =>
  filters.filter(({ field, operator }) => field !== `${link}Id` || operator !== 'eq');

const maxValues = 5;

/** A facet with conditions counts all records that match. */
const maxCounted = 20_000;

/** Depends on the count of the table. A search looks at all records of the kind, whose number is read first. */
export function facetQueries(view: View, { count, all }: Data): readonly string[] {
  const { kind = '', search } = view;
  const counted = (search ? all : count)?.totalCount ?? Number.POSITIVE_INFINITY;
  const isCheap = (link: string) => counted <= maxCounted || (!search && othersOf(view, link).length === 0);
  const facets = facetFields(kind).filter(isCheap);
  const facetQuery = (link: string) =>
    `${link}Facet: ${groupsQuery(kind, link, maxValues + 1, whereOf({ ...view, filters: othersOf(view, link) }))}`;
  return [
    ...(search ? [`all: ${query(kindOf(kind).list, { first: 0 }, 'totalCount')}`] : []),
    ...(facets.length > 0 ? [facets.map(facetQuery).join('\n  ')] : []),
  ];
}

/** Chosen values are added to each other: the records have one of them. */
function choice(view: View, link: string, group: Data) {
  const { filters = [] } = view;
  const filter = { field: `${link}Id`, operator: 'eq', value: group[`${link}Id`] };
  const others = filters.filter((other) => textOf(other) !== textOf(filter));
  const isChosen = others.length < filters.length;
  const target: Data = group[link] ?? { id: filter.value };
  const style = labelStyle(target.color);
  return html`<a href=${firstPage(view, { filters: isChosen ? others : [...filters, filter] })}
    aria-current=${isChosen ? 'true' : nothing}>
    <span class=${style ? 'label' : nothing} .style=${style}>${nameOf(target)}</span>
    <small>${group.count.toLocaleString()}</small></a>`;
}

/** They stand beside the table, or open from a button. Undefined without any values. */
export function facets(view: View, data: Data) {
  const valuesOf = (link: string): readonly Data[] =>
    (data[`${link}Facet`]?.groups ?? []).filter((group: Data) => group[`${link}Id`] !== null).slice(0, maxValues);
  const links = facetFields(view.kind).filter((link) => valuesOf(link).length > 0);
  if (links.length === 0) return undefined;
  return html`<aside id="facets" class="nav facets end" popover aria-label="Narrow down">
    ${links.map((link) => html`<h2>${title(link)}</h2> ${valuesOf(link).map((group) => choice(view, link, group))}`)}
  </aside>`;
}
