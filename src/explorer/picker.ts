/**
 * An input that finds a record, or an ID of another system, by its name. Exact matches come first, then names that
 * begin with the text. An exact name is accepted without a choice; Enter and Tab also take the only match.
 *
 * The input is invalid while its text names nothing. The text stays when the page is drawn again, unless `value` has
 * become another record.
 */
import { html, nothing } from 'lit-html';
import { AsyncDirective, directive } from 'lit-html/async-directive.js';
import { live } from 'lit-html/directives/live.js';
import { ref } from 'lit-html/directives/ref.js';
import { constantCase, labelKey, withArticle } from '../model/labels.ts';
import { isFinished, isRecord, kindOf, linkOf, nameOf, numberedName, title, words } from './kinds.ts';
import { allQuery, bestQueries, fold, rankMatches, rankOf, textsOf } from './matches.ts';
import { ascending, atMost, choiceOf, namesOf, query } from './queries.ts';
import { type Data, read, wait } from './service.ts';
import { report, store } from './writes.ts';

interface PickerOptions {
  readonly id: string;
  /** The kind of the records to choose from, such as `Location`, or a type of other systems, such as `Status`. */
  readonly kind: string;
  /** The kind that has the field, and the field: the IDs of other systems that its records have come first. */
  readonly of: string;
  readonly name: string;
  readonly value?: Data | undefined;
  readonly required?: boolean;
  readonly invalid?: unknown;
  readonly describedBy?: unknown;
  /** Whether a text can become the name of a new record, or of a new ID of another system. */
  readonly mayCreate?: boolean;
  /** Called with the record, or with undefined if the field was cleared. */
  onPick(target: Data | undefined): void;
}

type Link = Pick<PickerOptions, 'kind' | 'of' | 'name'>;

/** For a kind, the best matches come first, by indexes. For a type of other systems: IDs in records, and labels. */
export function targetQueries({ kind, of, name }: Link, text: string, size: number) {
  const nodes = `nodes { ${choiceOf(kind)} }`;
  const all = allQuery(kind, text, size, nodes);
  if (isRecord(kind)) return [bestQueries(kind, text, size, nodes), [all]].filter((queries) => queries.length > 0);
  const [type, link] = [labelKey(kind, ''), linkOf(name)];
  const alike = { or: [{ name: { containsAlike: text } }, { key: { eq: type + text } }] };
  const where = { key: { startsWith: type }, ...(text !== '' && alike) };
  const labels = { first: atMost(size), where, orderBy: [{ name: ascending }] };
  const groups = { groupBy: [Symbol(constantCase(link))], first: atMost(100), where: { [name]: { isNull: false } } };
  const summary = query(`${kindOf(of).list}Summary`, groups, `groups { ${link} { ${namesOf(kind)} } }`);
  return [[summary, query('labels', labels, 'nodes { key name color }')]];
}

/** The targets in the results of these queries, the best first. */
function targetsIn(results: readonly Data[], { kind, name }: PickerOptions, text: string): readonly Data[] {
  const records = results.flatMap(({ nodes = [] }): Data[] => nodes);
  if (isRecord(kind)) return rankMatches(records, text);
  // Groups begin with the largest; few records get a status of finished work.
  const used = results
    .flatMap(({ groups = [] }): Data[] => groups.flatMap((group: Data) => group[linkOf(name)] ?? []))
    .toSorted((a, b) => Number(isFinished(a)) - Number(isFinished(b)));
  const labels = records
    .map(({ key, ...label }): Data => ({ id: key.slice(labelKey(kind, '').length), ...label, isUnused: true }))
    .filter(({ id }) => !used.some((target) => target.id === id));
  // The summary has all IDs of the field, also those without the text.
  const isMatch = (target: Data) => textsOf(target).some((own) => fold(own).includes(fold(text)));
  return [used, labels].flatMap((targets) => rankMatches(targets.filter(isMatch), text, () => 0));
}

/** An entry of the list: a record, or the text as a new name or an ID. */
type Choice = readonly [text: string, choose: () => void, hint?: string];

const arrow = `padding-right: 28px; background: right 12px center / 10px 5px no-repeat
  conic-gradient(from -45deg at bottom, var(--quiet) 90deg, transparent 0)`;

class Picker extends AsyncDirective {
  #options!: PickerOptions;
  /** The text of the input since the last choice. */
  #text: string | undefined;
  /** With the text that all matches have been read of. */
  #found: { targets: readonly Data[]; text: string | undefined; problem: string | undefined } | undefined;
  /** The text of which matches are on the screen. */
  #shownText: string | undefined;
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
    // A required input without its value would be wrong.
    this.#options = { ...this.#options, value: target };
    this.#draw();
    this.#options.onPick(target);
  }

  get #typed(): string {
    return this.#text?.trim() ?? '';
  }

  #open(pause = 0): void {
    [this.#isOpen, this.#active] = [true, -1];
    this.#draw();
    this.#reading = this.#read(this.#typed, pause).catch(({ message }) => this.#show([], undefined, message));
  }

  #show(targets: readonly Data[], text?: string, problem?: string): void {
    // The mark stays at its target, wherever it is now.
    const marked = this.#found?.targets[this.#active]?.id;
    this.#active = targets.findIndex(({ id }) => id === marked);
    [this.#found, this.#shownText] = [{ targets, text, problem }, this.#typed];
    this.#draw();
  }

  async #read(text: string, pause: number): Promise<void> {
    await wait(pause);
    const results: Data[] = [];
    const steps = targetQueries(this.#options, text, 100);
    for (const [index, queries] of steps.entries()) {
      if (text === this.#typed) results.push(...Object.values(await read(...queries)));
      if (text !== this.#typed) return;
      const targets = targetsIn(results, this.#options, text);
      if (index === steps.length - 1) this.#show(targets, text);
      else if (targets.length > 0) this.#show(targets);
    }
  }

  /** Accepts an exact name of one record, and no text for none. Enter and Tab also accept the only match. */
  async #accept(isChosen: boolean): Promise<void> {
    if (this.#text === undefined) return;
    const text = this.#typed;
    if (text === '') return this.#pick(undefined);
    await this.#reading;
    const { targets = [] } = this.#found ?? {};
    const exact = targets.filter((target) => rankOf(target, text) === 0);
    const accepted = isChosen && exact.length === 0 ? targets : exact;
    if (text === this.#typed && accepted.length === 1) this.#pick(accepted[0]);
  }

  /** Stores a record of this name, or names a new ID of another system, and picks it. */
  async #create(name: string): Promise<void> {
    const [{ kind }, text] = [this.#options, this.#text];
    const newId = `${words(kind)} ${fold(name)}`.replace(/[^\p{L}\p{N}]+/gu, '-');
    // A second click finds no entry.
    this.#show([], undefined, 'Storing…');
    try {
      const item = isRecord(kind) ? { name } : { key: labelKey(kind, newId), name };
      const { records, range } = await store(isRecord(kind) ? kind : 'Label', [item]);
      const id: string = isRecord(kind) ? records[0]?.id : newId;
      const clear = () => void (this.#options.value?.id === id && this.#pick(undefined));
      report(`${title(kind)} created.`, range, { onUndone: clear });
      // Somebody may have chosen another one meanwhile.
      if (this.#text === text) this.#pick({ id, name });
    } catch (error) {
      this.#show([], undefined, `Not created: ${(error as Error).message}.`);
    }
  }

  async #press(event: KeyboardEvent): Promise<void> {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    // The matches of an earlier text are on the screen until those of this one are read.
    const isRead = this.#shownText === this.#typed;
    const take = (isRead && this.#choices()[this.#active]?.[1]) || (() => this.#accept(true));
    // A number may be the beginning of another one, which nobody has seen; and Tab stores no new record.
    const isSeen = this.#found?.text === this.#typed || !/\d/.test(this.#typed);
    const isSure = this.#active < 0 ? isSeen : isRead && this.#found?.targets[this.#active];
    if (event.key === 'Tab' && !event.shiftKey && this.#isOpen && isSure) void take();
    const isUsed = step !== undefined || (this.#isOpen && ['Enter', 'Escape'].includes(event.key));
    if (!isUsed) return;
    event.preventDefault();
    event.stopPropagation();
    if (!this.#isOpen) return this.#open();
    if (event.key === 'Escape') this.#isOpen = false;
    if (event.key === 'Enter') await take();
    const { length } = this.#choices();
    if (step) this.#active = (Math.max(this.#active, step > 0 ? -1 : 0) + step + length) % length;
    this.#draw();
    document.getElementById(`${this.#options.id}-${this.#active}`)?.scrollIntoView({ block: 'nearest' });
  }

  #choices(): readonly Choice[] {
    const { targets = [], text } = this.#found ?? {};
    const hintOf = ({ id, currentLocation: place, ...target }: Data) =>
      [...textsOf(target).slice(1), place && nameOf(place)].filter(Boolean).join(', ');
    const choices = targets.map((target): Choice => [nameOf(target), () => this.#pick(target), hintOf(target)]);
    const [typed, { kind, mayCreate }] = [this.#typed, this.#options];
    const { inputs, required } = kindOf(kind);
    const needsOnlyName = !isRecord(kind) || ('name' in inputs && required.every((field) => field === 'name'));
    const isNew = text === typed && typed !== '' && !targets.some((target) => rankOf(target, typed) === 0);
    if (isNew && mayCreate && needsOnlyName)
      choices.push([`Create “${typed}” as ${withArticle(words(kind))}`, () => void this.#create(typed)]);
    if (isNew && !/\s/.test(typed) && targets.length === 0)
      choices.push([`Keep “${typed}” as an ID of another system`, () => this.#pick({ id: typed })]);
    return choices;
  }

  #view() {
    const { id, kind, of, name, value, required = false, invalid = nothing, describedBy = nothing } = this.#options;
    const choices = this.#isOpen ? this.#choices() : [];
    const found = this.#found ?? { targets: [], problem: 'Searching…' };
    const problem = found.problem ?? (this.#typed ? 'Nothing is found.' : 'There are none yet.');
    const none = html`<li class="row" role="option" aria-selected="false" aria-disabled="true">${problem}</li>`;
    const unused = html`<li class="row" role="presentation" .style=${'border-top: 1px solid var(--line)'}>
      <small>Not used for ${words(kindOf(of).list)} so far</small></li>`;
    const firstUnused = found.targets.findIndex(({ isUnused }) => isUnused);
    const active = this.#isOpen && this.#active >= 0 ? `${id}-${this.#active}` : nothing;
    const validity = this.#typed && `Choose ${withArticle(words(kind))} from the list.`;
    const isLeft = this.#typed && !this.#isOpen && this.#found?.text === this.#typed;
    const type = ({ target }: Event) => {
      this.#text = (target as HTMLInputElement).value;
      this.#open(150);
    };
    const leave = () => {
      this.#isOpen = false;
      this.#draw();
      void this.#accept(false);
    };
    // Over a dialog, which would cut it off.
    const toggle = (list?: Element) => {
      const source = list?.previousElementSibling as HTMLElement;
      if (list?.isConnected) (list as HTMLElement).togglePopover({ force: this.#isOpen, source });
    };
    // At a click, the input keeps the keyboard.
    const option = ([text, choose, hint]: Choice, index: number) => html`
      ${index === firstUnused ? unused : nothing} <li class="row" role="option"
      id=${`${id}-${index}`} aria-selected=${index === this.#active} @click=${choose}>
      <span>${text}</span> <small class="end">${hint}</small></li>`;
    return html`<input id=${id} role="combobox" autocomplete="off" aria-autocomplete="list" aria-expanded=${this.#isOpen}
        aria-controls=${`${id}-list`} aria-activedescendant=${active} ?required=${required}
        aria-required=${required || nothing} aria-invalid=${invalid} aria-describedby=${isLeft ? `${id}-wrong` : describedBy}
        .style=${arrow} .value=${live(this.#text ?? (value ? numberedName(value) : ''))}
        ${ref((input) => (input as HTMLInputElement | undefined)?.setCustomValidity(validity))}
        @focus=${({ target }: Event) => (target as HTMLInputElement).select()}
        @click=${() => this.#isOpen || this.#open()} @input=${type}
        @keydown=${(event: KeyboardEvent) => void this.#press(event)} @blur=${leave}>
      <ul class="options floats" id=${`${id}-list`} tabindex="-1" role="listbox" aria-label=${title(linkOf(name))}
        popover="manual" ${ref(toggle)} @mousedown=${(event: Event) => event.preventDefault()}>
        ${found.targets.length === 0 ? none : nothing} ${choices.map(option)}
      </ul> ${isLeft ? html`<small class="error" id=${`${id}-wrong`}>${validity}</small>` : nothing}`;
  }
}

export const picker = directive(Picker);
