/** Draws the fields of a form, made from the schema. */
import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { timeZone } from './clock.ts';
import { type Draft, longTexts } from './draft.ts';
import { isLink, kindOf, linkOf, title } from './kinds.ts';
import { picker } from './picker.ts';
import type { Data } from './service.ts';

/** Draws the inputs of a field with its label, and an issue or a remark below. */
export function fieldInput(draft: Draft, name: string) {
  const { kind, issues } = draft;
  const { [name]: type = '' } = kindOf(kind).inputs;
  if (type === 'ExternalIds') return externalIdInputs(draft);
  const [id, label, required] = [`field-${name}`, title(linkOf(name)), kindOf(kind).required.includes(name)];
  const entry = draft.entryOf(name);
  const error = issues.find(({ field }) => field === name)?.message;
  if (type === 'Boolean')
    return html`<label class="row full"><input type="checkbox" name=${name} .checked=${live(entry)}> ${label}</label>`;
  if (isLink(type)) {
    const onPick = (target: Data | undefined) => draft.enter(name, target ?? '');
    const value = entry === '' ? undefined : (entry as Data);
    return html`${picker({ kind: type, name, of: kind, label, required, error, value, onPick })}`;
  }
  const text = error ?? (type === 'DateTime' ? draft.timeOf(name).remark : undefined);
  const [invalid, describedBy] = [error ? 'true' : nothing, text ? `${id}-error` : nothing];
  const below = text && html`<small class=${error ? 'error' : ''} id=${describedBy}>${text}</small>`;
  const isLong = longTexts.includes(name);
  const inputOf = (inputType: string) => html`<input id=${id} name=${name} type=${inputType} step="any" max="9999-12-31"
    .value=${live(entry)} autocomplete="off" ?required=${required} aria-invalid=${invalid} aria-describedby=${describedBy}>`;
  const area = html`<textarea id=${id} name=${name} rows="4" .value=${live(entry)} aria-invalid=${invalid}
    aria-describedby=${describedBy}></textarea>`;
  const dateAndTime = html`<span class="row pair">${inputOf('date')}
    <input name=${`${name}.time`} type="time" step="any" .value=${live(draft.entryOf(`${name}.time`))}
      aria-label=${`${label}, time`} title=${`The time in ${timeZone}; empty for the whole day`}></span>`;
  const other = isLong ? area : inputOf(['Float', 'Int'].includes(type) ? 'number' : 'text');
  return html`<div class=${isLong ? 'field full' : 'field'}><label for=${id}>${label}</label>
    ${type === 'DateTime' ? dateAndTime : other} ${below}</div>`;
}

function externalIdInputs(draft: Draft) {
  const issues = draft.issues.filter(({ field }) => field.startsWith('externalIds'));
  const known = (system: string) => html`<label class="field">${system}
    <input name=${`externalIds.${system}`} .value=${live(draft.entryOf(`externalIds.${system}`))}></label>`;
  const input = (row: number, part: string, label: string, placeholder: string) => {
    const isInvalid = issues.some(({ field }) => field === `externalIds+${row}`);
    return html`<input name=${`externalIds${part}${row}`} .value=${live(draft.entryOf(`externalIds${part}${row}`))}
      aria-label=${label} placeholder=${placeholder} aria-invalid=${isInvalid ? 'true' : nothing}>`;
  };
  const added = (_: unknown, row: number) => html`<div class="field full"><span class="row pair">
    ${input(row, '+', 'System', 'System, such as erp')}
    ${input(row, '=', 'ID in this system', 'ID in this system')}</span></div>`;
  return html`<h2 class="full">External IDs</h2>
    ${Object.keys(draft.record.externalIds ?? {}).map(known)} ${draft.addedIds.map(added)}
    ${issues.map(({ message }) => html`<small class="full error" role="alert">${message}</small>`)}`;
}
