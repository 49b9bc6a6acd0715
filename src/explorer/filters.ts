/** The search and the filters of a table. */
import { html, nothing } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type Filter, type View } from './address.ts';
import { dayWords } from './days.ts';
import { inOrder, isLink, kindOf, linkOf, nameOf, operators, title, typeOf, words } from './kinds.ts';
import { picker } from './picker.ts';
import { namesOf, query } from './queries.ts';
import type { Data } from './service.ts';

/** The address of the first page of a view, with something changed. */
export const firstPage = (view: View, changed: View) =>
  addressOf({ ...view, after: undefined, before: undefined, page: undefined, ...changed });

export function searchForm(view: View, kind: string) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const search = new FormData(event.target as HTMLFormElement).get('search');
    location.assign(firstPage(view, { search: String(search).trim() }));
  };
  return html`<form role="search" aria-label=${title(kindOf(kind).list)} @submit=${submit}>
    <input type="search" name="search" aria-label="Search" .value=${view.search ?? ''}
      placeholder=${`Search ${words(kindOf(kind).list)}`}
      title="Finds records with all words. erp:4711 is the ID 4711 of the system erp.">
  </form>`;
}

/** Each begins an address such as `isNull:true`. Times have words of their own. */
const operatorNames: Readonly<Record<string, readonly [name: string, ofTime?: string]>> = {
  'contains:': ['contains'],
  'eq:': ['is'],
  'ne:': ['is not'],
  'startsWith:': ['starts with'],
  'endsWith:': ['ends with'],
  'gt:': ['above', 'after'],
  'gte:': ['from'],
  'lt:': ['below', 'before'],
  'lte:': ['up to', 'until'],
  'isNull:true': ['is empty'],
  'isNull:false': ['is not empty'],
};

function operatorName(kind: string, field: string, operator: string): string {
  const [name = operator, ofTime = name] = operatorNames[operator] ?? [];
  return kindOf(kind).filters[field] === 'DateTimeFilter' ? ofTime : name;
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

const dayFormat = { day: '2-digit', month: '2-digit', year: 'numeric' } as const;

function timeText(value: string): string {
  const isDay = value.length === 10;
  const format = isDay ? ({ timeZone: 'UTC' } as const) : ({ hour: '2-digit', minute: '2-digit' } as const);
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? value : time.toLocaleString(undefined, { ...dayFormat, ...format });
}

function valueText(kind: string, { field, value }: Filter, target: Data | null | undefined): string {
  if (target === null) return `${value} (not stored here)`;
  if (target) return nameOf(target);
  if (kindOf(kind).filters[field] === 'DateTimeFilter') return dayWords(value) ?? timeText(value);
  return { true: 'yes', false: 'no' }[value] ?? value;
}

export function chips(view: View, data: Data) {
  const { kind = '', filters = [] } = view;
  const chip = (filter: Filter, index: number) => {
    const { field, operator, value } = filter;
    const isNull = operator === 'isNull';
    const name = operatorName(kind, field, `${operator}:${isNull ? value : ''}`);
    const shown = isNull ? '' : ` ${valueText(kind, filter, data[`filter${index}`])}`;
    const text = `${title(linkOf(field))} ${name}${shown}`;
    const others = firstPage(view, { filters: filters.filter((other) => other !== filter) });
    return html`<li class="chip">${text} <a href=${others} aria-label=${`Remove: ${text}`}>×</a></li>`;
  };
  return html`<ul class="chips row" aria-label="Filters">${filters.map(chip)}</ul>`;
}

const inputTypes: Readonly<Record<string, string>> = { DateTimeFilter: 'date', NumberFilter: 'number' };

/** Asks for a field, a condition and a value. The choice of a record adds the filter at once. */
class FilterForm extends AsyncDirective {
  #view: View = {};
  #field = '';
  #operator = '';

  override render(view: View) {
    this.#view = view;
    if (this.#field === '') this.#choose(this.#fields()[0] ?? '');
    return this.#form();
  }

  #fields(): readonly string[] {
    const { kind = '' } = this.#view;
    return inOrder(kind, Object.keys(kindOf(kind).filters));
  }

  #choose(field: string, operator = this.#operators(field)[0] ?? ''): void {
    this.#field = field;
    this.#operator = operator;
  }

  #operators(field: string): readonly string[] {
    const known = operators[kindOf(this.#view.kind).filters[field] ?? ''] ?? [];
    return Object.keys(operatorNames).filter((name) => known.includes(name.split(':')[0] ?? ''));
  }

  #add(added: string): void {
    const [operator = '', value = ''] = this.#operator.split(':');
    const filters = [...(this.#view.filters ?? []), { field: this.#field, operator, value: value || added }];
    location.assign(firstPage(this.#view, { filters }));
  }

  #value() {
    const { kind = '' } = this.#view;
    const field = this.#field;
    const type = kindOf(kind).filters[field] ?? '';
    const target = targetOf(kind, field);
    if (this.#operator.startsWith('isNull')) return nothing;
    if (target)
      return picker({
        kind: target,
        name: field,
        label: 'Value',
        of: kind,
        required: true,
        onPick: (record) => record && this.#add(record.id),
      });
    if (type === 'BooleanFilter')
      return html`<select name=${field} aria-label="Value">
        <option value="true">yes</option><option value="false">no</option>
      </select>`;
    return html`<input name=${field} aria-label="Value" type=${inputTypes[type] ?? 'text'} required step="any">`;
  }

  #form() {
    const { kind = '' } = this.#view;
    const choose = (field: string, operator?: string) => {
      this.#choose(field, operator);
      this.setValue(this.#form());
    };
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      this.#add(String(new FormData(event.target as HTMLFormElement).get(this.#field) ?? ''));
    };
    const optionOf = (value: string, text: string, chosen: string) =>
      html`<option value=${value} .selected=${value === chosen}>${text}</option>`;
    const valueAt = ({ target }: Event) => (target as HTMLSelectElement).value;
    const operatorOption = (name: string) => optionOf(name, operatorName(kind, this.#field, name), this.#operator);
    const close = ({ key, currentTarget }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      const details = currentTarget as HTMLDetailsElement;
      details.open = false;
      details.querySelector('summary')?.focus();
    };
    return html`<details class="filter" @keydown=${close}>
      <summary class="button bare">Filter</summary>
      <form class="floats pad row" @submit=${submit}>
        <select aria-label="Field" @change=${(event: Event) => choose(valueAt(event))}>
          ${this.#fields().map((field) => optionOf(field, title(linkOf(field)), this.#field))}
        </select>
        <select aria-label="Condition" @change=${(event: Event) => choose(this.#field, valueAt(event))}>
          ${this.#operators(this.#field).map(operatorOption)}
        </select>
        ${keyed(this.#field, this.#value())}
        <button>Add</button>
      </form>
    </details>`;
  }
}

const form = directive(FilterForm);

/** A form that is empty again once the address has changed. */
export const filterForm = (view: View) => keyed(addressOf(view), form(view));
