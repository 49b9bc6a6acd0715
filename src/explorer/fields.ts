/** The inputs of a form, made from the fields of a kind: how they look, and how their values are read. */
import { html, nothing } from 'lit-html';
import { inOrder, isLink, kindOf, linkOf, title, typeOf } from './kinds.ts';
import { picker } from './picker.ts';
import type { Data } from './service.ts';

const longTexts = ['notes', 'description'];

/** The names of the inputs: the name is first, long texts and external IDs are last. */
export function inputNames(kind: string): readonly string[] {
  const last = [...longTexts, 'externalIds'];
  const rank = (name: string) => (name === 'name' ? -2 : last.indexOf(name));
  return inOrder(kind, Object.keys(kindOf(kind).inputs)).toSorted((a, b) => rank(a) - rank(b));
}

export const inputTitle = (name: string): string => title(linkOf(name));

/** The type of the record or entity that an input links to. */
const targetType = (kind: string, name: string): string | undefined => {
  const type = typeOf(kind, linkOf(name));
  return kindOf(kind).inputs[name] === 'ID' && isLink(type) ? type : undefined;
};

/** Returns the value of a record as an input has it. A link without a record here has an ID only. */
export const inputValue = (record: Data, name: string): unknown => record[linkOf(name)]?.id ?? record[name] ?? null;

function linkTarget(record: Data, name: string): Data | undefined {
  const id = record[name];
  return record[linkOf(name)] ?? (id ? { id } : undefined);
}

export const isReversed = ({ startDate, endDate }: Data): boolean =>
  Boolean(startDate && endDate && startDate > endDate);

interface FieldOptions {
  readonly kind: string;
  readonly name: string;
  /** The record as it is, or the values that a new one begins with. */
  readonly record: Data;
  readonly error?: string | undefined;
  /** The external IDs that were added to the form. */
  readonly added?: number;
  onPick?(target: Data | undefined): void;
}

export const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** The date and the time of an input in the time zone of the browser. A date that is stored as such has no time. */
function dateAndTime(value: string | null): readonly [date: string, time: string] {
  if (!value) return ['', ''];
  if (value.endsWith('T00:00:00.000Z')) return [value.slice(0, 10), ''];
  const local = new Date(Date.parse(value) - new Date(value).getTimezoneOffset() * 60_000).toISOString();
  // Browsers show seconds that an input has.
  return [local.slice(0, 10), local.slice(11).replace(/(?::00)?(?:\.000)?Z$/, '')];
}

function externalIdInputs({ record, added = 1 }: FieldOptions) {
  const known = Object.entries(record.externalIds ?? {});
  const blank = (_: unknown, index: number) => html`<div class="field full"><span class="row pair">
    <input name=${`externalIds+${index}`} aria-label="System" placeholder="System, such as erp">
    <input name=${`externalIds=${index}`} aria-label="ID in this system" placeholder="ID in this system">
  </span></div>`;
  return html`<h2 class="full">External IDs</h2>
    ${known.map(
      ([system, id]) =>
        html`<label class="field">${system} <input name=${`externalIds.${system}`} value=${id}></label>`,
    )}
    ${Array.from({ length: added }, blank)}`;
}

/** Draws an input with its label, and its error below. */
export function fieldInput(options: FieldOptions) {
  const { kind, name, record, error, onPick = () => {} } = options;
  const { inputs, required: requiredNames } = kindOf(kind);
  const label = inputTitle(name);
  const required = requiredNames.includes(name);
  const target = targetType(kind, name);
  if (target)
    return html`${picker({ kind: target, name, of: kind, label, required, error, value: linkTarget(record, name), onPick })}`;
  if (inputs[name] === 'ExternalIds') return externalIdInputs(options);
  const value = record[name] ?? null;
  const id = `field-${name}`;
  const [invalid, describedBy] = error ? ['true', `${id}-error`] : [nothing, nothing];
  const message = error ? html`<small class="error" id=${`${id}-error`}>${error}</small>` : nothing;
  if (inputs[name] === 'Boolean')
    return html`<label class="row full"><input type="checkbox" name=${name} ?checked=${value}> ${label}</label>`;
  if (inputs[name] === 'DateTime') {
    const [date, time] = dateAndTime(value);
    return html`<div class="field"><label for=${id}>${label}</label> <span class="row pair">
      <input id=${id} name=${name} type="date" max="9999-12-31" value=${date} ?required=${required}
        aria-invalid=${invalid} aria-describedby=${describedBy}>
      <input name=${`${name}.time`} type="time" step="any" value=${time} aria-label=${`${label}, time`}
        title=${`The time in ${timeZone}; empty for the whole day`}>
    </span>${message}</div>`;
  }
  const isLong = longTexts.includes(name);
  const isNumber = ['Float', 'Int'].includes(inputs[name] ?? '');
  const input = isLong
    ? html`<textarea id=${id} name=${name} rows="4" .defaultValue=${(value ?? '').replaceAll('\r\n', '\n')} aria-invalid=${invalid}
        aria-describedby=${describedBy}></textarea>`
    : html`<input id=${id} name=${name} type=${isNumber ? 'number' : 'text'} step="any" value=${value ?? ''}
        autocomplete="off" ?required=${required} aria-invalid=${invalid} aria-describedby=${describedBy}>`;
  return html`<div class=${isLong ? 'field full' : 'field'}><label for=${id}>${label}</label> ${input} ${message}</div>`;
}

type Control = HTMLInputElement | HTMLTextAreaElement;

const fieldOf = ({ name }: Control): string => name.replace(/[.+=].*/, '');

/** Returns the value of an input; null for an empty one. */
export function readValue(kind: string, name: string, sent: FormData): unknown {
  const type = kindOf(kind).inputs[name];
  const text = String(sent.get(name) ?? '');
  if (type === 'Boolean') return sent.has(name);
  if (text.trim() === '') return null;
  if (type === 'Float' || type === 'Int') return Number(text);
  if (type !== 'DateTime') return text;
  const time = sent.get(`${name}.time`);
  return time ? new Date(`${text}T${time}`).toISOString() : `${text}T00:00:00.000Z`;
}

/** Inputs drop line breaks, and text areas have one form of them: neither is a change. */
const shownText = (control: Control, text: string): string =>
  control instanceof HTMLTextAreaElement ? text.replace(/\r\n?/g, '\n') : text.replace(/[\r\n]/g, '');

/** Returns the external IDs of a form that have changed; null for one that was cleared. */
function readExternalIds(form: HTMLFormElement, sent: FormData, { externalIds = {} }: Data): Data {
  const isKept = (name: string) => {
    const control = form.elements.namedItem(name);
    return control instanceof HTMLInputElement && isShown(control);
  };
  const texts = [...sent]
    .filter(([name]) => !name.startsWith('externalIds.') || !isKept(name))
    .map(([name, text]) => [name, String(text).trim()] as const);
  const entries = texts.flatMap(([name, text]): [string, string | null][] => {
    if (name.startsWith('externalIds.')) return [[name.slice('externalIds.'.length), text || null]];
    const system = sent.get(name.replace('=', '+'));
    return name.startsWith('externalIds=') && system && text ? [[String(system).trim(), text]] : [];
  });
  return Object.fromEntries(entries.filter(([system, id]) => (externalIds?.[system] ?? null) !== id));
}

const controlsOf = (form: HTMLFormElement): readonly Control[] =>
  [...form.elements].filter((control): control is Control => 'name' in control && control.name !== '');

const isShown = (control: Control): boolean =>
  control instanceof HTMLInputElement && control.type === 'checkbox'
    ? control.checked === control.defaultChecked
    : control.value === shownText(control, control.defaultValue);

/** Returns a function that shows new values in unchanged inputs. Once typed in, they would keep their text. */
export function untouched(form: HTMLFormElement): () => void {
  const controls = controlsOf(form).filter((control) => control.type !== 'hidden' && isShown(control));
  return () => {
    for (const control of controls) {
      if (control instanceof HTMLInputElement && control.type === 'checkbox') control.checked = control.defaultChecked;
      else control.value = control.defaultValue;
    }
  };
}

/** Returns the values that somebody has changed; without a record, all values. */
export function changedValues(form: HTMLFormElement, kind: string, record?: Data): Data {
  const sent = new FormData(form);
  const isChanged = (control: Control): boolean => {
    if (control.type === 'hidden') return (control.value || null) !== inputValue(record ?? {}, control.name);
    return record || control.type === 'checkbox' ? !isShown(control) : control.value !== '';
  };
  const names = [...new Set(controlsOf(form).filter(isChanged).map(fieldOf))].filter((name) => name !== 'externalIds');
  const externalIds = readExternalIds(form, sent, record ?? {});
  return {
    ...Object.fromEntries(names.map((name) => [name, readValue(kind, name, sent)])),
    ...(Object.keys(externalIds).length > 0 && { mergeExternalIds: externalIds }),
  };
}
