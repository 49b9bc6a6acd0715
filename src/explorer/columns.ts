/** The columns of a table, which are chosen and arranged in its address. */
import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { addressOf, type View } from './address.ts';
import { columns, inOrder, kindOf, title } from './kinds.ts';
import { button } from './values.ts';

/** As many as fit beside the facets into a window of 1280 pixels. */
const defaultNumber = 5;

/** The first column leads to the record, and stays. */
export function columnsOf({ kind = '', columns: chosen }: View): readonly string[] {
  const [first = '', ...others] = columns[kind] ?? [];
  const fields = chosen?.split(',').filter((field) => Object.hasOwn(kindOf(kind).fields, field));
  return [...new Set([first, ...(fields ?? others.slice(0, defaultNumber - 1))])];
}

export function columnMenu(view: View) {
  const { kind = '' } = view;
  const shown = columnsOf(view);
  const [, ...movable] = shown;
  const hidden = inOrder(kind, Object.keys(kindOf(kind).fields)).filter((field) => !shown.includes(field));
  const choose = async (fields: readonly string[] | undefined, id: string) => {
    const address = addressOf({ ...view, columns: fields && (fields.join(',') || 'none') });
    if (!window.navigation) return location.assign(address);
    await window.navigation.navigate(address).finished;
    document.getElementById(id)?.focus();
  };
  const toggle = (field: string) =>
    movable.includes(field) ? movable.filter((other) => other !== field) : [...movable, field];
  const moved = (index: number) => movable.with(index, movable[index - 1] ?? '').with(index - 1, movable[index] ?? '');
  const row = (field: string) => {
    const index = movable.indexOf(field);
    const [box, mover] = [`column-${field}`, `move-${field}`];
    const forward = html`<button type="button" class="bare end" id=${mover}
      aria-label=${`Move ${title(field)} forward`} @click=${() => void choose(moved(index), mover)}>↑</button>`;
    return html`<li class="row">
      <label class="row"><input type="checkbox" id=${box} .checked=${live(index >= 0)}
        @change=${() => void choose(toggle(field), box)}> ${title(field)}</label>
      ${index > 0 ? forward : nothing}
    </li>`;
  };
  return html`<button type="button" class="bare wide" popovertarget="columns">Columns</button>
    <div id="columns" class="floats pad" popover>
      <ul aria-label="Columns">${[...movable, ...hidden].map(row)}</ul>
      ${button('As at first', () => void choose(undefined, 'columns'))}
    </div>`;
}
