/** Sets a field of all selected records of a table: previewed, stored together, and undone together. */
import { html, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { openDialog } from './deletion.ts';
import { fieldInput, inputNames, inputTitle, inputValue, isReversed, readValue } from './fields.ts';
import { kindOf, linkOf, nameFields, nameOf, words } from './kinds.ts';
import { atMost, query, selectionOf } from './queries.ts';
import { type Data, type Page, read } from './service.ts';
import { button, cell, headOf, tableOf } from './values.ts';
import { report, store } from './writes.ts';

/** The fields that several records may have in common. */
const commonFields = (kind: string): readonly string[] =>
  inputNames(kind).filter((name) => ['ID', 'DateTime', 'Boolean'].includes(kindOf(kind).inputs[name] ?? ''));

const countText = (kind: string, count: number): string =>
  `${count.toLocaleString()} ${words(count === 1 ? kind : kindOf(kind).list)}`;

async function readRecords(kind: string, ids: readonly string[]): Promise<readonly Data[]> {
  const { list, fields } = kindOf(kind);
  const shown = [...nameFields(kind), ...commonFields(kind).map(linkOf), 'updatedAt'].filter((name) => name in fields);
  const page = { first: atMost(ids.length), where: { id: { in: ids } } };
  return (await read(query(list, page, `nodes { ${selectionOf(kind, shown)} }`)))[list].nodes;
}

const none = html`<span class="quiet">nothing</span>`;

class BulkForm extends HTMLElement {
  readonly #picked = new Map<string, Data | undefined>();
  #kind = '';
  #page!: Page;
  #records: readonly Data[] = [];
  #name = '';
  #problem = '';
  #isBusy = false;

  async open(kind: string, ids: readonly string[], page: Page): Promise<void> {
    [this.#kind, this.#page, this.#name] = [kind, page, commonFields(kind)[0] ?? ''];
    this.#records = await readRecords(kind, ids);
    this.#draw();
    this.querySelector('select')?.focus();
  }

  get #form(): HTMLFormElement | null {
    return this.querySelector('form');
  }

  /** The value of the form; null if it is empty. */
  get #value(): unknown {
    return this.#form && readValue(this.#kind, this.#name, new FormData(this.#form));
  }

  /** The records that do not have the value yet. */
  #affected(value: unknown): readonly Data[] {
    return this.#records.filter((record) => inputValue(record, this.#name) !== value);
  }

  #show(problem: string, isBusy = false): void {
    [this.#problem, this.#isBusy] = [problem, isBusy];
    this.#draw();
  }

  /** Stores all or none: nothing if somebody has changed one of the records since they were read. */
  async #save(): Promise<void> {
    if (this.#isBusy || !this.#form?.reportValidity()) return;
    const [kind, name, value] = [this.#kind, this.#name, this.#value];
    const reversed = this.#affected(value).find((record) => isReversed({ ...record, [name]: value }));
    if (reversed && value !== null) return this.#show(`the end of ${nameOf(reversed)} would be before its start`);
    const input = this.#affected(value).map(({ id, updatedAt }) => ({ id, ifUpdatedAt: updatedAt, [name]: value }));
    this.#show('', true);
    try {
      const { range } = await store('update', kind, input);
      this.closest('dialog')?.close();
      report(`${countText(kind, input.length)} changed.`, range);
      await this.#page.refresh();
    } catch (error) {
      const { message, items = [] } = error as Data;
      const ids = this.#records.map(({ id }) => id);
      // Others may have changed them since.
      this.#records = await readRecords(kind, ids).catch(() => this.#records);
      this.#show(items.length > 0 ? `${items.length} of ${input.length}: ${items[0].message}` : message);
    }
  }

  #draw(): void {
    const [kind, name, value] = [this.#kind, this.#name, this.#value];
    const affected = this.#affected(value);
    const choose = ({ target }: Event) => {
      this.#name = (target as HTMLSelectElement).value;
      this.#show('');
    };
    const submit = (event: Event) => {
      event.preventDefault();
      // Enter clears nothing.
      if (value !== null) void this.#save();
    };
    const onPick = (target: Data | undefined) => {
      this.#picked.set(name, target);
      this.#show('');
    };
    const target = this.#picked.get(name);
    const record = { [linkOf(name)]: target };
    const count = countText(kind, affected.length);
    const same = this.#records.length - affected.length;
    const isIdle = this.#isBusy || affected.length === 0;
    const heads = [kind, linkOf(name), 'becomes'].map((head) => headOf(head));
    const row = (before: Data) => [
      html`<small>${before.uid ?? before.reference ?? before.number}</small> ${nameOf(before)}`,
      cell(kind, linkOf(name), before),
      value === null ? none : cell(kind, linkOf(name), { [name]: value, ...(target && record) }),
    ];
    const option = (own: string) => html`<option value=${own} ?selected=${own === name}>${inputTitle(own)}</option>`;
    render(
      html`<h2>Change ${countText(kind, this.#records.length)}</h2>
        <form class="form" aria-busy=${this.#isBusy} @submit=${submit} @input=${() => this.#show('')}>
          <div class="field"><label for="bulk-field">Field</label>
            <select id="bulk-field" @change=${choose}>${commonFields(kind).map(option)}</select></div>
          ${keyed(name, fieldInput({ kind, name, record, onPick }))}
          <p class="full error" role="alert" ?hidden=${!this.#problem}>Not changed: ${this.#problem}.</p>
          <div class="full card preview">${tableOf('Preview', heads, affected.map(row))}</div>
          <p class="full row">
            <button class="primary" ?disabled=${isIdle || value === null}>Change ${value === null ? '' : count}</button>
            <button type="button" ?hidden=${value !== null} ?disabled=${isIdle} @click=${() => void this.#save()}>Clear ${words(linkOf(name))} of ${count}</button>
            ${button('Cancel', () => this.closest('dialog')?.close())}
            <small ?hidden=${same === 0}>Unchanged: ${countText(kind, same)}</small></p>
        </form>`,
      this,
    );
  }
}
customElements.define('bulk-form', BulkForm);

const picks = (selector = ''): readonly HTMLInputElement[] => [
  ...document.querySelectorAll<HTMLInputElement>(`td [name=pick]${selector}`),
];

/** The number of selected rows, with a button that changes them. It is hidden while there are none. */
class BulkBar extends HTMLElement {
  #options!: { readonly kind: string; readonly page: Page };
  readonly #count = (): void => this.#draw();
  /** From a selected row, many links would be on the way to the button. */
  readonly #press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.target as HTMLElement).matches('td [name=pick]:checked')) return;
    event.preventDefault();
    this.querySelector('button')?.focus();
  };

  set options(options: { readonly kind: string; readonly page: Page }) {
    this.#options = options;
    // The rows are drawn after it.
    queueMicrotask(this.#count);
  }

  connectedCallback(): void {
    document.addEventListener('change', this.#count);
    document.addEventListener('keydown', this.#press);
  }

  disconnectedCallback(): void {
    document.removeEventListener('change', this.#count);
    document.removeEventListener('keydown', this.#press);
  }

  #draw(): void {
    const { kind, page } = this.#options;
    const [all, selected] = [picks(), picks(':checked')];
    const head = document.querySelector<HTMLInputElement>('th.pick input');
    if (head) head.checked = all.length > 0 && all.length === selected.length;
    const change = () => {
      const form = new BulkForm();
      openDialog(`Change ${countText(kind, selected.length)}`).append(form);
      return form
        .open(
          kind,
          selected.map(({ value }) => value),
          page,
        )
        .catch(({ message }) => report(message));
    };
    const clear = () => {
      for (const box of selected) box.checked = false;
      this.#draw();
    };
    render(
      html`<b>${selected.length.toLocaleString()} selected</b>
        ${button('Change…', () => void change())} ${button('Select none', clear, 'bare')}
        <small class="wide">Enter in a row leads here</small>`,
      this,
    );
  }
}
customElements.define('bulk-bar', BulkBar);
