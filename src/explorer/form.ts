/** Forms for records of every kind: the pages *New* and *Edit*. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type Filter, type View } from './address.ts';
import { timeZone } from './clock.ts';
import { Draft, inputNames, period } from './draft.ts';
import { draftForm, fieldInput } from './fields.ts';
import { isLink, kindOf, linkOf, title, words } from './kinds.ts';
import { choiceOf, query } from './queries.ts';
import type { Data, Page, Viewer } from './service.ts';
import { button, copyText, notice } from './values.ts';
import { mutationText, report } from './writes.ts';

interface FormOptions {
  readonly kind: string;
  /** The record as it is now, or the values that a new one begins with. */
  readonly record: Data;
  readonly page: Page;
  /** The word for the record: by default its kind. */
  readonly noun?: string;
  /** The page after the form: by default that of the record. */
  readonly address?: string | undefined;
  changesSince?(time: string): unknown;
}

class RecordForm extends HTMLElement {
  #options!: FormOptions;
  /** Based on an earlier state of the record if others have changed it since. */
  #draft!: Draft;
  #isLeft = false;

  set options(options: FormOptions) {
    this.#options = options;
    this.#draft ??= new Draft(options.kind, options.record, this.#redraw);
    const { isBusy } = this.#draft;
    // Without own changes, the form follows those of others.
    if (!isBusy && (!this.isUnsaved || this.#draft.isRestored(options.record))) this.#draft.rebase(options.record);
    this.#draw();
  }

  connectedCallback(): void {
    // A phone would show its keyboard over half of the form.
    if (matchMedia('(hover: hover)').matches) this.querySelector('input')?.focus();
  }

  readonly #redraw = (): void => {
    // The problem, and the choice that solves it, are above the form.
    if (this.#draft.problem && this.isConnected) scrollTo(0, 0);
    this.#draw();
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  };

  get isUnsaved(): boolean {
    // A text that names nothing yet is an entry, too.
    const isTyped = [...this.querySelectorAll('input')].some(({ validity }) => validity.customError);
    return !this.#isLeft && (this.#draft.changed.length > 0 || isTyped);
  }

  mayClose(): boolean {
    return !this.isUnsaved || confirm('Leave without saving what you have entered?');
  }

  /** Stores the values, unless somebody has changed the record since the form was opened. */
  async #save(isNew: boolean, isConfirmed: boolean): Promise<void> {
    const { kind, page, noun = kind } = this.#options;
    if (!this.#draft.check(this.querySelector('form'))) return;
    if (!isNew && !this.isUnsaved) return this.#leave();
    const { search } = location;
    const stored = await this.#draft.store([this.#draft], isConfirmed);
    // Until another page is read, this form is still there.
    const isHere = this.isConnected && location.search === search;
    if (!stored && !isHere)
      return report(`${this.#draft.outcome}: ${this.#draft.problem || this.#draft.issues[0]?.message}`);
    if (!stored) return page.refresh();
    this.#isLeft = true;
    report(isNew ? `${title(noun)} created.` : 'Saved.', stored.range);
    if (isHere) this.#leave(stored.records[0]?.id);
  }

  #copy(): void {
    if (!this.#draft.check(this.querySelector('form'))) return;
    void copyText(mutationText(this.#options.kind, this.#draft.item));
    report('Mutation copied.');
  }

  /** Leads to the page after the form, which takes the place of the form's, or back if it is the one before. */
  #leave(id: string | undefined = this.#draft.record.id): void {
    const { kind, address = addressOf({ kind, id }) } = this.#options;
    const { navigation } = window;
    const before = navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1];
    const isCancelled = id === undefined && before !== undefined;
    if (isCancelled || before?.url === new URL(address, location.href).href) navigation?.back();
    else location.replace(address);
  }

  #conflict(): TemplateResult {
    const { kind, record, changesSince } = this.#options;
    const show = (draft: Draft) => {
      this.#draft = draft;
      this.#draw();
      this.connectedCallback();
    };
    return html`<div class="notice card pad" role="alert">
      <p class="row"><span><b>Changed meanwhile.</b> Your entries are not stored yet. “Keep mine” changes only these.</span>
        ${button('Use theirs', () => show(new Draft(kind, record, this.#redraw)), 'end')}
        ${button('Keep mine', () => show(this.#draft.rebase(record)))}</p>
      ${changesSince?.(this.#draft.record.updatedAt)}
    </div>`;
  }

  #draw(): void {
    const { kind, record, page } = this.#options;
    const draft = this.#draft;
    const { isBusy } = draft;
    const isNew = draft.record.id === undefined;
    const isStale = !isBusy && !this.#isLeft && record.updatedAt > draft.record.updatedAt;
    const hasTimes = Object.values(kindOf(kind).inputs).includes('DateTime');
    const isShown = (name: string) => (name === 'days' ? period.some((date) => draft.record[date]) : name !== 'key');
    const inputs = inputNames(kind).map((name) => (isShown(name) ? fieldInput(draft, name, page) : nothing));
    const below = html`<p class="save row">
      <button class="primary" aria-disabled=${isBusy}>${isBusy ? 'Saving…' : 'Save'}</button>
      ${button('Cancel', () => this.#leave())} <small class="wide">Enter saves, in a long text Ctrl+Enter.</small>
      ${hasTimes ? html`<small>Times are in ${timeZone}.</small>` : nothing}
    </p>`;
    const label = isNew ? `New ${words(kind)}` : 'Edit';
    // The conflict says why.
    if (isStale) draft.problem = '';
    const conflict = isStale ? this.#conflict() : nothing;
    const mutation = html`<details class="query"><summary>Mutation</summary>
      ${button('Copy mutation', () => this.#copy())}</details>`;
    const save = (isConfirmed: boolean) => void this.#save(isNew, isConfirmed);
    render(html`${conflict} ${draftForm(draft, label, save, inputs, below)} ${mutation}`, this);
  }
}
customElements.define('record-form', RecordForm);

/** Forms and imports, perhaps with entries of somebody. */
const allEntries = () => [...document.querySelectorAll<RecordForm>('record-form, import-dialog')];

export const isUnsaved = (): boolean => allEntries().some((entries) => entries.isUnsaved);
export const mayLeave = (): boolean => allEntries().every((entries) => entries.mayClose());

/** The form in place of a record's page. A read-only key has none. */
export function formPage(options: FormOptions) {
  const { kind, record, page, address = addressOf({ kind, id: record.id }) } = options;
  const back = html`<a class="button" href=${address}>Back</a>`;
  if (!page.mayWrite(kind))
    return notice('This key can only read these records: enter another one to change them', back);
  return keyed(location.search, html`<record-form .options=${options}></record-form>`);
}

/** The values that a new record begins with are filters of its address, such as `projectId.eq:project_7`. */
function givenValues({ kind, filters = [] }: View): Data {
  const { inputs } = kindOf(kind);
  const isGiven = ({ field, operator }: Filter) =>
    operator === 'eq' && (inputs[field] === 'String' || isLink(inputs[field] ?? ''));
  return Object.fromEntries(filters.filter(isGiven).map(({ field, value }) => [field, value]));
}

export const creation: Viewer = {
  queries(view) {
    const links = Object.entries(givenValues(view)).flatMap(([field, id]) => {
      const { [field]: type = '' } = kindOf(view.kind).inputs;
      return isLink(type) ? `${linkOf(field)}: ${query(kindOf(type).one, { id }, choiceOf(type))}` : [];
    });
    return links.length > 0 ? [links.join('\n  ')] : [];
  },
  draw(view, links, page) {
    const { kind = '' } = view;
    const isRead = Object.keys(links).length > 0 || creation.queries(view, {}).length === 0;
    return {
      title: `New ${words(kind)}`,
      crumb: html`<a href=${addressOf({ kind })}>${title(kindOf(kind).list)}</a>`,
      content: isRead && formPage({ kind, record: { ...givenValues(view), ...links }, page }),
    };
  },
};
