/**
 * What a dispatcher changes on the spot of a work order: a form in place of its fields, and a way back once saved. Its inputs keep what is
 * being typed, also when others change the record.
 */
import { html, nothing, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { nameOf } from './kinds.ts';
import { ascending, atMost, namesOf, query } from './queries.ts';
import { type Data, type Page, read, yardgraph } from './service.ts';

interface Form {
  /** The work order as it was when the form was opened. */
  readonly base: Data;
  /** What the inputs had then: it may not be exactly what is stored, and is sent only if somebody changes it. */
  initial: FormData;
  /** What can be chosen: the statuses of work orders, those that only have a label, and the IDs of locations by what the input has for them. */
  readonly statuses: readonly Data[];
  readonly labelled: readonly Data[];
  readonly locations: Map<string, string>;
  isBusy: boolean;
}

/** The one that is open, and what was done last, with the time of the change if it can be undone. */
let form: Form | undefined;
let said: { readonly id: string; readonly text: string; readonly at?: string | undefined } | undefined;

/** True if something is typed that is not stored. */
export function isUnsaved(): boolean {
  const element = formElement();
  return form !== undefined && element !== null && Object.keys(changedValues(form, new FormData(element))).length > 0;
}

const formElement = () => document.querySelector<HTMLFormElement>('form.edit');

/** Draws, and gives the keyboard to the first of these. */
function redrawAt(selector: string, { redraw }: Page): void {
  redraw();
  document.querySelector<HTMLElement>(selector)?.focus();
}

function say({ redraw }: Page, id: string, text: string): void {
  said = { id, text };
  redraw();
}

const edit = (base: Data, page: Page) => void open(base, page).catch(({ message }) => say(page, base.id, message));

async function open(base: Data, page: Page): Promise<void> {
  const sent = { groupBy: [Symbol('STATUS')], first: atMost(100) };
  const type = 'STATUS:';
  const labelsSent = { first: atMost(200), where: { key: { startsWith: type } }, orderBy: [{ name: ascending }] };
  const { workOrdersSummary, labels } = await read(
    query('workOrdersSummary', sent, 'groups { status { id name } }'),
    query('labels', labelsSent, 'nodes { key name }'),
  );
  const statuses: Data[] = workOrdersSummary.groups.flatMap(({ status }: Data) => status ?? []);
  const labelled = labels.nodes
    .map(({ key, name }: Data) => ({ id: key.slice(type.length), name }))
    .filter(({ id }: Data) => !statuses.some((status) => status.id === id));
  form = { base, initial: new FormData(), statuses, labelled, locations: new Map(), isBusy: false };
  if (base.location) addLocation(form, base.location);
  redrawAt('.edit select', page);
  form.initial = new FormData(formElement() ?? undefined);
}

function close(page: Page): void {
  form = undefined;
  redrawAt('#edit', page);
}

/** Two of the same name, address and city are told apart by their IDs. */
function addLocation({ locations }: Form, location: Data): void {
  const { id, address1, city } = location;
  const text = [...new Set([nameOf(location), address1, city])].filter(Boolean).join(', ');
  locations.set((locations.get(text) ?? id) === id ? text : `${text}, ${id}`, id);
}

async function findLocations(own: Form, text: string, page: Page): Promise<void> {
  if (text.trim() === '' || own.locations.has(text)) return;
  const where = { name: { containsAlike: text.trim() } };
  const found = `nodes { ${namesOf('Location')} }`;
  const { locations } = await read(query('locations', { first: atMost(20), where }, found));
  for (const location of locations.nodes) addLocation(own, location);
  page.redraw();
  mark(own);
}

/** Shows at each field what is wrong with it, until something is changed: it may be mended in another one. */
function mark({ locations }: Form, issues: readonly Data[] = []): void {
  for (const input of formElement()?.querySelectorAll<HTMLInputElement>('[name]') ?? []) {
    const isUnknown = input.name === 'locationId' && input.value !== '' && !locations.has(input.value);
    const issue = issues.find(({ field }) => field === input.name);
    input.setCustomValidity(isUnknown ? 'choose one of the locations that are found' : (issue?.message ?? ''));
  }
  if (issues.length > 0) formElement()?.reportValidity();
}

/** Returns the values that somebody has changed, null for what was cleared. */
function changedValues({ initial, locations }: Form, sent: FormData): Data {
  const parse = (name: string, text: string) => {
    if (text.trim() === '') return null;
    if (name === 'locationId') return locations.get(text);
    return name.endsWith('Date') ? new Date(text).toISOString() : text;
  };
  const changed = [...sent].filter(([name, text]) => text !== initial.get(name));
  return Object.fromEntries(changed.map(([name, text]) => [name, parse(name, String(text))]));
}

/** Stores the values, unless somebody has changed the record since it was as in `newest`. */
async function save(own: Form, newest: Data, page: Page): Promise<void> {
  const { id, updatedAt: ifUpdatedAt } = newest;
  const element = formElement();
  mark(own);
  // An incomplete date has no value, like a cleared one.
  if (own.isBusy || !element?.reportValidity()) return;
  const values = changedValues(own, new FormData(element));
  const { startDate, endDate } = { ...newest, ...values };
  if ((values.startDate || values.endDate) && startDate && endDate && startDate > endDate)
    return mark(own, [{ field: 'endDate', message: 'the end is before the start' }]);
  own.isBusy = true;
  say(page, id, '');
  let issues: readonly Data[] = [];
  try {
    if (Object.keys(values).length > 0) {
      const [{ updatedAt }] = await yardgraph.workOrders.update([{ id, ifUpdatedAt, ...values }]);
      // The time stays if the record had these values already.
      said = { id, text: 'Saved.', at: updatedAt === ifUpdatedAt ? undefined : updatedAt };
    }
    form = undefined;
  } catch (error) {
    const { message, items = [] } = error as Data;
    issues = items.filter(({ field }: Data) => own.initial.has(field));
    if (issues.length === 0) said = { id, text: `Not saved: ${message}.` };
  }
  await page.refresh();
  own.isBusy = false;
  redrawAt(form ? '.edit button' : '#edit', page);
  mark(own, issues);
}

async function undo(id: string, cursor: string, page: Page): Promise<void> {
  say(page, id, '');
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

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** Without seconds that are 0: browsers show those that an input has. */
function timeInput(name: string, label: string, value: string | null) {
  const time = new Date(value ?? NaN);
  const local = value && new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  const text = local?.replace(/(?::00)?(?:\.000)?Z$/, '') ?? '';
  return html`<label>${label} (${timeZone})
    <input name=${name} type="datetime-local" max="9999-12-31T23:59" step="any" value=${text}></label>`;
}

function formOf(own: Form, newest: Data, changesSince: (time: string) => TemplateResult, page: Page) {
  const { base, locations, isBusy } = own;
  const { id, status, location, startDate, endDate, notes, updatedAt } = base;
  const optionsOf = (statuses: readonly Data[]) =>
    statuses
      .filter((other) => other.id !== status?.id)
      .map((other) => html`<option value=${other.id}>${nameOf(other)}</option>`);
  const submit = (event: Event) => {
    event.preventDefault();
    void save(own, base, page);
  };
  const change = ({ target }: Event) => {
    const { name, value } = target as HTMLInputElement;
    mark(own);
    if (name === 'locationId') void findLocations(own, value, page).catch(({ message }) => say(page, id, message));
  };
  const meanwhile = () => html`<div role="alert">
    <p>This work order has been changed meanwhile. What you have entered is not stored yet.</p>
    ${changesSince(updatedAt)}
    <button type="button" @click=${() => edit(newest, page)}>Take over the newest values</button>
    <button type="button" @click=${() => void save(own, newest, page)}>Save my changes on top</button>
  </div>`;
  return html`<form class="edit" aria-label="Edit" aria-busy=${isBusy} @submit=${submit} @input=${change}>
    ${newest.updatedAt > updatedAt && !isBusy ? meanwhile() : nothing}
    <fieldset ?disabled=${isBusy}>
      <label>Status <select name="statusId">
        <option value="" ?selected=${!status}></option>
        ${status ? html`<option value=${status.id} selected>${nameOf(status)}</option>` : nothing}
        ${optionsOf(own.statuses)}
        <optgroup label="No work order has had">${optionsOf(own.labelled)}</optgroup>
      </select></label>
      ${timeInput('startDate', 'Start', startDate)} ${timeInput('endDate', 'End', endDate)}
      <label>Location <input name="locationId" list="locations" autocomplete="off"
        placeholder="a part of its name" value=${location ? [...locations.keys()][0] : ''}></label>
      <datalist id="locations">${[...locations.keys()].map((text) => html`<option value=${text}></option>`)}</datalist>
      <label>Notes <textarea name="notes" rows="4" .defaultValue=${notes ?? ''}></textarea></label>
      <p>
        <button>${isBusy ? 'Saving…' : 'Save'}</button>
        <button type="button" @click=${() => close(page)}>Cancel</button>
      </p>
    </fieldset>
  </form>`;
}

function toast({ id, history }: Data, page: Page) {
  if (!said?.text || said.id !== id) return nothing;
  const { text, at } = said;
  // No two changes of a record have the same time.
  const cursor = history.nodes.find((change: Data) => change.at === at)?.cursor;
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
  const button = html`<button type="button" id="edit" @click=${() => edit(newest, page)}>Edit</button>`;
  return html`${own ? keyed(own, formOf(own, newest, changesSince, page)) : button}
    <div class="toast" role="status">${toast(newest, page)}</div>
    ${own ? nothing : shown}`;
}
