/** Draws values, links, buttons and tables of records. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { addressOf, type Filter, type View, viewOf } from './address.ts';
import { dateLocale, dayMs, plainDate } from './clock.ts';
import { columns, isLink, nameOf, numberedName, title, typeOf, words } from './kinds.ts';
import type { Data } from './service.ts';
import { isClash, isOverdue } from './work.ts';

const clockFormat = { hour: 'numeric', minute: '2-digit' } as const;

/** Writes a time, or a date, which is midnight in UTC. Near days have a weekday, and others a year. */
export function timeTexts(value: string) {
  const isDate = /^.{10}(T00:00:00\.000Z)?$/.test(value);
  const moment = new Date(isDate ? `${value.slice(0, 10)}T00:00` : value);
  if (Number.isNaN(moment.getTime())) return { day: value, clock: '', text: value, whole: value };
  const weekday = Math.abs(moment.getTime() - Date.now()) < 60 * dayMs ? 'short' : undefined;
  const year = weekday ? undefined : 'numeric';
  const day = plainDate(moment.toLocaleDateString(dateLocale, { weekday, day: '2-digit', month: 'short', year }));
  const clock = isDate ? '' : moment.toLocaleTimeString(dateLocale, clockFormat).replace(/\s/g, '\u00a0');
  const whole = moment.toLocaleString(dateLocale, { dateStyle: 'full', ...(!isDate && { timeStyle: 'short' }) });
  return { day, clock, text: `${day} ${clock}`.trim(), whole };
}

export function time(value: string, hasDay = true): TemplateResult {
  const { day, clock, whole } = timeTexts(value);
  return html`<time datetime=${value} title=${whole}>${hasDay || !clock ? day : nothing}${clock && html` <span class="quiet">${clock}</span>`}</time>`;
}

/** The end after a start; on the same day, its time. */
export const until = ({ startDate, endDate }: Data) =>
  endDate ? html`– ${time(endDate, timeTexts(endDate).day !== timeTexts(startDate ?? '').day)}` : nothing;

/** The colour of a label, for the property `style`: the policy of the page forbids the attribute. */
export const labelStyle = (color: string | null | undefined): string => (color ? `--label: ${color}` : '');

/** A link to a record, or to an entity of another system, in the colour of its label. A status is a chip. */
export function link(
  kind: string,
  { color, ...target }: Data,
  text: unknown = nameOf(target),
  href = addressOf({ kind, id: target.id }),
): TemplateResult {
  const style = labelStyle(color);
  const classes = [kind === 'Status' && 'chip', style && 'label'].filter(Boolean).join(' ');
  return html`<a class=${classes || nothing} .style=${style} href=${href} title=${nameOf(target)}>${text}</a>`;
}

/** In a table, a status leads to the records that have it. The table of the page keeps its other conditions. */
export function tableCell(kind: string, field: string, record: Data): unknown {
  const status = typeOf(kind, field) === 'Status' && record[field];
  if (!status) return cell(kind, field, record);
  const view = viewOf(location.search);
  const { search, sort, columns, filters = [] }: View = view.kind === kind && !view.id ? view : {};
  const others = filters.filter(({ field }) => field !== 'statusId');
  const chosen = [...others, { field: 'statusId', operator: 'eq', value: status.id }];
  return link('Status', status, undefined, addressOf({ kind, search, sort, columns, filters: chosen }));
}

/** Nobody knows whether an allocation without a status has ended. */
export const overdueMark = (kind: string, record: Data) =>
  (kind === 'WorkOrder' || (kind === 'Allocation' && record.status)) && isOverdue(record)
    ? html` <b class="error">Overdue</b>`
    : nothing;

/** Marks unfinished work at the time of another of the rows that are shown. */
export function clashMark(kind: string, record: Data, shown: readonly Data[]) {
  const clash = shown.find((other) => isClash(kind, record, other));
  if (!clash) return nothing;
  const about = `The asset has another ${words(kind)} at this time: ${nameOf(clash)}`;
  return html` <b class="error" title=${about}>Double-booked</b>`;
}

/** Draws a field of a record. An ID without a record here is shown as such. */
export function cell(kind: string, field: string, record: Data): unknown {
  const value = record[field];
  const id: unknown = record[`${field}Id`];
  if (value === null && typeof id === 'string')
    return html`<i class="quiet" title=${`${id}: no ${words(field)} here has this ID`}>${id} · not stored here</i>`;
  return cellOf(typeOf(kind, field), value);
}

export function cellOf(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return nothing;
  const { company } = Object(value);
  const name = () => link(type, value as Data, numberedName(value as Data));
  if (isLink(type)) return company ? html`${name()} <small>${nameOf(company)}</small>` : name();
  if (type === 'DateTime') return time(String(value));
  if (type === 'Boolean') return value ? 'yes' : 'no';
  if (type === 'ExternalIds') {
    const pairs = Object.entries(value);
    const pair = ([key, id]: [string, unknown], at: number) => html`${at > 0 ? ' · ' : ''}<small>${key}</small> ${id}`;
    return html`<span title=${pairs.map((texts) => texts.join(' ')).join(', ')}>${pairs.map(pair)}</span>`;
  }
  return html`<span title=${String(value)}>${typeof value === 'number' ? value.toLocaleString() : value}</span>`;
}

/** It is a stop for the keyboard only without links, from which the keyboard scrolls it. */
const frame = (label: string, heads: unknown, rows: unknown, isStop: boolean, columns = 0) =>
  html`<div class=${columns > maxColumns ? 'scroll many' : 'scroll'} .style=${`--width: ${columns * columnWidth}px`}
    tabindex=${isStop ? 0 : nothing} role="region" aria-label=${label}>
    <table>
      <thead><tr>${heads}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;

type Cells = readonly unknown[];

/** A table of which the first column has the heads of the rows. `columns` has the classes of each by its head. */
export function tableOf(label: string, columns: Readonly<Data>, rows: readonly Cells[], ids: Cells = []) {
  const [, ...classes] = Object.values(columns);
  const cell = (value: unknown, at: number) => html`<td class=${classes[at]}>${value}</td>`;
  const row = ([first, ...others]: Cells) => html`<tr><th scope="row">${first}</th>${others.map(cell)}</tr>`;
  const heads = Object.entries(columns).map(([head, width]) => headOf(head, width));
  const keyed = repeat(rows, (_, at) => ids[at] ?? at, row);
  return frame(label, heads, keyed, typeof rows[0]?.[0] === 'string');
}

export const headOf = (field: string, classes = '') => html`<th scope="col" class=${classes}>${title(field)}</th>`;

const widths: Readonly<Record<string, string>> = { DateTime: 'date', Status: 'status', Float: 'number', Int: 'number' };

const widthClass = (kind: string, field: string): string =>
  widths[typeOf(kind, field)] ?? (/^(uid|reference|number|postalCode)$/.test(field) ? 'code' : '');

/** Tables of more columns than this are scrolled by themselves. */
const maxColumns = 5;
const columnWidth = 137;

interface TableOptions {
  readonly fields?: readonly string[];
  readonly head?: (field: string, classes: string) => TemplateResult;
  /** Each row has a checkbox with the name `pick`. */
  readonly isPickable?: boolean;
}

/** A line that only a phone shows, which has no room for more columns. */
export const phoneLine = (...targets: (Data | null | undefined)[]) =>
  html`<div class="phone"><small>${targets.flatMap((target) => (target ? (target.uid ?? nameOf(target)) : [])).join(' · ')}</small></div>`;

export const isEmpty = (record: Data, field: string): boolean =>
  (record[field] ?? record[`${field}Id`] ?? null) === null || JSON.stringify(record[field]) === '{}';

/** The first column, and the others that have a value. */
export const nonEmptyFields = (fields: readonly string[], nodes: readonly Data[]): readonly string[] =>
  fields.filter((field, at) => at === 0 || nodes.some((node) => !isEmpty(node, field)));

/**
 * A table of records, whose first column leads to each. A phone shows a status and a time, or two other columns; of an
 * allocation its end and its asset. Columns that are empty in most rows come last there.
 */
export function recordTable(kind: string, nodes: readonly Data[], label: string, options: TableOptions = {}) {
  const { fields = columns[kind] ?? [], head = headOf, isPickable = false } = options;
  const [first = '', ...others] = fields;
  const isOfTime = typeOf(kind, first) === 'DateTime';
  const preferred = isOfTime ? ['DateTime', 'Asset', 'Project', 'Status'] : ['Status', 'DateTime'];
  const isRare = (field: string) => nodes.filter((node) => isEmpty(node, field)).length > nodes.length / 2;
  const rank = (field: string) => (isRare(field) ? Infinity : preferred.indexOf(typeOf(kind, field)) >>> 0);
  const onPhone = others.toSorted((a, b) => rank(a) - rank(b)).slice(0, 2);
  const isBelow = (field: string) =>
    !onPhone.includes(field) && /^(Asset|Location|Project|Status)$/.test(typeOf(kind, field));
  const classOf = (field: string) => {
    const width = widthClass(kind, field);
    if (field === first) return isOfTime ? 'name' : width || 'name';
    return onPhone.includes(field) ? width : `${width} more`;
  };
  const nameIn = (node: Data) => (isOfTime && node[first] ? time(node[first]) : undefined);
  const pick = (node: Data) => html`<td class="pick">
    <label .style=${'display: block; margin: -5px -10px; padding: 7px 10px'}>
      <input type="checkbox" name="pick" value=${node.id} aria-label=${`Select ${nameOf(node)}`}></label></td>`;
  const marks = (node: Data) => html`${overdueMark(kind, node)}${clashMark(kind, node, nodes)}`;
  // Where no column of the status is shown.
  const below = (node: Data) => html`<div class=${others.includes('status') ? 'phone' : nothing}>${marks(node)}</div>`;
  // Below the start where the end has no column, or none on a phone.
  const end = (node: Data) =>
    onPhone.includes('endDate')
      ? nothing
      : html`<div class=${others.includes('endDate') ? 'phone' : nothing}>${until(node)}</div>`;
  const row = (node: Data) => html`<tr>
    ${isPickable ? pick(node) : nothing}
    <th scope="row">${link(kind, node, nameIn(node))} ${isOfTime && !fields.includes('endDate') ? html`<div>${until(node)}</div>` : nothing}
      ${phoneLine(...others.filter(isBelow).flatMap((field) => [node[field], node[field]?.company]))}
      ${onPhone.includes('status') ? nothing : below(node)}</th>
    ${others.map((field) => html`<td class=${classOf(field)}>${tableCell(kind, field, node)}${field === 'status' ? marks(node) : field === 'startDate' ? end(node) : nothing}</td>`)}
  </tr>`;
  const all = html`<th class="pick"><input type="checkbox" aria-label="Select all" @change=${pickAll}></th>`;
  const heads = [isPickable ? all : nothing, ...fields.map((field) => head(field, classOf(field)))];
  const rows = repeat(nodes, ({ id }) => id, row);
  return frame(label, heads, rows, false, fields.length);
}

function pickAll({ target }: Event): void {
  const { checked } = target as HTMLInputElement;
  for (const box of document.querySelectorAll<HTMLInputElement>('[name=pick]')) box.checked = checked;
}

/** After the first click of a double click, another button may be in its place. */
export const button = (text: string, onClick: () => void, classes = '') =>
  html`<button type="button" class=${classes} @click=${({ detail }: MouseEvent) => detail < 2 && onClick()}>${text}</button>`;

export function menu(texts: Readonly<Data>, chosen: string, choose: (value: string) => void, label?: string) {
  const option = ([value, text]: [string, string]) =>
    html`<option value=${value} .selected=${value === chosen}>${text}</option>`;
  const listen = ({ target }: Event) => choose((target as HTMLSelectElement).value);
  return html`<select aria-label=${label ?? nothing} @change=${listen}>${Object.entries(texts).map(option)}</select>`;
}

export const newLink = (kind: string, filters: readonly Filter[] = []) =>
  html`<a class="button primary" href=${addressOf({ kind, view: 'new', filters })}>New ${words(kind)}</a>`;

export const toOverview = html`<a class="button" href="explore">Overview</a>`;

/** Says in one sentence why a page has no content, and offers the buttons that help. */
export const notice = (sentence: string, buttons: unknown, classes = 'empty') =>
  html`<div class=${classes} .style=${classes === 'empty' ? 'gap: 12px; padding: 8vh 0; justify-items: center' : ''}>
    <b>${sentence}.</b> <div class="row">${buttons}</div></div>`;

/** The arrow keys move from link to link in tables, and in the matches of a text. */
export function moveInTable(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const from = event.target as HTMLElement;
  const place = from.closest<HTMLTableRowElement>('tr, #everywhere');
  if (!place || !step || from.matches('select, input:not([type=checkbox])')) return;
  const stopsIn = (within?: Element) =>
    [...(within?.querySelectorAll<HTMLElement>('a, input, button') ?? [])].filter((stop) => stop.checkVisibility());
  const rows = [...(place.closest('table')?.rows ?? [])];
  const row = rows[rows.indexOf(place) + step];
  const below = stopsIn(row?.cells[from.closest<HTMLTableCellElement>('th, td')?.cellIndex ?? 0])[0] ?? stopsIn(row)[0];
  const beside = stopsIn(place)[stopsIn(place).indexOf(from) + step];
  const next = from.closest('tr') && /Up|Down/.test(event.key) ? below : beside;
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Without https, browsers have no other clipboard than their own command. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement('textarea'), { value: text });
  // Outside of an open dialog, it could not be selected.
  const from = document.activeElement as HTMLElement;
  from.after(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  from.focus();
}

/** Opens an empty dialog, which is removed once it is closed. Another page closes it. */
export function openDialog(label: string): HTMLDialogElement {
  const dialog = Object.assign(document.createElement('dialog'), { className: 'floats pad', ariaLabel: label });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
