/**
 * What a dispatcher changes on the spot of a work order: a form in place of its fields, and a way back once saved.
 * The form keeps what is being typed, also when others change the record, and when the view is left and comes back.
 */
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { changeList } from './history.ts';
import { atMost } from './queries.ts';
import { type Data, type Page, read, yardgraph } from './service.ts';
import { nameOf } from './table.ts';

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** What is changed: the label, and the stored value as the form has it. */
const fields: Readonly<Record<string, readonly [string, (record: Data) => string]>> = {
  statusId: ['Status', ({ status }) => (status ? nameOf(status) : '')],
  startDate: [`Start (${timeZone})`, ({ startDate }) => localTime(startDate)],
  endDate: [`End (${timeZone})`, ({ endDate }) => localTime(endDate)],
  locationId: ['Location', ({ location }) => location?.name ?? ''],
  notes: ['Notes', ({ notes }) => notes ?? ''],
};

interface Form {
  /** The work order as it was when the form was opened: what is the same is not sent. */
  readonly base: Data;
  /** By field, those that somebody has touched: an input may not hold exactly what is stored. */
  readonly typed: Map<string, string>;
  readonly suggested: Record<
    string,
    readonly { readonly text: string; readonly about?: string; readonly id?: string }[]
  >;
  issues: Readonly<Record<string, string>>;
  isBusy: boolean;
}

/** Those that are open, by the IDs of their work orders. */
const forms = new Map<string, Form>();

/** What was done last, with the time of the change if it can be undone. */
let said: { readonly text: string; readonly at?: string } | undefined;

export function forgetSaid(): void {
  said = undefined;
}

/** As an input has it: to the minute, but exactly if the stored time is not at a full minute. */
function localTime(value: string | null): string {
  if (value === null) return '';
  const time = new Date(value);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');
}

const idOf = ({ suggested }: Form, field: string, sent: string) =>
  suggested[field]?.find(({ text }) => text === sent)?.id;

/** Several of a name are told apart by their IDs. */
const optionsOf = (found: readonly Data[]): Form['suggested'][string] =>
  found.map(({ id, name, about }) => {
    const isOne = found.filter((other) => other.name === name).length === 1;
    return { text: isOne ? name : `${name} (${id})`, about, id };
  });

/** Those in use, and all others that have a name. */
async function suggestStatuses({ suggested }: Form): Promise<void> {
  const query = `{
    workOrdersSummary(groupBy: [STATUS], first: ${atMost(100)}) { groups { status { id name } } }
    labels(first: ${atMost(1_000)}, where: { key: { startsWith: "STATUS:" }, name: { isNull: false } }) {
      nodes { key name }
    } }`;
  const { workOrdersSummary, labels } = await read(query);
  const inUse = workOrdersSummary.groups.flatMap(({ status }: Data) => (status ? [[status.id, nameOf(status)]] : []));
  const named = labels.nodes.map(({ key, name }: Data) => [key.replace('STATUS:', ''), name]);
  const names = new Map<string, string>([...inUse, ...named]);
  suggested.statusId = optionsOf([...names].map(([id, name]) => ({ id, name })));
}

async function suggestLocations({ typed, suggested }: Form, sent: string): Promise<void> {
  const where = 'where: { name: { contains: $name, ignoreCase: true } }';
  const query = `query ($name: String!) { locations(first: ${atMost(20)}, ${where}) { nodes { id name city address1 } } }`;
  const nodes: readonly Data[] = (await read(query, { name: sent })).locations.nodes;
  if (typed.get('locationId') !== sent) return;
  suggested.locationId = optionsOf(
    nodes.map(({ id, name, city, address1 }) => ({ id, name, about: [address1, city].filter(Boolean).join(', ') })),
  );
}

async function type(own: Form, event: Event, { redraw }: Page): Promise<void> {
  const { name, value } = event.target as HTMLInputElement;
  own.typed.set(name, value);
  if (name !== 'locationId' || value === '' || idOf(own, name, value)) return;
  // If there are no suggestions, saving says why.
  await suggestLocations(own, value).catch(() => {});
  redraw();
}

const refused = (field: string, message: string): Error =>
  Object.assign(new Error(message), { items: [{ field, message }] });

/** Returns the values that differ, null for what was cleared. Throws if there is no such location, or the end is before the start. */
async function valuesOf(own: Form, newest: Data): Promise<Data> {
  const values: Data = {};
  for (const [name, text] of own.typed) {
    if (text === fields[name]?.[1](own.base)) continue;
    if (text.trim() === '') values[name] = null;
    else if (name.endsWith('Date')) values[name] = new Date(text).toISOString();
    else if (name === 'statusId') {
      if (!own.suggested.statusId) await suggestStatuses(own);
      // Any other text is an ID.
      values[name] = idOf(own, name, text) ?? text;
    } else if (name === 'locationId') {
      if (!idOf(own, name, text)) await suggestLocations(own, text);
      values[name] = idOf(own, name, text);
      if (!values[name]) throw refused(name, 'choose one of the locations that are suggested');
    } else values[name] = text;
  }
  const { startDate, endDate } = { ...newest, ...values };
  const isMoved = values.startDate || values.endDate;
  if (isMoved && startDate && endDate && startDate > endDate) throw refused('endDate', 'the end is before the start');
  return values;
}

/** By field; what concerns none of them is at `form`. That the record has changed is said with what has changed. */
function issuesOf({ message, items = [] }: Data): Form['issues'] {
  const all: readonly Data[] = items.length > 0 ? items : [{ message }];
  const place = (field: string) => (field in fields || field === 'ifUpdatedAt' ? field : 'form');
  return Object.fromEntries(all.map((issue) => [place(issue.field), issue.message]));
}

/** Stores the values, unless somebody has changed the record since it was as in `newest`. */
async function save(own: Form, newest: Data, { redraw, refresh }: Page): Promise<void> {
  // An incomplete date has no value, like a cleared one.
  const form = document.querySelector<HTMLFormElement>('form.edit');
  if (own.isBusy || !form?.reportValidity()) return;
  Object.assign(own, { isBusy: true, issues: {} });
  forgetSaid();
  redraw();
  try {
    const values = await valuesOf(own, newest);
    const ifUpdatedAt = newest.updatedAt;
    if (Object.keys(values).length > 0) {
      const [{ updatedAt }] = await yardgraph.workOrders.update([{ id: own.base.id, ifUpdatedAt, ...values }]);
      // The time stays if the record had these values already.
      said = { text: 'Saved.', ...(updatedAt !== ifUpdatedAt && { at: updatedAt }) };
    }
    forms.delete(own.base.id);
  } catch (error) {
    own.issues = issuesOf(error as Error);
  }
  await refresh();
  own.isBusy = false;
  redraw();
  focus(forms.has(own.base.id) ? '.edit [aria-invalid=true], .edit button' : '#edit');
}

async function undo(cursor: string, { redraw, refresh }: Page): Promise<void> {
  forgetSaid();
  redraw();
  // Cursors are numbers without gaps.
  const range = { after: String(BigInt(cursor) - 1n), upTo: cursor };
  said = await yardgraph.revertChanges(range).then(
    ({ reversed, notReversed: [kept] }) => ({ text: reversed === 1 ? 'Undone.' : `Not undone: ${kept?.message}.` }),
    ({ message }: Error) => ({ text: `Not undone: ${message}.` }),
  );
  await refresh();
  redraw();
  focus('.toast button');
}

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();

async function open(base: Data, { redraw }: Page): Promise<void> {
  const own: Form = { base, typed: new Map(), suggested: {}, issues: {}, isBusy: false };
  forms.set(base.id, own);
  redraw();
  focus('.edit input');
  // If there are none, saving says why.
  await suggestStatuses(own).catch(() => {});
  redraw();
}

function close({ base }: Form, { redraw }: Page): void {
  forms.delete(base.id);
  redraw();
  focus('#edit');
}

function control({ base, typed, suggested, issues }: Form, name: string) {
  const [label, textOf] = fields[name] as (typeof fields)[string];
  const text = typed.get(name) ?? textOf(base);
  const isInvalid = issues[name] !== undefined;
  const about = `${name}-issue`;
  const [time, max] = name.endsWith('Date') ? ['datetime-local', '9999-12-31T23:59'] : [nothing, nothing];
  const input =
    name === 'notes'
      ? html`<textarea id=${name} name=${name} rows="4" aria-invalid=${isInvalid} aria-describedby=${about}
          .value=${live(text)}></textarea>`
      : html`<input id=${name} name=${name} type=${time} max=${max} step=${text.length > 16 ? '0.001' : nothing}
          list=${`${name}-list`} autocomplete="off" aria-invalid=${isInvalid} aria-describedby=${about}
          .value=${live(text)}>`;
  return html`<div>
    <label for=${name}>${label}</label>
    ${input}
    <datalist id=${`${name}-list`}>
      ${suggested[name]?.map((option) => html`<option value=${option.text}>${option.about}</option>`)}
    </datalist>
    <p class="issue" id=${about}>${issues[name]}</p>
  </div>`;
}

/** What others have changed since the form was opened. */
const meanwhile = (own: Form, newest: Data, page: Page) => html`<div role="alert">
  <p>This work order has been changed meanwhile. What you have entered is not stored yet.</p>
  ${changeList('WorkOrder', newest, own.base.updatedAt)}
  <button type="button" @click=${() => void open(newest, page)}>Take over the newest values</button>
  <button type="button" @click=${() => void save(own, newest, page)}>Save my changes on top</button>
</div>`;

function formOf(own: Form, newest: Data, page: Page) {
  const submit = (event: Event) => {
    event.preventDefault();
    void save(own, own.base, page);
  };
  const cancel = ({ key, isComposing }: KeyboardEvent) => {
    if (key === 'Escape' && !isComposing && !own.isBusy) close(own, page);
  };
  return html`<form class="edit" aria-label="Edit" aria-busy=${own.isBusy} @submit=${submit} @keydown=${cancel}
    @input=${(event: Event) => void type(own, event, page)}>
    ${newest.updatedAt > own.base.updatedAt && !own.isBusy ? meanwhile(own, newest, page) : nothing}
    ${own.issues.form ? html`<p role="alert">${own.issues.form}</p>` : nothing}
    <fieldset ?disabled=${own.isBusy}>
      ${Object.keys(fields).map((name) => control(own, name))}
      <p>
        <button>${own.isBusy ? 'Saving…' : 'Save'}</button>
        <button type="button" @click=${() => close(own, page)}>Cancel</button>
      </p>
    </fieldset>
  </form>`;
}

function toast({ history }: Data, page: Page) {
  if (!said) return nothing;
  const { text, at } = said;
  // No two changes of a record have the same time.
  const cursor = at && history.nodes.find((change: Data) => change.at === at)?.cursor;
  const dismiss = () => {
    forgetSaid();
    page.redraw();
    focus('#edit');
  };
  return html`${text}
    ${cursor ? html`<button type="button" @click=${() => void undo(cursor, page)}>Undo</button>` : nothing}
    <button type="button" aria-label="Close" @click=${dismiss}>×</button>`;
}

/** The fields of a work order with a button to change them, or the form that does. */
export const editable = (newest: Data, shown: TemplateResult, page: Page) => {
  const own = forms.get(newest.id);
  const button = html`<button type="button" id="edit" @click=${() => void open(newest, page)}>Edit</button>`;
  return html`${own ? formOf(own, newest, page) : button}
    <div class="toast" role="status">${toast(newest, page)}</div>
    ${own ? nothing : shown}`;
};
