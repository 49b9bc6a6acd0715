/** Draws forms and their fields, made from the schema. */
import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { ref } from 'lit-html/directives/ref.js';
import { timeZone } from './clock.ts';
import { type Draft, longTexts } from './draft.ts';
import { isLink, kindOf, linkOf, title } from './kinds.ts';
import { picker } from './picker.ts';
import { systems } from './queries.ts';
import type { Data, Page } from './service.ts';
import { button } from './values.ts';

/** The keyboard is beside the answer of a problem, and not on it: a second Enter stores nothing. */
const focus = (problem?: Element) => queueMicrotask(() => (problem as HTMLElement | undefined)?.focus());

/**
 * While the draft is stored, its inputs cannot be changed, and the button keeps the keyboard. Doubts have a button of
 * their own, away from that of the form: a double click stores nothing that was asked about.
 */
export function draftForm(
  draft: Draft,
  label: string,
  save: (isConfirmed: boolean) => void,
  inputs: unknown,
  below: unknown,
) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    event.submitter?.focus();
    save(false);
  };
  const press = (event: KeyboardEvent) => {
    const isOnButton = (event.target as HTMLElement).matches('button');
    if (event.key !== 'Enter' || isOnButton || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>('.primary')?.click();
  };
  const { isBusy, problem, doubts } = draft;
  const confirm = doubts ? button('Save all the same', () => save(true), 'end') : nothing;
  const notice = html`<p class="notice card pad row" role="alert" tabindex="-1" ${ref(focus)}>
    <span><b class="error">${draft.outcome}:</b> ${problem}.</span> ${confirm}</p>`;
  return html`${problem ? notice : nothing}
    <form aria-label=${label} aria-busy=${isBusy} @submit=${submit} @keydown=${press} @input=${draft.enterInput}>
      <fieldset class="form" ?disabled=${isBusy}>${inputs}</fieldset> ${below}
    </form>`;
}

/** Draws the inputs of a field with its label, and an issue or a remark below. */
export function fieldInput(draft: Draft, name: string, page: Page) {
  const { kind, issues } = draft;
  const { [name]: type = '' } = kindOf(kind).inputs;
  if (type === 'ExternalIds') return externalIdInputs(draft);
  const isNewLabel = kind === 'Label' && name === 'name' && draft.record.id === undefined;
  const [id, required] = [`field-${name}`, isNewLabel || kindOf(kind).required.includes(name)];
  const label = { days: 'Move start and end by days', color: 'Colour' }[name] ?? title(linkOf(name));
  const entry = draft.entryOf(name);
  if (type === 'Boolean')
    return html`<label class="row full"><input type="checkbox" name=${name} .checked=${live(entry)}> ${label}</label>`;
  const error = issues.find(({ field }) => [name, `${name}.time`].includes(field));
  const remark = error?.message ?? draft.remarkOf(name);
  const validity = (input: string) => (error?.field === input ? 'true' : nothing);
  const [invalid, describedBy] = [validity(name), remark ? `${id}-error` : nothing] as const;
  const [isLong, isNumber] = [longTexts.includes(name), ['Float', 'Int', ''].includes(type)];
  const inputOf = (inputType: string) => html`<input id=${id} name=${name} type=${inputType} step="any" max="9999-12-31"
    .value=${live(entry)} autocomplete="off" ?required=${required} aria-required=${required || nothing}
    aria-invalid=${invalid} aria-describedby=${describedBy}>`;
  const area = html`<textarea id=${id} name=${name} rows="4" .value=${live(entry)} aria-invalid=${invalid}
    aria-describedby=${describedBy}></textarea>`;
  const dateAndTime = html`<span class="row pair">${inputOf('date')}
    <input name=${`${name}.time`} type="time" step="any" .value=${live(draft.entryOf(`${name}.time`))}
      aria-label=${`${label}, time`} aria-invalid=${validity(`${name}.time`)} aria-describedby=${describedBy}
      title=${`The time in ${timeZone}; empty for the whole day`}></span>`;
  const color = () => html`<span class="row pair">
    <input id=${id} name=${name} type="color" .value=${live(entry || '#808080')}>
    ${entry ? button('No colour', () => draft.enter(name, '')) : html`<small>No colour yet</small>`}</span>`;
  const onPick = (target?: Data) => draft.enter(name, target ?? '');
  const [value, mayCreate] = [(entry || undefined) as Data | undefined, page.mayWrite(type)];
  const link = () =>
    picker({ id, kind: type, name, of: kind, required, invalid, describedBy, value, onPick, mayCreate });
  const text = isLong ? area : name === 'color' ? color() : inputOf(isNumber ? 'number' : 'text');
  return html`<div class=${isLong ? 'field full' : 'field'}>
    <span class="row"><label for=${id}>${label}</label> ${required ? html`<small aria-hidden="true">required</small>` : ''}</span>
    ${isLink(type) ? link() : type === 'DateTime' ? dateAndTime : text}
    ${remark && html`<small class=${error ? 'error' : ''} id=${`${id}-error`}>${remark}</small>`}</div>`;
}

function externalIdInputs(draft: Draft) {
  const issueOf = (name: string) => draft.issues.find(({ field }) => field === name)?.message;
  const error = (name: string) =>
    issueOf(name) && html`<small class="full error" role="alert">${issueOf(name)}</small>`;
  const known = (system: string) => html`<label class="field">${system}
    <input name=${`externalIds.${system}`} .value=${live(draft.entryOf(`externalIds.${system}`))}
      aria-invalid=${issueOf(`externalIds.${system}`) ? 'true' : nothing}> ${error(`externalIds.${system}`)}</label>`;
  const input = (row: number, part: string, label: string, placeholder = label) =>
    html`<input name=${`externalIds${part}${row}`} .value=${live(draft.entryOf(`externalIds${part}${row}`))}
      aria-label=${label} placeholder=${placeholder} list=${part === '+' ? 'systems' : nothing} aria-invalid=${issueOf(`externalIds+${row}`) ? 'true' : nothing}>`;
  const added = (_: unknown, row: number) => html`<div class="field full"><span class="columns">
    ${input(row, '+', 'System', 'System, such as erp')} ${input(row, '=', 'ID in this system')}</span>
    ${error(`externalIds+${row}`)}</div>`;
  return html`<h2 class="full">External IDs</h2>
    <datalist id="systems">${[...systems].map((system) => html`<option value=${system}></option>`)}</datalist>
    ${Object.keys(draft.record.externalIds ?? {}).map(known)} ${draft.addedIds.map(added)} ${error('externalIds')}`;
}
