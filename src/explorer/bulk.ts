/** Sets a field of all selected records of a table: previewed, stored together, and undone together. */
import { html, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { ref } from 'lit-html/directives/ref.js';
import { isReversed } from './clock.ts';
import { Draft, inputNames } from './draft.ts';
import { fieldInput } from './fields.ts';
import { kindOf, linkOf, nameFields, nameOf, title, words } from './kinds.ts';
import { atMost, query, selectionOf } from './queries.ts';
import { type Data, type Page, read } from './service.ts';
import { button, cell, openDialog, tableOf } from './values.ts';
import { report } from './writes.ts';

/** The fields that several records may have in common. */
const commonFields = (kind: string): readonly string[] =>
  inputNames(kind).filter((name) => !/String|Float|Int|ExternalIds/.test(kindOf(kind).inputs[name] ?? ''));

const countText = (kind: string, count: number): string =>
  `${count.toLocaleString()} ${words(count === 1 ? kind : kindOf(kind).list)}`;

async function readRecords(kind: string, ids: readonly string[]): Promise<readonly Data[]> {
  const { list, fields } = kindOf(kind);
  const shown = [...nameFields(kind), ...commonFields(kind).map(linkOf), 'updatedAt'].filter((name) => name in fields);
  const page = { first: atMost(ids.length), where: { id: { in: ids } } };
  return (await read(query(list, page, `nodes { ${selectionOf(kind, shown)} }`)))[list].nodes;
}

const none = html`<span class="quiet">nothing</span>`;

/** The records before and after the change. */
function preview(draft: Draft, name: string, records: readonly Data[]) {
  const { kind } = draft;
  const [link, value] = [linkOf(name), draft.valueOf(name)];
  // For a date, both have the same name.
  const after = { [link]: draft.entryOf(name), [name]: value };
  const row = (before: Data) => [
    html`<small>${before.uid ?? before.reference ?? before.number}</small> ${nameOf(before)}`,
    cell(kind, link, before),
    value === null ? none : cell(kind, link, after),
  ];
  const heads = { [kind]: '', [link]: '', newValue: '' };
  return html`<div class="full card preview">${tableOf('Preview', heads, records.map(row))}</div>`;
}

/** All of the records are stored or none: nothing if somebody has changed one of them since they were read. */
async function openBulk(kind: string, ids: readonly string[], page: Page): Promise<void> {
  let records = await readRecords(kind, ids);
  const dialog = openDialog(`Change ${countText(kind, records.length)}`);
  let name = commonFields(kind)[0] ?? '';
  let draft = new Draft(kind, {}, draw);

  /** The records that do not have the value yet. */
  function affected(): readonly Data[] {
    const value = draft.valueOf(name);
    return records.filter((record) => (record[linkOf(name)]?.id ?? record[name] ?? null) !== value);
  }

  async function save(): Promise<void> {
    const value = draft.valueOf(name);
    const input = affected().map(({ id, updatedAt }) => ({ id, ifUpdatedAt: updatedAt, [name]: value }));
    const wrong = records.find((record) => /^(start|end)Date$/.test(name) && isReversed({ ...record, [name]: value }));
    const message = wrong && `The end of ${nameOf(wrong)} would be before its start.`;
    if (!draft.check(dialog.querySelector('form'), message ? [{ field: name, message }] : [])) return;
    const stored = await draft.store(input);
    if (stored) {
      dialog.close();
      report(`${countText(kind, input.length)} changed.`, stored.range);
      return page.refresh();
    }
    // Others may have changed them since.
    records = await readRecords(kind, ids).catch(() => records);
    draw();
  }

  function draw(): void {
    const { isBusy, problem } = draft;
    const [changing, isEmpty] = [affected(), draft.valueOf(name) === null];
    const choose = ({ target }: Event) => {
      name = (target as HTMLSelectElement).value;
      draft = new Draft(kind, {}, draw);
      draw();
    };
    const submit = (event: Event) => {
      event.preventDefault();
      // Enter clears nothing.
      if (!isEmpty) void save();
    };
    const count = countText(kind, changing.length);
    const unchanged = records.length - changing.length;
    const option = (field: string) =>
      html`<option value=${field} ?selected=${field === name}>${title(linkOf(field))}</option>`;
    render(
      html`<h2>Change ${countText(kind, records.length)}</h2>
        <form aria-busy=${isBusy} @submit=${submit} @input=${draft.enterInput}>
          <fieldset class="form" ?disabled=${isBusy}>
            <div class="field"><label for="bulk-field">Field</label>
              <select id="bulk-field" @change=${choose}>${commonFields(kind).map(option)}</select></div>
            ${keyed(name, fieldInput(draft, name))}
            <p class="full error" role="alert" ?hidden=${!problem}>Not changed: ${problem}.</p>
            ${preview(draft, name, changing)}
            <p class="full row">
              <button class="primary" ?disabled=${isEmpty || changing.length === 0}>Change ${isEmpty ? '' : count}</button>
              <button type="button" ?hidden=${!isEmpty} ?disabled=${changing.length === 0} @click=${() => void save()}>
                Clear ${words(linkOf(name))} of ${count}</button>
              ${button('Cancel', () => dialog.close())}
              <small ?hidden=${unchanged === 0}>Unchanged: ${countText(kind, unchanged)}</small></p>
          </fieldset>
        </form>`,
      dialog,
    );
  }

  draw();
  dialog.querySelector('select')?.focus();
}

const picks = (selector = ''): readonly HTMLInputElement[] => [
  ...document.querySelectorAll<HTMLInputElement>(`td [name=pick]${selector}`),
];

/** Counts the selected rows. */
export function drawBulkBar(kind: string, page: Page): void {
  const bar = document.querySelector<HTMLElement>('.bulk');
  const [all, selected] = [picks(), picks(':checked')];
  const head = document.querySelector<HTMLInputElement>('th.pick input');
  if (head) head.checked = all.length > 0 && all.length === selected.length;
  const ids = selected.map(({ value }) => value);
  const change = () => void openBulk(kind, ids, page).catch(({ message }) => report(message));
  const clear = () => {
    for (const box of all) box.checked = false;
    drawBulkBar(kind, page);
  };
  const content = html`<b>${selected.length.toLocaleString()} selected</b>
    ${button('Change…', change)} ${button('Select none', clear, 'bare')}
    <small class="wide">Enter in a row leads here</small>`;
  if (bar) render(content, bar);
}

/** The number of selected rows, with a button that changes them. It is hidden while there are none. */
export const bulkBar = (kind: string, page: Page) =>
  html`<div class="save bulk row" ${ref(() => drawBulkBar(kind, page))}></div>`;

/** From a selected row, many links would be on the way to the button. */
export function leadToBar(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.target as HTMLElement).matches('td [name=pick]:checked')) return;
  event.preventDefault();
  document.querySelector<HTMLElement>('.bulk button')?.focus();
}
