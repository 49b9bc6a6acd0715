/** Sets a field of all selected records of a table: previewed, stored together, and undone together. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { ref } from 'lit-html/directives/ref.js';
import { addressOf, type View } from './address.ts';
import { Draft, inputNames, period, problems } from './draft.ts';
import { draftForm, fieldInput } from './fields.ts';
import { countText, isLink, kindOf, linkOf, nameFields, numberedName, title, typeOf, words } from './kinds.ts';
import { atMost, query, selectionOf } from './queries.ts';
import { type Data, type Page, read } from './service.ts';
import { button, cell, menu, openDialog, tableOf } from './values.ts';
import { report } from './writes.ts';

const frequent = ['days', 'currentLocationId', 'locationId', 'statusId'];

/** The fields that several records may have in common, and the days by which they are moved: frequent ones first. */
const commonFields = (kind: string): readonly string[] =>
  inputNames(kind)
    .filter((name) => !/String|Float|Int|ExternalIds/.test(kindOf(kind).inputs[name] ?? ''))
    .toSorted((a, b) => frequent.indexOf(b) - frequent.indexOf(a));

async function readRecords(kind: string, ids: readonly string[]): Promise<readonly Data[]> {
  const { list, fields } = kindOf(kind);
  const shown = [...nameFields(kind), ...commonFields(kind).map(linkOf), 'updatedAt'].filter((name) => name in fields);
  const page = { first: atMost(ids.length), where: { id: { in: ids } } };
  const { nodes } = (await read(query(list, page, `nodes { ${selectionOf(kind, shown)} }`)))[list];
  return nodes.toSorted((a: Data, b: Data) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

const isChanged = ({ changed }: Draft): boolean => changed.length > 0;

/** The records before the change, and after it. Links would be stops on the way to the button. */
function preview(kind: string, name: string, drafts: readonly Draft[], isEmpty: boolean) {
  // A start may take its end along.
  const fields = /^(days|startDate)$/.test(name) ? period : [name];
  const quiet = (text: string) => html`<span class="quiet">${text}</span>`;
  const shownValue = (record: Data, field: string) => {
    const target = record[linkOf(field)] ?? (record[field] && { id: record[field] });
    const value = isLink(typeOf(kind, linkOf(field))) ? target && numberedName(target) : cell(kind, field, record);
    return html`<div>${value && value !== nothing ? value : quiet('nothing')}</div>`;
  };
  const shownAfter = (draft: Draft) => (field: string) =>
    shownValue({ [linkOf(field)]: draft.entryOf(field) || null, [field]: draft.valueOf(field) }, field);
  const rows = drafts.map((draft) => [
    [numberedName(draft.record), draft.record.asset?.uid].filter(Boolean).join(' · '),
    fields.map((field) => shownValue(draft.record, field)),
    isEmpty ? '' : isChanged(draft) ? fields.map(shownAfter(draft)) : quiet('unchanged'),
  ]);
  const heads = { [kind]: '', [fields === period ? 'dates' : linkOf(name)]: '', newValue: '' };
  return html`<div class="full card" .style=${'max-height: 320px'}>${tableOf('Preview', heads, rows)}</div>`;
}

interface BulkChange {
  readonly kind: string;
  readonly page: Page;
  readonly dialog: HTMLDialogElement;
  /** Has the value that all records get. */
  draft: Draft;
  records: readonly Data[];
  /** The field that is changed, or `days`. */
  name: string;
}

const draftsOf = ({ kind, records, name, draft }: BulkChange): readonly Draft[] =>
  records.map((record) => new Draft(kind, record).take(draft, name));

/** All of the records are stored or none: nothing if somebody has changed one of them since they were read. */
async function save(bulk: BulkChange, isConfirmed = false): Promise<void> {
  const { kind, page, dialog, records, name: field, draft } = bulk;
  const drafts = draftsOf(bulk).filter(isChanged);
  const wrong = drafts.flatMap(({ record, mistakes }) =>
    mistakes.map(({ message }) => ({ field, message: `${numberedName(record)}: ${message}` })),
  );
  if (!draft.check(dialog.querySelector('form'), wrong)) return;
  const stored = await draft.store(drafts, isConfirmed);
  if (stored) {
    dialog.close();
    // The message takes the keyboard, with its undo.
    (document.activeElement as HTMLElement).blur();
    report(`${countText(kind, drafts.length)} changed.`, stored.range);
    return page.refresh();
  }
  // Others may have changed them since.
  const ids = records.map(({ id }) => id);
  bulk.records = await readRecords(kind, ids).catch(() => records);
  const before = new Map(records.map(({ id, updatedAt }) => [id, updatedAt]));
  const changed = bulk.records.filter(({ id, updatedAt }) => updatedAt !== before.get(id));
  const deleted = records.filter(({ id }) => bulk.records.every((record) => record.id !== id));
  const [word, others] = deleted.length > 0 ? ['deleted', deleted] : ['changed', changed];
  const names = [...others.slice(0, 3).map(numberedName), ...(others.length > 3 ? ['…'] : [])].join(', ');
  if ([problems.changed, problems['no-record']].includes(draft.problem) && names)
    draft.problem = `somebody has ${word} ${names} meanwhile. Look at the values below, and save again`;
  drawBulk(bulk);
}

function drawBulk(bulk: BulkChange): void {
  const { kind, page, dialog, records, name, draft } = bulk;
  const isWrong = dialog.querySelector(`:is(#field-${name}, [name="${name}.time"]):invalid`) !== null;
  const isEmpty = isWrong || draft.valueOf(name) === null;
  const drafts = draftsOf(bulk);
  const changing = drafts.filter(isChanged);
  const [all, some] = [records, changing].map(({ length }) => countText(kind, length));
  const label = `Change ${all}`;
  const titleOf = (field: string) => (field === 'days' ? 'Start and end, by days' : title(linkOf(field)));
  const fields = Object.fromEntries(commonFields(kind).map((field) => [field, titleOf(field)]));
  const inputs = html`<label class="field">Field ${menu(fields, name, (field) => chooseField(bulk, field))}</label>
    ${keyed(name, fieldInput(draft, name, page))} ${preview(kind, name, drafts, isEmpty)}`;
  const clear = button(`Clear ${words(linkOf(name))} of ${some}`, () => void save(bulk), 'end');
  // Enter clears nothing: the button of the form is disabled.
  const below = html`<p class="row">
    <button class="primary" ?disabled=${isEmpty || changing.length === 0}>Change ${isEmpty ? all : some}</button>
    ${button('Cancel', () => dialog.close())} ${isEmpty && !isWrong && changing.length > 0 ? clear : nothing}</p>`;
  const saveBulk = (isConfirmed: boolean) => void save(bulk, isConfirmed);
  render(html`<h2>${label}</h2> ${draftForm(draft, label, saveBulk, inputs, below)}`, dialog);
}

/** Nothing is left of the value of another field. */
function chooseField(bulk: BulkChange, name: string): void {
  Object.assign(bulk, { name, draft: new Draft(bulk.kind, {}, () => drawBulk(bulk)) });
  drawBulk(bulk);
}

function openBulk(kind: string, records: readonly Data[], page: Page): void {
  report('');
  const dialog = openDialog(`Change ${countText(kind, records.length)}`);
  const draft = new Draft(kind, {});
  chooseField({ kind, page, dialog, draft, records, name: '' }, commonFields(kind)[0] ?? '');
  dialog.querySelector('select')?.focus();
}

const picks = (selector = '') => [...document.querySelectorAll<HTMLInputElement>(`td [name=pick]${selector}`)];

/** Counts the selected rows. */
export function drawBulkBar(kind: string, page: Page): void {
  const bar = document.querySelector<HTMLElement>('.bulk');
  const [all, selected] = [picks(), picks(':checked')];
  const head = document.querySelector<HTMLInputElement>('th.pick input');
  if (head) head.checked = all.length > 0 && all.length === selected.length;
  const ids = selected.map(({ value }) => value);
  const open = (records: readonly Data[]) => openBulk(kind, records, page);
  const change = () => void readRecords(kind, ids).then(open, ({ message }) => report(message));
  const clear = () => {
    for (const box of all) box.checked = false;
    drawBulkBar(kind, page);
    all[0]?.focus();
  };
  const content = html`<b>${selected.length.toLocaleString()} selected</b>
    ${button('Change…', change)} ${button('Select none', clear, 'bare')}
    <small class="wide">Shift selects a range. Enter in a selected row leads to Change…</small>`;
  if (!bar) return;
  bar.dataset.selected = String(selected.length);
  bar.classList.toggle('save', selected.length > 0);
  render(selected.length > 0 ? content : nothing, bar);
}

/**
 * The number of selected rows, with a button that changes them. It is hidden while there are none. Rows that another
 * search, filter or page leaves out are no longer selected, and a message says so.
 */
export function bulkBar(view: View, page: Page) {
  const { kind = '' } = view;
  const draw = (bar?: Element) => {
    if (!bar) return;
    const { dataset } = bar as HTMLElement;
    const gone = Number(dataset.selected) - picks(':checked').length;
    const isReplaced = dataset.address !== addressOf(view) && gone > 0;
    // Opened while another search was read.
    if (isReplaced) document.querySelector<HTMLDialogElement>('dialog[open]:not(.import)')?.close();
    if (isReplaced) report(`No longer selected, because not on this page: ${countText(kind, gone)}.`);
    dataset.address = addressOf(view);
    drawBulkBar(kind, page);
  };
  return keyed(kind, html`<div class="bulk row" ${ref(draw)}></div>`);
}

/** With Shift, a click or the space bar selects all rows from the last one that was clicked. */
export function pickRange({ target, shiftKey }: MouseEvent): void {
  const [box, all] = [target as HTMLInputElement, picks()];
  const [to, last] = [all.indexOf(box), all.findIndex(({ dataset }) => dataset.last)];
  if (to < 0) return;
  const from = shiftKey && last >= 0 ? last : to;
  for (const other of all.slice(Math.min(from, to), Math.max(from, to) + 1)) other.checked = box.checked;
  for (const other of all) other.dataset.last = other === box ? 'true' : '';
}

/** Enter leads from a selected row to the button, past many links. With Shift, an arrow also selects the next row. */
export function pressInRow(event: KeyboardEvent): void {
  const [box, all] = [event.target as HTMLInputElement, picks()];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!all.includes(box)) return;
  if (event.key === 'Enter' && box.checked) {
    event.preventDefault();
    document.querySelector<HTMLElement>('.bulk button')?.focus({ preventScroll: true });
  }
  if (!event.shiftKey || !step) return;
  // A range begins at a row that was not selected.
  if (!box.checked) for (const other of all) other.dataset.last = other === box ? 'true' : '';
  const [at, first] = [all.indexOf(box), all.findIndex(({ dataset }) => dataset.last)];
  const range = all.slice(Math.min(at, first), Math.max(at, first) + 1);
  const isBack = first >= 0 && Math.sign(first - at) === step && range.every(({ checked }) => checked);
  [box.checked, (all[at + step] ?? box).checked] = [!isBack, true];
  box.dispatchEvent(new Event('change', { bubbles: true }));
}
