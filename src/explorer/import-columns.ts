/** The columns of files to import: the field of each, and how its values are read. */
import { html, nothing } from 'lit-html';
import { columnFields, columnKey } from '../import/columns.ts';
import { type Choices, columnId, hasHeadings, type ProposedColumn, targetColumn } from '../import/proposal.ts';
import { parseMonth } from '../import/values.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { inOrder, kindOf, linkOf, title, words } from './kinds.ts';
import { button, menu, tableOf } from './values.ts';

interface ColumnForm {
  readonly isOpen: boolean;
  readonly columns: readonly ProposedColumn[];
  readonly choices: Choices;
  change(changed: Partial<Choices>): void;
  /** Reads the files anew. */
  read(encoding: string | undefined, isHeadless?: boolean): void;
}

type Texts = Readonly<Record<string, string>>;

/** By the options of the command, which its messages name. */
export const optionTitles: Texts = {
  dates: 'Dates are written as',
  encoding: 'Encoding',
  'time-zone': 'Time zone',
  'decimal-comma': 'Numbers are written as',
  blank: 'Empty cells',
  'upsert-by': 'Stored records are found by',
};

/** The same for all names of a field: `Status ID` and `statusId`. */
export function keyOf(kind: RecordKind, target: string | null | undefined): string | undefined {
  const column = target ? targetColumn(kind, target) : undefined;
  return column && columnKey(column);
}

export function targetTitle(kind: RecordKind, target: string): string {
  const [field = '', ...system] = target.split('.');
  if (field === 'id') return `ID of a stored ${kind.label}`;
  if (field === 'externalIds' && system.length > 0) return `ID in another system: ${system.join('.')}`;
  const keys = system.filter((part) => part !== 'name' && part !== 'externalIds');
  return [title(field), ...keys.map((key) => `by ${words(key)}`)].join(', ');
}

const chosenTarget = ({ targets }: Choices, column: ProposedColumn) => {
  const target = targets[columnId(column)];
  const found = target ? targetColumn(column.kind, target) : undefined;
  return found?.is === 'skipped' || found?.is === 'unnamed' ? undefined : found;
};

/** False if somebody has to choose a field: no column of an export, such as createdAt, is unknown. */
export const areClear = (columns: readonly ProposedColumn[], { targets }: Choices): boolean =>
  columns.every((it) => it.samples.length === 0 || targets[columnId(it)] || targetColumn(it.kind, it.name.trim()));

export function columnTable(shown: ColumnForm) {
  const { columns, choices, isOpen } = shown;
  const chosen = columns.filter((column) => chosenTarget(choices, column)).length;
  const isSeveral = new Set(columns.map(({ kind }) => kind)).size > 1;
  const row = (column: ProposedColumn) => {
    const values = column.samples.join(' · ');
    return [
      html`<span title=${column.name}>${column.name} <small>${isSeveral ? column.kind.pluralLabel : ''}</small></span>`,
      html`<span title=${values}>${values}</span>`,
      targetMenu(shown, column),
      readAs(shown, column),
    ];
  };
  const heads = { inTheFile: '', firstValues: '', becomes: '', readAs: 'more' };
  const answer = button('No: the first row is a record', () => shown.read(choices.encoding, true));
  const question = html`<p class="notice pad row">No heading is known. Does the first row of the file have headings? ${answer}</p>`;
  return html`${hasHeadings(columns) ? nothing : question}<details ?open=${isOpen}><summary>Columns: ${chosen} of ${columns.length} become fields</summary>
    <div class="card">${tableOf('Columns', heads, columns.map(row))}</div></details>`;
}

function targetMenu({ columns, choices: { targets }, change }: ColumnForm, column: ProposedColumn) {
  const { kind, name } = column;
  const current = keyOf(kind, targets[columnId(column)]);
  const fields = inOrder(kind.name, Object.keys(kindOf(kind.name).inputs)).filter((field) => field !== 'externalIds');
  const others = [...(kind.name === 'Label' ? ['type'] : []), 'id', kind.fields.externalIds && `externalIds.${name}`];
  const byKeys = (name: string) => {
    const link = targetColumn(kind, name);
    const keys = link?.is === 'link' ? matchableFields(link.target).filter((key) => key !== 'name') : [];
    return [name, ...keys.map((key) => `${name}.${key}`)];
  };
  const known = [...fields.map(linkOf).flatMap(byKeys), ...others].filter((target) => target !== undefined);
  const chosen = current === undefined ? '' : (known.find((target) => keyOf(kind, target) === current) ?? current);
  const choose = (value: string) => {
    // A field has one column.
    const isFreed = (other: ProposedColumn) => keyOf(kind, targets[columnId(other)]) === keyOf(kind, value);
    const freed = value ? columns.filter((other) => other.kind === kind && isFreed(other)) : [];
    const cleared = Object.fromEntries(freed.map((other) => [columnId(other), null]));
    change({ targets: { ...targets, ...cleared, [columnId(column)]: value || null } });
  };
  const titles = [...known, chosen].map((target) => [target, targetTitle(kind, target)]);
  return menu({ ...Object.fromEntries(titles), '': 'Leave out' }, chosen, choose, `Field for ${name}`);
}

function readAs({ columns, choices }: ColumnForm, column: ProposedColumn) {
  const { targets, upsertBy = [], years, months, dates = '2026-12-31', decimalComma, timeZone } = choices;
  const { kind, samples, texts } = column;
  const found = chosenTarget(choices, column);
  if (!found) return '–';
  if (upsertBy.includes(`${kind.plural}=${columnKey(found)}`)) return `Finds stored ${kind.pluralLabel}`;
  const [field] = columnFields(found);
  const isBeside =
    field !== columnKey(found) && columns.some((other) => keyOf(kind, targets[columnId(other)]) === field);
  if (isBeside && !field?.startsWith('externalIds')) return 'Names, if they differ from IDs';
  const keyTitles: Texts = { id: 'IDs', any: 'Names or IDs', name: 'Names' };
  if (found.is === 'link') return `${keyTitles[found.by] ?? title(found.by)} of ${found.target.pluralLabel}`;
  if (found.is === 'id') return 'ID of the row, for links to it: it is not stored';
  if (found.is !== 'field') return 'Text';
  const isYears = years && samples.every((text) => /^\d{4}$/.test(text));
  // A time with an offset needs no zone.
  const zone = texts.some((text) => /^[^:]*\d:\d\d[^Z+-]*$/.test(text)) ? `, times in ${timeZone}` : '';
  const forms: Texts = {
    dateTime: isYears
      ? 'The first day of the year'
      : months && samples.every(parseMonth)
        ? 'The first day of the month'
        : `Dates such as ${dates}${zone}`,
    number: `Numbers such as ${decimalComma ? '53,08' : '53.08'}`,
    boolean: 'Yes or no',
    foreignReference: found.isNamed ? 'Names or IDs' : 'IDs',
  };
  return forms[found.field.type] ?? 'Text';
}

const encodings = { '': 'UTF-8', 'windows-1252': 'Windows-1252', 'utf-16le': 'UTF-16' };
const dateForms = ['31.12.2026', '31.12.26', '12/31/2026', '12/31/26', '31/12/2026', '31-12-2026'];

export function settings({ columns, choices, change, read }: ColumnForm) {
  const { blank = 'clear', dates = '', decimalComma, encoding = '', timeZone, upsertBy = [] } = choices;
  const field = (name: string, value: string, texts: Texts, choose: (value: string) => void) =>
    html`<label class="field">${optionTitles[name]} ${menu(texts, value, choose)}</label>`;
  const forms = Object.fromEntries(['', dates, ...dateForms].map((form) => [form, form || '2026-12-31']));
  const setZone = ({ target }: Event) => change({ timeZone: (target as HTMLInputElement).value });
  const keys = keysOf(columns, choices);
  const isOfOneKind = new Set(columns.map(({ kind }) => kind)).size === 1;
  return html`<details><summary>How the values are read</summary>
    <div class="form pad">
      ${field('dates', dates, forms, (value) => change({ dates: value || undefined }))}
      ${field('decimal-comma', String(decimalComma), { false: '53.08', true: '53,08' }, (value) => change({ decimalComma: value === 'true' }))}
      <label class="field">${optionTitles['time-zone']} <input value=${timeZone} @change=${setZone}></label>
      ${field('encoding', encoding, encodings, (value) => read(value || 'utf-8'))}
      ${field('blank', blank, { clear: 'Clear the field', keep: 'Keep the stored value' }, (value) => change({ blank: value as 'keep' }))}
      ${isOfOneKind ? field('upsert-by', upsertBy[0] ?? '', keys, (value) => change({ upsertBy: value ? [value] : [] })) : nothing}
    </div></details>`;
}

/** The columns by which stored records can be found. */
function keysOf(columns: readonly ProposedColumn[], choices: Choices): Texts {
  const found = columns.flatMap((column) => {
    const key = chosenTarget(choices, column);
    const isMatchable = key?.is === 'field' && key.field.type === 'text' && key.field.matchable;
    if (!key || !(key.is === 'id' || key.is === 'externalId' || isMatchable)) return [];
    const [{ kind }, target] = [column, columnKey(key)];
    return [[`${kind.plural}=${target}`, targetTitle(kind, target)] as const];
  });
  return { '': 'Nothing: all rows are new', ...Object.fromEntries(found) };
}
