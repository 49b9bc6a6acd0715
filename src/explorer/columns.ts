/** The columns of a table, which are chosen and arranged in its address. */
import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { addressOf, type View, viewOf } from './address.ts';
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

/** Changes the columns of the address, which the table may not show yet, and keeps the focus. */
async function choose(id: string, change: (fields: readonly string[]) => readonly string[]): Promise<void> {
  const view = viewOf(location.search);
  const [, ...fields] = columnsOf(view);
  const address = addressOf({ ...view, view: undefined, columns: change(fields).join(',') || 'none' });
  if (!window.navigation) return location.assign(address);
  // The next key may end this navigation by another one.
  const focus = () => document.getElementById(id)?.focus();
  await window.navigation.navigate(address).finished?.then(focus, () => {});
}

export function columnMenu(view: View) {
  const { kind = '' } = view;
  const [first, ...shown] = columnsOf(view);
  const hidden = inOrder(kind, Object.keys(kindOf(kind).fields)).filter((field) => ![first, ...shown].includes(field));
  const row = (field: string) => {
    const index = shown.indexOf(field);
    const [box, mover] = [`column-${field}`, `move-${field}`];
    const toggle = () =>
      choose(box, (fields) =>
        fields.includes(field) ? fields.filter((other) => other !== field) : [...fields, field],
      );
    const move = () =>
      choose(mover, (fields) => {
        const others = fields.filter((other) => other !== field);
        return others.toSpliced(Math.max(0, fields.indexOf(field) - 1), 0, field);
      });
    const forward = html`<button type="button" class="bare end" id=${mover}
      aria-label=${`Move ${title(field)} forward`} @click=${move}>↑</button>`;
    return html`<li class="row">
      <label class="row"><input type="checkbox" id=${box} .checked=${live(index >= 0)} @change=${toggle}> ${title(field)}</label>
      ${index > 0 ? forward : nothing}
    </li>`;
  };
  return html`<button type="button" class="bare wide" popovertarget="columns">Columns</button>
    <div id="columns" class="floats pad" popover>
      <ul aria-label="Columns">${[...shown, ...hidden].map(row)}</ul>
      ${button('As at first', () => location.assign(addressOf({ ...view, view: undefined, columns: undefined })))}
    </div>`;
}
