/** Forms for records of every kind: the pages *New* and *Edit*. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type Filter, type View } from './address.ts';
import { changedValues, fieldInput, inputNames, isReversed, timeZone, untouched } from './fields.ts';
import { isLink, isRecord, kindOf, kinds, linkOf, title, typeOf, words } from './kinds.ts';
import { constant, namesOf, query } from './queries.ts';
import { type Data, type Page, read, type Viewer } from './service.ts';
import { copyText, notice } from './values.ts';
import { mutationText, report, store } from './writes.ts';

interface FormOptions {
  readonly kind: string;
  /** The record as it is now, or the links that a new one begins with. */
  readonly record: Data;
  readonly page: Page;
  /** The page after the form: by default that of the record. */
  readonly address?: string | undefined;
  changesSince?(time: string): unknown;
}

interface FieldIssue {
  readonly field: string;
  readonly message: string;
}

/** Messages of the service begin with a small letter. */
const sentence = (message: string): string => `${message.replace(/^./, (letter) => letter.toUpperCase())}.`;

/** Leads back to the page before the form, or else to this address, which takes the place of the form's. */
function leave(address: string): void {
  const { navigation } = window;
  const before = navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1];
  if (before?.url === new URL(address, location.href).href) navigation?.back();
  else location.replace(address);
}

class RecordForm extends HTMLElement {
  #options!: FormOptions;
  /** The record that the changes are based on: others may have changed it since. */
  #base: Data = {};
  /** The records that somebody has chosen, by the fields of their links. */
  readonly #picked = new Map<string, Data | undefined>();
  #issues: readonly FieldIssue[] = [];
  #problem = '';
  #addedIds = 1;
  #isBusy = false;
  #isLeft = false;

  set options(options: FormOptions) {
    // Without own changes, the form follows those of others.
    const isClean = this.#options === undefined || !(this.#isBusy || this.isUnsaved);
    this.#options = options;
    const update = this.#hasForm ? untouched(this.#form) : () => {};
    const isNewer = options.record.updatedAt !== this.#base.updatedAt;
    if (isClean) this.#base = options.record;
    this.#draw();
    if (isClean && isNewer) update();
  }

  connectedCallback(): void {
    this.querySelector<HTMLElement>('input:not([type=hidden])')?.focus();
  }

  get isUnsaved(): boolean {
    return !this.#isLeft && Object.keys(this.#changes()).length > 0;
  }

  get #form(): HTMLFormElement {
    return this.querySelector('form') as HTMLFormElement;
  }

  get #isNew(): boolean {
    return this.#base.id === undefined;
  }

  #changes(): Data {
    return changedValues(this.#form, this.#options.kind, this.#base);
  }

  /** Returns the item of the mutation: of a new record, all that has a value. */
  #item(): Data {
    const { id, updatedAt: ifUpdatedAt } = this.#base;
    if (!this.#isNew) return { id, ifUpdatedAt, ...this.#changes() };
    const { mergeExternalIds: externalIds, ...values } = changedValues(this.#form, this.#options.kind);
    const given = Object.entries(values).filter(([, value]) => value !== null && value !== false);
    return { ...Object.fromEntries(given), ...(externalIds && { externalIds }) };
  }

  /** Returns the mistakes that the service would not find, or not before it stores the record. */
  #mistakes(item: Data): readonly FieldIssue[] {
    const sent = new FormData(this.#form);
    const isHalf = (name: string) => sent.get(name) === '' && !!sent.get(`${name}.time`);
    const halves = inputNames(this.#options.kind).filter(isHalf);
    return [
      ...halves.map((field) => ({ field, message: 'Enter the date of this time.' })),
      ...((item.startDate || item.endDate) && isReversed({ ...this.#base, ...item })
        ? [{ field: 'endDate', message: 'The end is before the start.' }]
        : []),
    ];
  }

  #show(changed: { issues?: readonly FieldIssue[]; problem?: string; isBusy?: boolean }) {
    this.#issues = changed.issues ?? [];
    this.#problem = changed.problem ?? '';
    this.#isBusy = changed.isBusy ?? false;
    this.#draw();
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }

  /** Stores the values, unless somebody has changed the record since the form was opened. */
  async #save(): Promise<void> {
    // A date that is not whole has no value, like a cleared one.
    if (this.#isBusy || !this.#form.reportValidity()) return;
    const { kind, page } = this.#options;
    const [item, isChanged] = [this.#item(), this.#isNew || this.isUnsaved];
    const mistakes = this.#mistakes(item);
    if (mistakes.length > 0) return this.#show({ issues: mistakes });
    if (!isChanged) return this.#leave(this.#base.id);
    this.#show({ isBusy: true });
    try {
      const { records, range } = await store(this.#isNew ? 'create' : 'update', kind, [item]);
      report(this.#isNew ? `${title(kind)} created.` : 'Saved.', range);
      this.#leave(records[0]?.id);
    } catch (error) {
      const { message, items = [] } = error as Data;
      const names = inputNames(kind);
      const issues: readonly FieldIssue[] = items.flatMap(({ field = '', message }: Data) => {
        const name = [field, `${field}Id`].find((own) => names.includes(own));
        return name ? [{ field: name, message: sentence(message) }] : [];
      });
      await page.refresh();
      this.#show(issues.length > 0 ? { issues } : { problem: message });
    }
  }

  #leave(id: string | undefined = this.#base.id): void {
    this.#isLeft = true;
    leave(this.#options.address ?? addressOf({ kind: this.#options.kind, id }));
  }

  /** Shows the newest values in all fields that nobody has changed here. */
  #rebase(isDiscarding: boolean): void {
    const { record } = this.#options;
    const update = untouched(this.#form);
    this.#base = record;
    if (isDiscarding) this.#picked.clear();
    this.#show({});
    update();
    if (isDiscarding) this.#form.reset();
    this.#draw();
  }

  #conflict(): TemplateResult {
    return html`<div class="notice card pad" role="alert">
      <p class="row"><span><b>Changed meanwhile.</b> Your entries are not stored yet.</span>
        <button type="button" class="end" @click=${() => this.#rebase(true)}>Use theirs</button>
        <button type="button" @click=${() => this.#rebase(false)}>Keep mine</button></p>
      ${this.#options.changesSince?.(this.#base.updatedAt)}
    </div>`;
  }

  #fields() {
    const { kind } = this.#options;
    const links = Object.fromEntries([...this.#picked].map(([name, target]) => [linkOf(name), target]));
    return inputNames(kind).map((name) =>
      fieldInput({
        kind,
        name,
        record: this.#picked.has(name) ? { ...this.#base, [name]: null, ...links } : this.#base,
        error: this.#issues.find(({ field }) => field === name)?.message,
        added: this.#addedIds,
        onPick: (target) => {
          this.#picked.set(name, target);
          this.#change();
        },
      }),
    );
  }

  #change(): void {
    this.#addedIds =
      1 + [...new FormData(this.#form)].filter(([name, text]) => /^externalIds=/.test(name) && text).length;
    this.#show({});
  }

  #draw(): void {
    const { kind, record } = this.#options;
    const isStale = !this.#isBusy && !this.#isLeft && record.updatedAt > this.#base.updatedAt;
    const number = this.#hasForm ? Object.keys(this.#changes()).length : 0;
    const hasTimes = Object.values(kindOf(kind).inputs).includes('DateTime');
    const submit = (event: Event) => {
      event.preventDefault();
      void this.#save();
    };
    const copy = () => {
      const [action, item] = [this.#isNew ? 'create' : 'update', this.#item()] as const;
      void copyText(mutationText(action, kind, item));
      report('Mutation copied.');
    };
    const hints = [
      number > 0 && !this.#isNew ? `${number} ${number === 1 ? 'field' : 'fields'} changed.` : '',
      hasTimes ? `Times are in ${timeZone}.` : '',
    ];
    render(
      html`${isStale ? this.#conflict() : nothing}
        ${this.#problem ? html`<p class="notice card pad" role="alert">Not saved: ${this.#problem}.</p>` : nothing}
        <form class="edit" aria-label=${this.#isNew ? `New ${words(kind)}` : 'Edit'} aria-busy=${this.#isBusy}
          @submit=${submit} @input=${() => this.#change()}>
          <fieldset class="form" ?disabled=${this.#isBusy}>${this.#fields()}</fieldset>
          <p class="save row">
            <button class="primary" ?disabled=${this.#isBusy}>${this.#isBusy ? 'Saving…' : 'Save'}</button>
            <button type="button" @click=${() => this.#leave()}>Cancel</button>
            <small role="status">${hints.join(' ')}</small>
            <button type="button" class="end wide bare" @click=${copy}>Copy as mutation</button>
          </p>
        </form>`,
      this,
    );
  }

  get #hasForm(): boolean {
    return this.querySelector('form') !== null;
  }
}
customElements.define('record-form', RecordForm);

export const isUnsaved = (): boolean => document.querySelector<RecordForm>('record-form')?.isUnsaved ?? false;

/** The form in place of a record's page. A read-only key has none. */
export function formPage(options: FormOptions) {
  const { kind, record, page, address = addressOf({ kind, id: record.id }) } = options;
  const back = html`<a class="button" href=${address}>Back</a>`;
  if (!page.mayWrite) return notice('This key can only read records: enter another one to change them', back);
  return keyed(location.search, html`<record-form .options=${options}></record-form>`);
}

/** The values that a new record begins with are filters of its address, such as `projectId.eq:project_7`. */
const givenValues = ({ kind = '', filters = [] }: View): readonly Filter[] =>
  filters.filter(
    ({ field, operator }) => operator === 'eq' && ['ID', 'String'].includes(kindOf(kind).inputs[field] ?? ''),
  );

/** The address of the form for a new record, with the values of a table's filters. */
export const newAddress = (kind: string, filters: readonly Filter[] = []): string =>
  addressOf({ kind, view: 'new', filters: givenValues({ kind, filters }) });

/** The address of the form for the name and the colour of an entity in another system: for its label, new or not. */
export const labelAddress = (kind: string, id: string): string =>
  newAddress('Label', [{ field: 'key', operator: 'eq', value: `${constant(kind)}:${id}` }]);

/** The page of the entity that a label names. */
function namedAddress(key: string): string | undefined {
  const [type = '', ...id] = key.split(':');
  const kind = Object.keys(kinds).find((name) => constant(name) === type);
  return kind && addressOf({ kind, id: id.join(':') });
}

export const creation: Viewer = {
  queries(view) {
    const links = givenValues(view).filter(({ field }) => isLink(typeOf(view.kind ?? '', linkOf(field))));
    const key = givenValues(view).find(({ field }) => field === 'key')?.value;
    return [
      ...(key ? [query('labels', { where: { key: { eq: key } } }, 'nodes { id key name color updatedAt }')] : []),
      ...links.map(({ field, value }) => {
        const type = typeOf(view.kind ?? '', linkOf(field));
        return `${linkOf(field)}: ${query(kindOf(type).one, { id: value }, namesOf(type))}`;
      }),
    ];
  },
  async *read(view) {
    const queries = creation.queries(view, {});
    yield { links: {}, ...(queries.length > 0 && { links: await read(...queries) }) };
  },
  draw(view, { links }, page) {
    const { kind = '' } = view;
    const values = Object.fromEntries(givenValues(view).map(({ field, value }) => [field, value]));
    const { labels, ...targets } = links ?? {};
    const record = labels?.nodes[0] ?? { ...values, ...targets };
    const [href, text] = isRecord(kind)
      ? [addressOf({ kind }), title(kindOf(kind).list)]
      : [namedAddress(values.key ?? ''), values.key?.replace(/^.*?:/, '')];
    return {
      title: kind === 'Label' ? 'Name and colour' : `New ${words(kind)}`,
      crumb: html`<a href=${href ?? nothing}>${text}</a>`,
      content: links && formPage({ kind, record, page, address: values.key && namedAddress(values.key) }),
    };
  },
};
