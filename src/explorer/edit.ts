/**
 * What a dispatcher changes on the spot of a work order: a form in place of its fields, and a way back once saved.
 * The form keeps what is being typed, also when others change the record.
 */
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { atMost } from './queries.ts';
import { type Data, type Page, read, yardgraph } from './service.ts';

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** What is changed: the label, and the stored value as the form has it; a link by its ID. */
const fields: Readonly<Record<string, readonly [string, (record: Data) => string]>> = {
  statusId: ['Status', ({ status }) => status?.id ?? ''],
  startDate: [`Start (${timeZone})`, ({ startDate }) => localTime(startDate)],
  endDate: [`End (${timeZone})`, ({ endDate }) => localTime(endDate)],
  locationId: ['Location', ({ location }) => location?.id ?? ''],
  notes: ['Notes', ({ notes }) => notes ?? ''],
};

/** As an input has it: to the minute, but exactly if the stored time is not at a full minute. */
function localTime(value: string | null): string {
  if (value === null) return '';
  const time = new Date(value);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');
}

interface Form {
  /** The work order as it was when the form was opened: what is the same is not sent. */
  readonly base: Data;
  /** By field, those that somebody has touched: an input may not hold exactly what is stored. */
  readonly typed: Map<string, string>;
  /** By link, what can be chosen. */
  readonly choices: Record<string, readonly Data[]>;
  problem?: string | undefined;
  isBusy: boolean;
}

/** The one that is open, and what was done last, with the time of the change if it can be undone. */
let form: Form | undefined;
let said: { readonly id: string; readonly text: string; readonly at?: string } | undefined;

const formElement = () => document.querySelector<HTMLFormElement>('form.edit');

/** Those in use, and all others that have a name. */
async function readStatuses(): Promise<Data[]> {
  const { workOrdersSummary, labels } = await read(`{
    workOrdersSummary(groupBy: [STATUS], first: ${atMost(100)}) { groups { status { id name } } }
    labels(first: ${atMost(1_000)}, where: { key: { startsWith: "STATUS:" }, name: { isNull: false } }) {
      nodes { key name }
    } }`);
  const inUse = workOrdersSummary.groups.flatMap(({ status }: Data) => status ?? []);
  return [...inUse, ...labels.nodes.map(({ key, name }: Data) => ({ id: key.replace('STATUS:', ''), name }))];
}

/** Returns nothing if something else has been entered meanwhile. */
async function findLocations(input: HTMLInputElement): Promise<Data[] | undefined> {
  const { value: text } = input;
  const where = 'where: { name: { contains: $text, ignoreCase: true } }';
  const query = `query ($text: String!) { locations(first: ${atMost(20)}, ${where}) { nodes { id name city address1 } } }`;
  const { nodes } = (await read(query, { text })).locations;
  return input.value === text ? nodes : undefined;
}

/** Offers what is found for a link, besides what is stored and what has been chosen. */
async function offer(own: Form, name: string, finding: Promise<Data[] | undefined>, { redraw }: Page): Promise<void> {
  const { base, typed, choices } = own;
  try {
    const found = await finding;
    if (!found) return;
    const kept = choices[name]?.filter(({ id }) => id === fields[name]?.[1](base) || id === typed.get(name)) ?? [];
    choices[name] = [...new Map([...kept, ...found].map((choice) => [choice.id, choice])).values()];
  } catch (error) {
    own.problem = (error as Error).message;
  }
  redraw();
}

/** Returns the values that differ, null for what was cleared. */
function valuesOf({ base, typed }: Form): Data {
  const sentOf = (name: string, text: string) => {
    if (text.trim() === '') return null;
    return name.endsWith('Date') ? new Date(text).toISOString() : text;
  };
  const changed = [...typed].filter(([name, text]) => text !== fields[name]?.[1](base));
  return Object.fromEntries(changed.map(([name, text]) => [name, sentOf(name, text)]));
}

/** Stores the values, unless somebody has changed the record since it was as in `newest`. */
async function save(own: Form, newest: Data, page: Page): Promise<void> {
  const { id } = own.base;
  const { updatedAt: ifUpdatedAt } = newest;
  clearMarks();
  // An incomplete date has no value, like a cleared one.
  if (own.isBusy || !formElement()?.reportValidity()) return;
  const values = valuesOf(own);
  const { startDate, endDate } = { ...newest, ...values };
  const isMoved = values.startDate || values.endDate;
  if (isMoved && startDate && endDate && startDate > endDate) {
    mark([{ field: 'endDate', message: 'the end is before the start' }]);
    return;
  }
  Object.assign(own, { isBusy: true, problem: undefined });
  said = undefined;
  page.redraw();
  let issues: readonly Data[] = [];
  try {
    if (Object.keys(values).length > 0) {
      const [{ updatedAt }] = await yardgraph.workOrders.update([{ id, ifUpdatedAt, ...values }]);
      // The time stays if the record had these values already.
      said = { id, text: 'Saved.', ...(updatedAt !== ifUpdatedAt && { at: updatedAt }) };
    }
    form = undefined;
  } catch (error) {
    const { message, items = [] } = error as Data;
    issues = items.filter(({ field }: Data) => field in fields);
    if (issues.length === 0) own.problem = message;
  }
  await page.refresh();
  own.isBusy = false;
  redrawAt(form ? '.edit button' : '#edit', page);
  mark(issues);
}

/** Shows at each field what is wrong with it, until it is changed. */
function mark(issues: readonly Data[]): void {
  for (const { field, message } of issues)
    formElement()?.querySelector<HTMLInputElement>(`[name=${field}]`)?.setCustomValidity(message);
  if (issues.length > 0) formElement()?.reportValidity();
}

/** Of all fields: what is wrong with one may be mended in another, such as an end before the start. */
function clearMarks(): void {
  for (const field of formElement()?.elements ?? []) (field as HTMLInputElement).setCustomValidity('');
}

function change({ typed }: Form, { target }: Event): void {
  const input = target as HTMLInputElement;
  clearMarks();
  if (input.name) typed.set(input.name, input.value);
}

async function undo(id: string, cursor: string, page: Page): Promise<void> {
  said = undefined;
  page.redraw();
  // Cursors are numbers without gaps.
  const range = { after: String(BigInt(cursor) - 1n), upTo: cursor };
  const text = await yardgraph.revertChanges(range).then(
    ({ reversed, notReversed: [kept] }) => (reversed === 1 ? 'Undone.' : `Not undone: ${kept?.message}.`),
    ({ message }: Error) => `Not undone: ${message}.`,
  );
  said = { id, text };
  await page.refresh();
  redrawAt('.toast button', page);
}

/** Draws, and gives the keyboard to the first of these. */
function redrawAt(selector: string, { redraw }: Page): void {
  redraw();
  document.querySelector<HTMLElement>(selector)?.focus();
}

async function open(base: Data, page: Page): Promise<void> {
  const choices = { statusId: [base.status ?? []].flat(), locationId: [base.location ?? []].flat() };
  form = { base, typed: new Map(), choices, isBusy: false };
  redrawAt('.edit select', page);
  await offer(form, 'statusId', readStatuses(), page);
}

function close(page: Page): void {
  form = undefined;
  redrawAt('#edit', page);
}

function control({ base, typed, choices }: Form, name: string) {
  const [label, textOf] = fields[name] as (typeof fields)[string];
  const text = typed.get(name) ?? textOf(base);
  const option = ({ id = '', name: called, address1, city }: Data) => {
    const about = [called || id, address1, city].filter(Boolean).join(', ');
    return html`<option value=${id} .selected=${live(id === text)}>${about}</option>`;
  };
  const step = text.length > 16 ? '0.001' : nothing;
  const input = choices[name]
    ? html`<select name=${name}>${[{}, ...choices[name]].map(option)}</select>`
    : name === 'notes'
      ? html`<textarea name=${name} rows="4" .value=${live(text)}></textarea>`
      : html`<input name=${name} type="datetime-local" max="9999-12-31T23:59" step=${step} .value=${live(text)}>`;
  return html`<label>${label} ${input}</label>`;
}

function formOf(own: Form, newest: Data, changesSince: (time: string) => TemplateResult, page: Page) {
  const { base, problem, isBusy } = own;
  const submit = (event: Event) => {
    event.preventDefault();
    void save(own, base, page);
  };
  const cancel = ({ key, isComposing }: KeyboardEvent) => key === 'Escape' && !isComposing && !isBusy && close(page);
  const search = ({ target }: Event) => void offer(own, 'locationId', findLocations(target as HTMLInputElement), page);
  const stay = (event: KeyboardEvent) => event.key === 'Enter' && event.preventDefault();
  const findLocation = html`<label>
    Find another location <input type="search" @input=${search} @keydown=${stay}>
  </label>`;
  const meanwhile = () => html`<div role="alert">
    <p>This work order has been changed meanwhile. What you have entered is not stored yet.</p>
    ${changesSince(base.updatedAt)}
    <button type="button" @click=${() => void open(newest, page)}>Take over the newest values</button>
    <button type="button" @click=${() => void save(own, newest, page)}>Save my changes on top</button>
  </div>`;
  return html`<form class="edit" aria-label="Edit" aria-busy=${isBusy} @submit=${submit} @keydown=${cancel}
    @input=${(event: Event) => change(own, event)}>
    ${newest.updatedAt > base.updatedAt && !isBusy ? meanwhile() : nothing}
    ${problem ? html`<p role="alert">${problem}</p>` : nothing}
    <fieldset ?disabled=${isBusy}>
      ${Object.keys(fields).map((name) => html`${control(own, name)}${name === 'locationId' ? findLocation : nothing}`)}
      <p>
        <button>${isBusy ? 'Saving…' : 'Save'}</button>
        <button type="button" @click=${() => close(page)}>Cancel</button>
      </p>
    </fieldset>
  </form>`;
}

function toast({ id, history }: Data, page: Page) {
  if (said?.id !== id) return nothing;
  const { text, at } = said as { text: string; at?: string };
  // No two changes of a record have the same time.
  const cursor = at && history.nodes.find((change: Data) => change.at === at)?.cursor;
  const dismiss = () => {
    said = undefined;
    redrawAt('#edit', page);
  };
  return html`${text}
    ${cursor ? html`<button type="button" @click=${() => void undo(id, cursor, page)}>Undo</button>` : nothing}
    <button type="button" aria-label="Close" @click=${dismiss}>×</button>`;
}

/** The fields of a work order with a button to change them, or the form that does. */
export function editable(
  newest: Data,
  shown: TemplateResult,
  changesSince: (time: string) => TemplateResult,
  page: Page,
) {
  const own = form?.base.id === newest.id ? form : undefined;
  const button = html`<button type="button" id="edit" @click=${() => void open(newest, page)}>Edit</button>`;
  return html`${own ? formOf(own, newest, changesSince, page) : button}
    <div class="toast" role="status">${toast(newest, page)}</div>
    ${own ? nothing : shown}`;
}
