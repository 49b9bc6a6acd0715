/**
 * A field that finds a record, or an ID of another system, by its name. Exact matches come first, then names that begin
 * with the text. An exact name is accepted without a choice, and *Show more* leads beyond the first 20.
 *
 * The input has the ID `pick-NAME`, and is invalid while its text names nothing. The text stays when the page is drawn
 * again, unless `value` has become another record.
 */
import { html, nothing } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { live } from 'lit-html/directives/live.js';
import { ref } from 'lit-html/directives/ref.js';
import { isRecord, kindOf, linkOf, nameOf, words } from './kinds.ts';
import { allQuery, bestQueries, fold, rankMatches, rankOf, textsOf } from './matches.ts';
import { ascending, atMost, constant, namesOf, query } from './queries.ts';
import { type Data, read, wait } from './service.ts';

interface PickerOptions {
  /** The kind of the records to choose from, such as `Location`, or a type of other systems, such as `Status`. */
  readonly kind: string;
  /** The kind that has the field, and the field: the IDs of other systems that its records have come first. */
  readonly of: string;
  readonly name: string;
  readonly label: string;
  /** The record that the field has now. */
  readonly value?: Data | undefined;
  readonly required?: boolean;
  readonly error?: string | undefined;
  /** Called with the record, or with undefined if the field was cleared. */
  onPick(target: Data | undefined): void;
}

type Link = Pick<PickerOptions, 'kind' | 'of' | 'name'>;

/** For a kind, the best matches come first, by indexes. For a type of other systems: IDs in records, and labels. */
export function targetQueries({ kind, of, name }: Link, text: string, size: number) {
  const nodes = `nodes { ${namesOf(kind)} }`;
  const all = allQuery(kind, text, size, nodes);
  if (isRecord(kind)) return [bestQueries(kind, text, size, nodes), [all]].filter((queries) => queries.length > 0);
  const [type, link] = [`${constant(kind)}:`, linkOf(name)];
  const alike = { or: [{ name: { containsAlike: text } }, { key: { eq: type + text } }] };
  const where = { key: { startsWith: type }, ...(text !== '' && alike) };
  const labels = { first: atMost(size), where, orderBy: [{ name: ascending }] };
  const groups = { groupBy: [Symbol(constant(link))], first: atMost(100), where: { [name]: { isNull: false } } };
  const summary = query(`${kindOf(of).list}Summary`, groups, `groups { ${link} { ${namesOf(kind)} } }`);
  return [[summary, query('labels', labels, 'nodes { key name color } pageInfo { hasNextPage }')]];
}

/** The targets in the results of these queries, the best first. */
function targetsIn(results: readonly Data[], { kind, name }: PickerOptions, text: string): readonly Data[] {
  const records = results.flatMap(({ nodes = [] }): Data[] => nodes);
  if (isRecord(kind)) return rankMatches(records, text);
  const used = results.flatMap(({ groups = [] }) => groups.flatMap((group: Data) => group[linkOf(name)] ?? []));
  const labels = records.map(({ key, ...label }) => ({ id: key.slice(constant(kind).length + 1), ...label }));
  // The summary has all IDs of the field, also those without the text.
  const isMatch = (target: Data) => textsOf(target).some((own) => fold(own).includes(fold(text)));
  return rankMatches([...used, ...labels].filter(isMatch), text, () => 0);
}

interface Found {
  readonly targets: readonly Data[];
  /** The text that all matches have been read of. */
  readonly text?: string;
  readonly hasMore?: boolean;
  readonly problem?: string;
}

/** An entry of the list: a record, more of them, or the text as an ID. */
interface Choice {
  readonly text: string;
  readonly hint: string;
  choose(): void;
}

class Picker extends AsyncDirective {
  #options!: PickerOptions;
  /** The text of the input since the last choice. */
  #text: string | undefined;
  #found: Found | undefined;
  #reading = Promise.resolve();
  #active = -1;
  #isOpen = false;

  override render(options: PickerOptions) {
    if (options.value?.id !== this.#options?.value?.id) this.#close();
    this.#options = options;
    return this.#view();
  }

  #draw(): void {
    if (this.isConnected) this.setValue(this.#view());
  }

  /** Shows the name of the value again. */
  #close(): void {
    [this.#text, this.#isOpen] = [undefined, false];
  }

  #pick(target: Data | undefined): void {
    this.#close();
    this.#draw();
    this.#options.onPick(target);
  }

  get #typed(): string {
    return this.#text?.trim() ?? '';
  }

  #open(pause = 0): void {
    [this.#isOpen, this.#active] = [true, -1];
    this.#search(20, pause);
    this.#draw();
  }

  #search(size: number, pause = 0): void {
    const fail = ({ message }: Error) => this.#show({ targets: [], problem: message });
    this.#reading = this.#read(this.#typed, size, pause).catch(fail);
  }

  #show(found: Found): void {
    this.#found = found;
    if (this.#typed !== '' && this.#active < 0 && found.targets.length > 0) this.#active = 0;
    this.#draw();
  }

  async #read(text: string, size: number, pause: number): Promise<void> {
    await wait(pause);
    const results: Data[] = [];
    const steps = targetQueries(this.#options, text, size);
    for (const [index, queries] of steps.entries()) {
      if (text === this.#typed) results.push(...Object.values(await read(...queries)));
      if (text !== this.#typed) return;
      const targets = targetsIn(results, this.#options, text);
      const hasMore = results.some(({ pageInfo }) => pageInfo?.hasNextPage);
      if (index === steps.length - 1) this.#show({ targets, hasMore, text });
      else if (targets.length > 0) this.#show({ targets, hasMore });
    }
  }

  /** Accepts an exact name once somebody leaves the field. */
  async #settle(): Promise<void> {
    this.#isOpen = false;
    this.#draw();
    if (this.#text === undefined) return;
    const text = this.#typed;
    if (text === '') return this.#pick(undefined);
    await this.#reading;
    const exact = this.#found?.targets.filter((target) => rankOf(target, text) === 0) ?? [];
    if (text === this.#typed && exact.length === 1) this.#pick(exact[0]);
  }

  async #press(event: KeyboardEvent): Promise<void> {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isUsed = step !== undefined || (this.#isOpen && ['Enter', 'Escape'].includes(event.key));
    if (!isUsed) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.#isOpen) return this.#open();
    if (event.key === 'Escape') this.#close();
    if (this.#active < 0) await this.#reading;
    const choices = this.#choices();
    if (event.key === 'Enter') choices[this.#active]?.choose();
    if (step) this.#active = (Math.max(this.#active + step, step - 1) + choices.length) % choices.length;
    this.#draw();
    const { name } = this.#options;
    document.getElementById(`pick-${name}-${this.#active}`)?.scrollIntoView({ block: 'nearest' });
  }

  #choices(): readonly Choice[] {
    const { targets = [], hasMore, text } = this.#found ?? {};
    const choices = targets.map((target): Choice => {
      const [, ...hints] = textsOf(target).filter((own) => own !== target.id);
      return { text: nameOf(target), hint: hints.join(', '), choose: () => this.#pick(target) };
    });
    const more = { text: 'Show more', hint: '', choose: () => this.#search(targets.length + 50) };
    if (hasMore) choices.push(more);
    const typed = this.#typed;
    const isForeign = /^\S+$/.test(typed) && text === typed && !targets.some((target) => rankOf(target, typed) === 0);
    const foreign = { text: typed, hint: 'as an ID of another system', choose: () => this.#pick({ id: typed }) };
    return isForeign ? [...choices, foreign] : choices;
  }

  #view() {
    const { kind, name, label, value, required, error } = this.#options;
    const id = `pick-${name}`;
    const choices = this.#isOpen ? this.#choices() : [];
    const problem = this.#found?.problem ?? (this.#found ? 'Nothing is found.' : 'Searching…');
    const none = html`<li class="row" role="option" aria-selected="false" aria-disabled="true">${problem}</li>`;
    const active = this.#isOpen && this.#active >= 0 ? `${id}-${this.#active}` : nothing;
    const validity = this.#typed && `Choose ${words(kind)} from the list.`;
    const type = ({ target }: Event) => {
      this.#text = (target as HTMLInputElement).value;
      this.#open(150);
    };
    // The input keeps the keyboard.
    const keepFocus = (event: Event) => event.preventDefault();
    const option = ({ text, hint, choose }: Choice, index: number) => html`<li class="row" role="option"
      id=${`${id}-${index}`} aria-selected=${index === this.#active} @click=${choose}>
      <span>${text}</span> <small class="end">${hint}</small></li>`;
    return html`<div class="field picker">
      <label for=${id}>${label}</label>
      <input id=${id} role="combobox" autocomplete="off" aria-autocomplete="list" aria-expanded=${this.#isOpen}
        aria-controls=${`${id}-list`} aria-activedescendant=${active} ?required=${required}
        aria-invalid=${error ? 'true' : nothing} aria-describedby=${error ? `${id}-error` : nothing}
        .value=${live(this.#text ?? (value ? nameOf(value) : ''))}
        ${ref((input) => (input as HTMLInputElement | undefined)?.setCustomValidity(validity))}
        @click=${() => this.#isOpen || this.#open()} @input=${type}
        @keydown=${(event: KeyboardEvent) => void this.#press(event)} @blur=${() => void this.#settle()}>
      <ul class="options floats" id=${`${id}-list`} role="listbox" aria-label=${label} ?hidden=${!this.#isOpen}
        @mousedown=${keepFocus}>
        ${(this.#found?.targets ?? []).length === 0 ? none : nothing} ${choices.map(option)}
      </ul>
      ${error ? html`<small class="error" id=${`${id}-error`}>${error}</small>` : nothing}
    </div>`;
  }
}

export const picker = directive(Picker);
