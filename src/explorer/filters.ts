/** The search and the filters of a table. */
import { html } from 'lit-html';
import { addressOf, type Filter, filterOf, textOf, type View } from './address.ts';
import { inOrder, kindOf, operators, searched, title, words } from './kinds.ts';

/** The address of the first page of what is shown, with something changed. */
export const firstPage = (view: View, changed: View) =>
  addressOf({ ...view, after: undefined, before: undefined, ...changed });

/** Goes where a form leads, in place of sending it. */
const onSubmit = (addressFor: (sent: FormData) => string) => (event: SubmitEvent) => {
  event.preventDefault();
  location.assign(addressFor(new FormData(event.target as HTMLFormElement)));
};

export function searchForm(view: View, kind: string) {
  // An ID of another system is found only with the name of that system.
  const texts = [...searched(kind).map(words), ...('externalIds' in kindOf(kind).fields ? ['erp:4711'] : [])];
  const found = (sent: FormData) => firstPage(view, { search: String(sent.get('search')).trim() });
  return html`<form role="search" @submit=${onSubmit(found)}>
    <input type="search" name="search" aria-label="Search" .value=${view.search ?? ''}
      placeholder=${`Search ${texts.join(', ')}`} title="All words must be found.">
    <button>Search</button>
  </form>`;
}

/** Of times, and of numbers where these are said in other words. */
const operatorNames: Readonly<Record<string, readonly [string, string?]>> = {
  eq: ['is'],
  ne: ['is not'],
  gt: ['after', 'above'],
  gte: ['from'],
  lt: ['before', 'below'],
  lte: ['until', 'up to'],
  startsWith: ['starts with'],
  endsWith: ['ends with'],
};

function describe(kind: string, { field, operator, value }: Filter): string {
  if (operator === 'isNull') return `${words(field)} ${value === 'false' ? 'is set' : 'is empty'}`;
  const [name = operator, ofNumber = name] = operatorNames[operator] ?? [];
  const said = kindOf(kind).filters[field] === 'NumberFilter' ? ofNumber : name;
  return `${words(field)} ${said} ${value === 'true' ? 'yes' : value === 'false' ? 'no' : value}`;
}

/** Conditions that need no value, and those that need one, which is empty here. */
function conditionsOf(field: string, type = ''): readonly Filter[] {
  const valuesOf = (operator: string) => (operator === 'isNull' || type === 'BooleanFilter' ? ['true', 'false'] : ['']);
  return (operators[type] ?? []).flatMap((operator) => valuesOf(operator).map((value) => ({ field, operator, value })));
}

const inputTypes: Readonly<Record<string, string>> = { DateTimeFilter: 'date', NumberFilter: 'number' };

export function filterForm(view: View, kind: string) {
  const { filters } = kindOf(kind);
  const optionOf = (condition: Filter) =>
    html`<option value=${textOf(condition)}>${describe(kind, condition)}</option>`;
  const groupOf = (field: string) =>
    html`<optgroup label=${title(field)}>${conditionsOf(field, filters[field]).map(optionOf)}</optgroup>`;
  const added = (sent: FormData) => {
    const filter = filterOf(kind, `${sent.get('condition')}${sent.get('value') ?? ''}`);
    return firstPage(view, { filters: [...(view.filters ?? []), ...(filter ? [filter] : [])] });
  };
  /** The value is entered as the field needs it, or not at all. */
  const choose = ({ target }: Event) => {
    const { value: text, form } = target as HTMLSelectElement;
    const { field = '', value } = filterOf(kind, text) ?? {};
    const input = form?.elements.namedItem('value') as HTMLInputElement;
    input.type = inputTypes[filters[field] ?? ''] ?? 'text';
    input.disabled = input.hidden = value !== '';
  };
  return html`<details>
    <summary>Filter</summary>
    <form @submit=${onSubmit(added)}>
      <select name="condition" aria-label="Condition" @change=${choose}>
        ${inOrder(kind, Object.keys(filters)).map(groupOf)}
      </select>
      <input name="value" aria-label="Value" placeholder="value" required step="any">
      <button>Add</button>
    </form>
  </details>`;
}

export function chips(view: View) {
  const { kind = '', filters = [] } = view;
  const chip = (filter: Filter) => {
    const others = firstPage(view, { filters: filters.filter((other) => other !== filter) });
    return html`<li>${describe(kind, filter)} <a href=${others} aria-label=${`Remove: ${describe(kind, filter)}`}>×</a></li>`;
  };
  return html`<ul class="chips" aria-label="Filters">${filters.map(chip)}</ul>`;
}
