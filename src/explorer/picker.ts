/**
 * A field that finds a record, or an ID of another system, by its name:
 * `picker({ kind, name, value, label, onPick })`. Exact matches come first, then names that begin with the text. An
 * exact name is accepted without a choice, and *Show more* leads beyond the first 20.
 *
 * A form sends the ID as `name`. The input that people see has the ID `pick-NAME`, and is invalid while its text names
 * nothing. The choice and the text stay when the page is drawn again, unless `value` has become another record.
 */
import { html, nothing } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { live } from 'lit-html/directives/live.js';
import { createRef, ref } from 'lit-html/directives/ref.js';
import { isRecord, kindOf, linkOf, nameOf, words } from './kinds.ts';
import { allQuery, bestQueries, compareNames, fold, rankMatches, rankOf, textsOf } from './matches.ts';
import { ascending, atMost, constant, namesOf, query } from './queries.ts';
import { type Data, read } from './service.ts';

export interface PickerOptions {
  /** The kind of the records to choose from, such as `Location`, or a type of other systems, such as `Status`. */
  readonly kind: string;
  /** The name in the form: the field of the link, such as `statusId`. */
  readonly name: string;
  /** The record that the field has now. */
  readonly value?: Data | null | undefined;
  readonly label: string;
  /** The kind that has the field: the IDs of other systems that its records have come first. */
  readonly of?: string | undefined;
  readonly required?: boolean;
  /** The issue of the value, shown below it. */
  readonly error?: string | undefined;
  /** Called with the record, or with undefined if the field was cleared. */
  onPick?(target: Data | undefined): void;
}

/** Reads the IDs that the field has in records, and the labels of the type. */
function labelQueries({ kind, name, of }: PickerOptions, text: string, size: number): readonly string[] {
  const type = `${constant(kind)}:`;
  const alike = { or: [{ name: { containsAlike: text } }, { key: { eq: type + text } }] };
  const where = { key: { startsWith: type }, ...(text !== '' && alike) };
  const labels = { first: atMost(size), where, orderBy: [{ name: ascending }] };
  const link = linkOf(name);
  const groups = { groupBy: [Symbol(constant(link))], first: atMost(100), where: { [name]: { isNull: false } } };
  return [
    ...(of ? [query(`${kindOf(of).list}Summary`, groups, `groups { ${link} { ${namesOf(kind)} } }`)] : []),
    query('labels', labels, 'nodes { key name color } pageInfo { hasNextPage }'),
  ];
}

/** Of a kind, the best matches are read first, by indexes. */
export function targetQueries(options: PickerOptions, text: string, size: number): readonly (readonly string[])[] {
  const { kind } = options;
  if (!isRecord(kind)) return [labelQueries(options, text, size)];
  const nodes = `nodes { ${namesOf(kind)} }`;
  const best = bestQueries(kind, text, size, nodes);
  return [...(best.length > 0 ? [best] : []), [allQuery(kind, text, size, nodes)]];
}

/** Reads the choices for a text, the best first. */
async function* readTargets(options: PickerOptions, text: string, size: number) {
  const { kind, name } = options;
  const targetOf = ({ key, ...node }: Data): Data =>
    key === undefined ? node : { id: key.slice(constant(kind).length + 1), ...node };
  // The summary has all IDs of the field, also those without the text.
  const isMatch = (target: Data) => textsOf(target).some((own) => fold(own).includes(fold(text)));
  const lists: Data[] = [];
  const steps = targetQueries(options, text, size);
  for (const [index, queries] of steps.entries()) {
    lists.push(...Object.values(await read(...queries)));
    const all = lists.flatMap(({ nodes, groups }): Data[] =>
      groups ? groups.flatMap((group: Data) => group[linkOf(name)] ?? []) : nodes.map(targetOf),
    );
    const hasMore: boolean = lists.some(({ pageInfo }) => pageInfo?.hasNextPage);
    const matching = isRecord(kind) ? all.sort(compareNames) : all.filter(isMatch);
    const targets = rankMatches(matching, text);
    if (targets.length > 0 || index === steps.length - 1) yield { targets, hasMore };
  }
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** An entry of the list: a record, more of them, or the text as an ID. */
interface Choice {
  readonly text: string;
  readonly hint: string;
  choose(): void;
}

class Picker extends AsyncDirective {
  #options!: PickerOptions;
  #picked: Data | undefined;
  #text = '';
  #size = 20;
  #found?: { readonly targets: readonly Data[]; readonly hasMore?: boolean; readonly problem?: string };
  #reading = Promise.resolve();
  #active = -1;
  #isOpen = false;
  readonly #input = createRef<HTMLInputElement>();

  override render(options: PickerOptions) {
    const isOther = options.value?.id !== this.#options?.value?.id;
    this.#options = options;
    if (isOther) this.#set(options.value ?? undefined);
    return this.#view();
  }

  #draw(): void {
    if (this.isConnected) this.setValue(this.#view());
  }

  #set(target: Data | undefined): void {
    this.#picked = target;
    this.#text = target ? nameOf(target) : '';
    this.#isOpen = false;
    this.#input.value?.setCustomValidity('');
  }

  #pick(target: Data | undefined): void {
    this.#set(target);
    this.#draw();
    this.#options.onPick?.(target);
  }

  /** The text that somebody has typed: not the name of the record that is chosen. */
  get #typed(): string {
    const text = this.#text.trim();
    return this.#picked && text === nameOf(this.#picked) ? '' : text;
  }

  #open(pause = 0): void {
    this.#isOpen = true;
    this.#size = 20;
    this.#active = -1;
    this.#reading = this.#read(pause);
    this.#draw();
  }

  async #read(pause = 0): Promise<void> {
    const text = this.#typed;
    await wait(pause);
    if (text !== this.#typed) return;
    try {
      for await (const found of readTargets(this.#options, text, this.#size)) {
        if (text !== this.#typed) return;
        this.#found = found;
        if (text !== '' && this.#active < 0 && found.targets.length > 0) this.#active = 0;
        this.#draw();
      }
    } catch (error) {
      this.#found = { targets: [], problem: (error as Error).message };
      this.#draw();
    }
  }

  /** Accepts an exact name once somebody leaves the field. */
  async #settle(): Promise<void> {
    this.#isOpen = false;
    this.#draw();
    if (this.#picked && this.#text.trim() === '') return this.#pick(undefined);
    const text = this.#typed;
    await this.#reading;
    const exact = this.#found?.targets.filter((target) => rankOf(target, text) === 0) ?? [];
    if (text !== '' && text === this.#typed && exact.length === 1) this.#pick(exact[0]);
  }

  #type(input: HTMLInputElement): void {
    this.#text = input.value;
    input.setCustomValidity(this.#typed && `Choose ${words(this.#options.kind)} from the list.`);
    this.#open(150);
  }

  async #press(event: KeyboardEvent): Promise<void> {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isUsed = step !== undefined || (this.#isOpen && ['Enter', 'Escape'].includes(event.key));
    if (!isUsed) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.#isOpen) return this.#open();
    if (event.key === 'Escape') this.#set(this.#picked);
    if (this.#active < 0) await this.#reading;
    const choices = this.#choices();
    if (event.key === 'Enter') choices[this.#active]?.choose();
    if (step) this.#active = (Math.max(this.#active + step, step - 1) + choices.length) % choices.length;
    this.#draw();
    this.#input.value?.parentElement?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  #choices(): readonly Choice[] {
    const text = this.#typed;
    const { targets = [], hasMore } = this.#found ?? {};
    const more = () => {
      this.#size += 50;
      this.#reading = this.#read();
    };
    const isFound = targets.some((target) => rankOf(target, text) === 0);
    const foreign = { text, hint: 'as an ID of another system', choose: () => this.#pick({ id: text }) };
    return [
      ...targets.map((target) => {
        const [, ...hints] = textsOf(target).filter((own) => own !== target.id);
        return { text: nameOf(target), hint: hints.join(', '), choose: () => this.#pick(target) };
      }),
      ...(hasMore ? [{ text: 'Show more', hint: '', choose: more }] : []),
      ...(isFound || !/^\S+$/.test(text) ? [] : [foreign]),
    ];
  }

  #view() {
    const { name, label, required, error } = this.#options;
    const id = `pick-${name}`;
    const choices = this.#isOpen ? this.#choices() : [];
    const problem = this.#found?.problem ?? (this.#found ? 'Nothing is found.' : 'Searching…');
    const none = html`<li class="row" role="option" aria-selected="false" aria-disabled="true">${problem}</li>`;
    const active = this.#isOpen && this.#active >= 0 ? `${id}-${this.#active}` : nothing;
    // The input keeps the keyboard.
    const keepFocus = (event: Event) => event.preventDefault();
    const option = ({ text, hint, choose }: Choice, index: number) => html`<li class="row" role="option"
      id=${`${id}-${index}`} aria-selected=${index === this.#active} @click=${choose}>
      <span>${text}</span> <small class="end">${hint}</small></li>`;
    return html`<div class="field picker">
      <label for=${id}>${label}</label>
      <input type="hidden" name=${name} .value=${this.#picked?.id ?? ''}>
      <input id=${id} role="combobox" autocomplete="off" aria-autocomplete="list" aria-expanded=${this.#isOpen}
        aria-controls=${`${id}-list`} aria-activedescendant=${active} ?required=${required}
        aria-invalid=${error ? 'true' : nothing} aria-describedby=${error ? `${id}-error` : nothing}
        .value=${live(this.#text)} ${ref(this.#input)} @click=${() => this.#isOpen || this.#open()}
        @input=${({ target }: Event) => this.#type(target as HTMLInputElement)}
        @keydown=${(event: KeyboardEvent) => void this.#press(event)} @blur=${() => void this.#settle()}>
      <ul class="options floats" id=${`${id}-list`} role="listbox" aria-label=${label} ?hidden=${!this.#isOpen}
        @mousedown=${keepFocus}>
        ${(this.#found?.targets ?? []).length === 0 ? none : nothing}
        ${choices.map(option)}
      </ul>
      ${error ? html`<small class="error" id=${`${id}-error`}>${error}</small>` : nothing}
    </div>`;
  }
}

export const picker = directive(Picker);
