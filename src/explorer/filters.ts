/** The filters of a table, and its facets: the most frequent values of its status, place and type, with counts. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { ref } from 'lit-html/directives/ref.js';
import { capitalized } from '../model/labels.ts';
import { addressOf, type Filter, textOf, type View } from './address.ts';
import { dayWords } from './days.ts';
import { countText, inOrder, isLink, isOfTime, kindOf, linkOf, nameOf, operators, title, typeOf } from './kinds.ts';
import { picker } from './picker.ts';
import { filterGroups, groupsQuery, namesOf, query, whereOf } from './queries.ts';
import type { Data } from './service.ts';
import { button, labelStyle, timeTexts } from './values.ts';

/** The address of the first page of a view, with something changed. */
export const firstPage = (view: View, changed: View) =>
  addressOf({ ...view, after: undefined, before: undefined, page: undefined, ...changed });

/** Each begins an address such as `isNull:true`. Times have words of their own. */
const operatorNames: Readonly<Record<string, readonly [name: string, ofTime?: string]>> = {
  'contains:': ['contains'],
  'eq:': ['is'],
  'ne:': ['is not'],
  'within:': ['is within'],
  'startsWith:': ['starts with'],
  'endsWith:': ['ends with'],
  'gt:': ['above', 'after'],
  'gte:': ['from'],
  'lt:': ['below', 'before'],
  'lte:': ['up to', 'until'],
  'during:': ['throughout'],
  'isNull:true': ['is empty'],
  'isNull:false': ['is not empty'],
};

function operatorName(type: string | undefined, operator: string): string {
  const [name = operator, ofTime = name] = operatorNames[operator] ?? [];
  return type === 'DateTimeFilter' ? ofTime : name;
}

/** The kind of the records whose IDs a field has. */
const targetOf = (kind: string, field: string): string | undefined => {
  const type = typeOf(kind, linkOf(field));
  return isLink(type) ? type : undefined;
};

/** Reads the names of the records in the filters, by `filter0`, `filter1`, …. */
export const filterNames = ({ kind = '', filters = [] }: View): readonly string[] =>
  filters.flatMap(({ field, operator, value: id }, index) => {
    const target = operator === 'isNull' ? undefined : targetOf(kind, field);
    return target ? [`filter${index}: ${query(kindOf(target).one, { id }, namesOf(target))}`] : [];
  });

function valueText(kind: string, { field, value }: Filter, target: Data | null | undefined): string {
  if (target === null) return `${value} (not stored here)`;
  if (target) return nameOf(target);
  if (!isOfTime(kindOf(kind).filters[field])) return yesNo(value);
  return dayWords(value)?.words ?? timeTexts(value).text;
}

const yesNo = (value: string): string => ({ true: 'yes', false: 'no' })[value] ?? value;

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' });

/** The conditions of a table, and the way to the records that they leave out. */
export function chips(view: View, data: Data) {
  const { kind = '', search, filters = [] } = view;
  const chip = (group: readonly Filter[]) => {
    const { field, operator, value } = group[0] as Filter;
    const isNull = operator === 'isNull';
    const type = kindOf(kind).filters[field];
    const name = operatorName(type, `${operator}:${isNull ? value : ''}`);
    const values = group.map((filter) => valueText(kind, filter, data[`filter${filters.indexOf(filter)}`]));
    const text = [title(linkOf(field)), name, isNull ? '' : alternatives.format(values)].join(' ').trim();
    const dates = isOfTime(type) ? group.flatMap(({ value }) => dayWords(value)?.dates ?? []) : [];
    const printed = dates.length > 0 ? html`<span class="printed">(${alternatives.format(dates)})</span>` : nothing;
    const others = firstPage(view, { filters: filters.filter((filter) => !group.includes(filter)) });
    return html`<li class="chip">${text} ${printed} <a href=${others} .style=${'padding: 9px 13px; margin: 0 -8px'} aria-label=${`Remove: ${text}`}>×</a></li>`;
  };
  const groups = filterGroups(filters);
  // A record with one status has no other: "is not Done" is back once the status is removed.
  const isShown = (group: readonly Filter[]) => {
    const isOf = (other: Filter) => other.field === group[0]?.field && other.operator === 'eq';
    const [chosen, left] = [filters.filter(isOf), group.map(({ value }) => value)];
    return group[0]?.operator !== 'ne' || chosen.length === 0 || chosen.some(({ value }) => left.includes(value));
  };
  const total: number = data.all?.totalCount ?? 0;
  // The first start may be years ago.
  const all = html`<a class="link" href=${firstPage(view, { filters: [], sort: view.sort?.replace(/^startDate/, '-startDate') })}>All ${countText(kind, total)}</a>`;
  return html`<ul class="chips row" aria-label="Filters">${groups.filter(isShown).map(chip)}</ul>
    ${filters.length > 0 && !search && total > 0 ? all : nothing}`;
}

function addFilter(view: View, form: HTMLFormElement, chosen?: string): void {
  const sent = new FormData(form);
  const field = String(sent.get('field'));
  const [operator = '', fixed] = String(sent.get('condition')).split(':');
  const filter = { field, operator, value: fixed || (chosen ?? String(sent.get('value') ?? '')) };
  // It has this value, in place of those that it has not.
  const isReplaced = (other: Filter) => operator === 'eq' && other.field === field && other.operator !== 'eq';
  const others = view.filters?.filter((other) => !isReplaced(other)) ?? [];
  location.assign(firstPage(view, { filters: [...others, filter] }));
}

function valueInput(view: View, form: HTMLFormElement, field: string) {
  const { kind = '' } = view;
  const target = targetOf(kind, field);
  const type = kindOf(kind).filters[field] ?? '';
  const onPick = (record?: Data) => record && addFilter(view, form, record.id);
  if (target)
    return html`<div class="field"><label for="value">Value</label>
      ${picker({ id: 'value', kind: target, name: field, of: kind, required: true, onPick })}</div>`;
  const inputType = isOfTime(type) ? 'date' : type === 'NumberFilter' ? 'number' : 'text';
  return html`<label class="field">Value <input name="value" type=${inputType} required step="any"></label>`;
}

/** Asks for a field, a condition and a value. The choice of a record, or of a near day, adds the filter at once. */
function drawInputs(view: View, form: HTMLFormElement): void {
  const { kind = '' } = view;
  const { filters } = kindOf(kind);
  const fields = inOrder(kind, Object.keys(filters));
  const sent = new FormData(form);
  const field = String(sent.get('field') ?? fields[0]);
  const type = filters[field] ?? '';
  const isKnown = (condition: string) => operators[type]?.includes(condition.replace(/:.*/, ''));
  const conditions = Object.keys(operatorNames).filter(isKnown);
  const condition = conditions.find((name) => name === sent.get('condition')) ?? conditions[0];
  const select = (label: string, chosen: unknown, values: readonly string[], nameOf: (value: string) => string) =>
    html`<label class="field">${label} <select name=${label.toLowerCase()} @change=${() => drawInputs(view, form)}>
      ${values.map((value) => html`<option value=${value} .selected=${value === chosen}>${nameOf(value)}</option>`)}
    </select></label>`;
  const near = (value: string) =>
    button(capitalized(dayWords(value)?.words ?? ''), () => addFilter(view, form, value), 'bare');
  const [hasValue, isChoice] = [!condition?.startsWith('isNull'), type === 'BooleanFilter'];
  render(
    html`${select('Field', field, fields, (name) => title(linkOf(name)))}
      ${select('Condition', condition, conditions, (name) => operatorName(type, name))}
      ${hasValue ? keyed(field, isChoice ? select('Value', sent.get('value'), ['true', 'false'], yesNo) : valueInput(view, form, field)) : nothing}
      <button>Add</button>
      ${hasValue && isOfTime(type) ? html`<span class="row">${['today', 'today+1', 'week', 'week+1'].map(near)}</span>` : nothing}`,
    form,
  );
}

/** A form that is empty again once the address has changed. */
export function filterForm(view: View) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    addFilter(view, event.target as HTMLFormElement);
  };
  const form = html`<div id="filter" class="floats pad" .style=${'margin: 4px'} popover>
    <form class="row" .style=${'align-items: end; min-width: 300px'} @submit=${submit} ${ref((form) => form && drawInputs(view, form as HTMLFormElement))}></form></div>`;
  return html`<button type="button" class="bare" popovertarget="filter">Filter</button> ${keyed(addressOf(view), form)}`;
}

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

/** Depends on the counts of the table. A search looks at all records of the kind. */
function countedFacets(view: View, data: Data): readonly string[] {
  const { kind, search } = view;
  const counted = data[search ? 'all' : 'count']?.totalCount ?? Number.POSITIVE_INFINITY;
  const isCheap = (link: string) => counted <= maxCounted || (!search && othersOf(view, link).length === 0);
  return facetFields(kind).filter(isCheap);
}

export function facetQueries(view: View, data: Data): readonly string[] {
  const { kind = '' } = view;
  const facetQuery = (link: string) =>
    `${link}Facet: ${groupsQuery(kind, link, maxValues + 1, whereOf({ ...view, filters: othersOf(view, link) }))}`;
  // Each by itself: a document of all would be too long for a search of eight words.
  return countedFacets(view, data).map(facetQuery);
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

/**
 * Beside the table, or opened by a button. Undefined if no facet has a value. While they are read, their column stays
 * empty, so that the table does not move.
 */
export function facets(view: View, data: Data) {
  const valuesOf = (link: string): readonly Data[] =>
    (data[`${link}Facet`]?.groups ?? []).filter((group: Data) => group[`${link}Id`] !== null).slice(0, maxValues);
  const links = facetFields(view.kind).filter((link) => valuesOf(link).length > 0);
  const isRead = data.problem || (data.count && countedFacets(view, data).every((link) => `${link}Facet` in data));
  if (links.length === 0 && (isRead || facetFields(view.kind).length === 0)) return undefined;
  return html`<aside id="facets" class="nav facets end" popover aria-label="Narrow down">
    <div class="row narrow"><b .style=${'padding: 8px'}>Narrow down</b> <button type="button" class="bare end" popovertarget="facets">Close</button></div>
    ${links.map((link) => html`<h2>${title(link)}</h2> ${valuesOf(link).map((group) => choice(view, link, group))}`)}
  </aside>`;
}
