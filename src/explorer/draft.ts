/** The entries of a form: reads their values, checks them, and stores them. */
import { clockTexts, isReversed, readTime } from './clock.ts';
import { inOrder, isLink, kindOf, linkOf } from './kinds.ts';
import type { Data } from './service.ts';
import { store } from './writes.ts';

export const longTexts = ['notes', 'description'];

/** The names of the fields: the name is first, long texts and external IDs are last. */
export function inputNames(kind: string): readonly string[] {
  const last = [...longTexts, 'externalIds'];
  const rank = (name: string) => (name === 'name' ? -2 : last.indexOf(name));
  return inOrder(kind, Object.keys(kindOf(kind).inputs)).toSorted((a, b) => rank(a) - rank(b));
}

/** A text, a box that is checked or not, or the target of a link. */
type Entry = string | boolean | Data;

const entryText = (entry: Entry): string => String((entry as Data).id ?? entry);

/** The entry of a stored record in an input. A link to a record that is not stored here has an ID only. */
function storedEntry(kind: string, record: Data, input: string): Entry {
  const [name = '', part = ''] = input.split(/\.(.*)/s);
  const [type, value] = [kindOf(kind).inputs[name] ?? '', record[name] ?? ''];
  if (isLink(type)) return record[linkOf(name)] ?? (value && { id: value });
  if (type === 'Boolean') return value === true;
  if (type === 'DateTime') return clockTexts(value)[part ? 1 : 0];
  if (type === 'ExternalIds') return value[part] ?? '';
  // Inputs drop line breaks, and text areas have one form of them: neither is a change.
  return longTexts.includes(name) ? value.replace(/\r\n?/g, '\n') : String(value).replace(/[\r\n]/g, '');
}

interface FieldIssue {
  /** The name of the field or of its input. */
  readonly field: string;
  readonly message: string;
}

/** Messages of the service begin with a small letter. */
const sentence = (message: string): string => `${message.replace(/^./, (letter) => letter.toUpperCase())}.`;

export class Draft {
  readonly kind: string;
  /** The record that the entries are based on, or the values that a new one begins with. */
  record: Data;
  /** Why the entries could not be stored. */
  issues: readonly FieldIssue[] = [];
  problem = '';
  isBusy = false;
  /** By the names of their inputs. A restored value is no entry. */
  readonly #entries = new Map<string, Entry>();
  #idRows = 1;
  readonly #redraw: () => void;

  constructor(kind: string, record: Data, redraw: () => void) {
    [this.kind, this.record, this.#redraw] = [kind, record, redraw];
  }

  #show({ issues = [], problem = '', isBusy = false }: Partial<Pick<Draft, 'issues' | 'problem' | 'isBusy'>>): void {
    [this.issues, this.problem, this.isBusy] = [issues, problem, isBusy];
    this.#redraw();
  }

  /** Bases the entries on another state of the record. */
  rebase(record: Data): this {
    this.record = record;
    for (const [input, entry] of this.#entries) this.#set(input, entry);
    return this;
  }

  #set(input: string, entry: Entry): void {
    if (entryText(entry) === entryText(storedEntry(this.kind, this.record, input))) this.#entries.delete(input);
    else this.#entries.set(input, entry);
  }

  enter(input: string, entry: Entry): void {
    this.#set(input, entry);
    if (/^externalIds=/.test(input)) this.#idRows = Math.max(this.#idRows, Number(input.slice(12)) + 2);
    this.#show({});
  }

  /** Takes the entry of an input. The input of a picker has no name. */
  readonly enterInput = ({ target }: Event): void => {
    const { name, type, checked, value } = target as HTMLInputElement;
    if (name) this.enter(name, type === 'checkbox' ? checked : value);
  };

  entryOf(input: string): Entry {
    return this.#entries.get(input) ?? storedEntry(this.kind, this.record, input);
  }

  /** The names of the fields with entries. */
  get changed(): readonly string[] {
    return [...new Set([...this.#entries.keys()].map((input) => input.replace(/[.+=].*/s, '')))];
  }

  /** The added external IDs, and an empty one after the last ID. */
  get addedIds(): readonly (readonly [system: string, id: string])[] {
    const text = (input: string) => entryText(this.entryOf(input)).trim();
    const pair = (_: unknown, row: number) => [text(`externalIds+${row}`), text(`externalIds=${row}`)] as const;
    return Array.from({ length: this.#idRows }, pair);
  }

  timeOf(name: string) {
    const [date, time] = [name, `${name}.time`].map((input) => entryText(this.entryOf(input))) as [string, string];
    return readTime(date, time, this.record[name] ?? undefined);
  }

  /** The value of a field; null for an empty one. */
  valueOf(name: string): unknown {
    const [type, entry] = [kindOf(this.kind).inputs[name] ?? '', this.entryOf(name)];
    if (type === 'Boolean') return entry;
    if (type === 'DateTime') return this.timeOf(name).value;
    if (type === 'ExternalIds') return this.#externalIds();
    const text = entryText(entry);
    if (text.trim() === '') return null;
    return ['Float', 'Int'].includes(type) ? Number(text) : text;
  }

  #externalIds(): Data | null {
    const known = Object.entries(this.record.externalIds ?? {}).map(([system, stored]) => {
      const entry = this.#entries.get(`externalIds.${system}`);
      return [system, entry === undefined ? stored : entryText(entry).trim()];
    });
    const ids = [...known, ...this.addedIds].filter(([system, id]) => system && id);
    return ids.length > 0 ? Object.fromEntries(ids) : null;
  }

  /** The item of the mutation: of a new record, all that has a value. */
  get item(): Data {
    const { id, updatedAt } = this.record;
    const valuesOf = (names: readonly string[]) => names.map((name) => [name, this.valueOf(name)] as const);
    if (id !== undefined) return { id, ifUpdatedAt: updatedAt, ...Object.fromEntries(valuesOf(this.changed)) };
    const values = valuesOf(inputNames(this.kind)).filter(([, value]) => value !== null && value !== false);
    return Object.fromEntries(values);
  }

  /** Shows mistakes that the service would accept, or find too late, and returns false if there are any. */
  check(form: HTMLFormElement | null, others: readonly FieldIssue[] = []): boolean {
    // A date that is not whole has no value, like a cleared one.
    if (this.isBusy || !form?.reportValidity()) return false;
    const times = this.changed.filter((name) => kindOf(this.kind).inputs[name] === 'DateTime');
    const wrong = times.flatMap((field) => {
      const { value, remark } = this.timeOf(field);
      return value === null && remark ? [{ field, message: remark }] : [];
    });
    if (times.length > 0 && isReversed({ startDate: this.valueOf('startDate'), endDate: this.valueOf('endDate') }))
      wrong.push({ field: 'endDate', message: 'The end is before the start.' });
    const issues = [...wrong, ...this.#idIssues(), ...others];
    if (issues.length > 0) this.#show({ issues });
    return issues.length === 0;
  }

  #idIssues(): readonly FieldIssue[] {
    const taken = new Set(Object.keys(this.record.externalIds ?? {}));
    return this.addedIds.flatMap(([system, id], row) => {
      const field = `externalIds+${row}`;
      if (!system && !id) return [];
      if (!system || !id) return { field, message: 'Enter both the system and the ID.' };
      if (taken.has(system)) return { field, message: `The record has an ID of ${system} already.` };
      taken.add(system);
      return [];
    });
  }

  /** Stores records with the entries, and returns them. Otherwise shows why they are refused. */
  async store(input: readonly Data[]) {
    this.#show({ isBusy: true });
    try {
      return await store(this.kind, input);
    } catch (error) {
      const { message, items = [] } = error as Data;
      const issues = items.flatMap(({ field = '', message }: Data) => {
        const path = field.replace(/\..*/s, '');
        const name = inputNames(this.kind).find((own) => [path, `${path}Id`].includes(own));
        return name ? [{ field: name, message: sentence(message) }] : [];
      });
      const isOfSome = input.length > 1 && items.length > 0;
      const problem = isOfSome ? `${items.length} of ${input.length}: ${items[0].message}` : message;
      this.#show(issues.length > 0 ? { issues } : { problem });
      return undefined;
    }
  }
}
