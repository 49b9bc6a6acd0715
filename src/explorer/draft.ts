/** The entries of a form: reads their values, checks them, and stores them. */
import { capitalized } from '../model/labels.ts';
import { findClashes } from './clashes.ts';
import { clockTexts, dayMs, isReversed, movedDay, readTime } from './clock.ts';
import { inOrder, isFinished, isLink, kindOf, linkOf, numberedName, words } from './kinds.ts';
import { fold } from './matches.ts';
import { namesOf, query, systems } from './queries.ts';
import { type Data, read } from './service.ts';
import { timeTexts } from './values.ts';
import { store } from './writes.ts';

export const longTexts = ['notes', 'description'];

/** The names of the fields: the name is first, long texts and external IDs are last. `days` move start and end. */
export function inputNames(kind: string): readonly string[] {
  const last = [...longTexts, 'externalIds'];
  const rank = (name: string) => (name === 'name' ? -2 : last.indexOf(name));
  const names = inOrder(kind, Object.keys(kindOf(kind).inputs)).toSorted((a, b) => rank(a) - rank(b));
  return names.flatMap((name) => (name === 'endDate' ? [name, 'days'] : name));
}

export const period = ['startDate', 'endDate'] as const;

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

const daysOf = (entry: Entry): number => (/^-?\d{1,4}$/.test(entryText(entry)) ? Number(entry) : 0);

/** With the name of the field or of its input. */
type FieldIssue = { readonly field: string; readonly message: string };

/** By the codes of issues. */
export const problems: Readonly<Record<string, string>> = {
  changed: 'somebody has changed the record meanwhile',
  clash: 'the asset has another allocation at this time',
  'no-record': 'somebody has deleted this record meanwhile',
  unknown: 'the service did not say whether it has stored this. Look before you save again',
};

export class Draft {
  readonly kind: string;
  /** The record that the entries are based on, or the values that a new one begins with. */
  record: Data;
  /** Why the entries could not be stored. */
  issues: readonly FieldIssue[] = [];
  problem = '';
  isBusy = false;
  /** The doubts that are shown, with the values: confirmed, the same ones do not keep these from being stored. */
  doubts = '';
  /** By the names of their inputs. A restored value is no entry. */
  readonly #entries = new Map<string, Entry>();
  /** The entry of the end that a start has moved. */
  #movedEnd: Entry | undefined;
  readonly #redraw: () => void;

  constructor(kind: string, record: Data, redraw = () => {}) {
    [this.kind, this.record, this.#redraw] = [kind, record, redraw];
  }

  show(shown: Partial<Pick<Draft, 'issues' | 'problem' | 'doubts' | 'isBusy'>> = {}): void {
    Object.assign(this, { issues: [], problem: '', doubts: '', isBusy: false }, shown);
    this.#redraw();
  }

  /** The beginning of the message of a problem. */
  get outcome(): string {
    return this.problem === problems.unknown ? 'May be saved' : 'Not saved';
  }

  /** Bases the entries on another state of the record. */
  rebase(record: Data): this {
    [this.record, this.problem, this.doubts] = [record, '', ''];
    for (const [input, entry] of this.#entries) this.#set(input, entry);
    return this;
  }

  /** True for a later state of the record with the same values, as after the undo of a deletion. */
  isRestored(record: Data): boolean {
    const { kind } = this;
    const valuesOf = (of: Data) => JSON.stringify(inputNames(kind).map((name) => new Draft(kind, of).valueOf(name)));
    return record.updatedAt > this.record.updatedAt && valuesOf(record) === valuesOf(this.record);
  }

  #set(input: string, entry: Entry): void {
    // An entry stays where another value would be proposed.
    const isGiven = !this.#isProposed(input) && entryText(entry) === entryText(this.#given(input));
    if (isGiven) this.#entries.delete(input);
    else this.#entries.set(input, entry);
  }

  enter(input: string, entry: Entry): void {
    if (input === 'days') this.#move(daysOf(entry) - daysOf(this.entryOf('days')));
    if (input === 'endDate') this.#movedEnd = undefined;
    if (input === 'startDate') this.#moveEnd(entry);
    this.#set(input, entry);
    this.show();
  }

  /** The clock shows the same time on the other day. */
  #move(days: number): void {
    const dates = period.map((name) => [name, entryText(this.entryOf(name))] as const);
    for (const [name, day] of dates) if (day) this.#set(name, movedDay(day, days));
  }

  /** An end that somebody has entered stays. */
  #moveEnd(start: Entry): void {
    const end = this.#endWith(start);
    if (!end || this.#entries.get('endDate') !== this.#movedEnd) return;
    this.#set('endDate', end);
    this.#movedEnd = this.#entries.get('endDate');
  }

  /** The end of the record. A start that is moved past it takes it along, by the same days. */
  #endWith(day: Entry): string {
    const [start = '', end = ''] = period.map((name) => entryText(storedEntry(this.kind, this.record, name)));
    const [startTime = '', endTime = ''] = period.map((name) => entryText(this.entryOf(`${name}.time`)));
    const isPast = start && start <= end && `${end} ${endTime || '24'}` < `${entryText(day)} ${startTime}`;
    return isPast ? movedDay(end, (Date.parse(entryText(day)) - Date.parse(start)) / dayMs) : end;
  }

  /** Takes a field from another draft. */
  take(draft: Draft, name: string): this {
    const isTime = kindOf(this.kind).inputs[name] === 'DateTime';
    for (const input of isTime ? [name, `${name}.time`] : [name]) this.enter(input, draft.entryOf(input));
    return this;
  }

  /** Takes the entry of an input. The input of a picker has no name, but may be wrong now. */
  readonly enterInput = ({ target }: Event): void => {
    const { name, type, checked, value } = target as HTMLInputElement;
    // Most work ends on the day on which it starts.
    if (name === 'endDate.time' && value && !this.entryOf('endDate')) this.#set('endDate', this.entryOf('startDate'));
    if (name) this.enter(name, type === 'checkbox' ? checked : value);
    else this.show();
  };

  entryOf(input: string): Entry {
    return this.#entries.get(input) ?? this.#given(input);
  }

  /** The entry without a change: of the record, or a proposal. */
  #given(input: string): Entry {
    const stored = storedEntry(this.kind, this.record, input);
    return stored === '' ? this.#proposalOf(input) : stored;
  }

  #isProposed(input: string): boolean {
    return this.kind === 'WorkOrder' && this.record.id === undefined && ['locationId', 'endDate'].includes(input);
  }

  /** A new work order is where its asset is, and ends on the day on which it starts. */
  #proposalOf(input: string): Entry {
    if (!this.#isProposed(input)) return '';
    if (input === 'endDate') return clockTexts(this.timeOf('startDate').value)[0];
    return (this.entryOf('assetId') as Data).currentLocation ?? '';
  }

  /** The names of the fields with entries. */
  get changed(): readonly string[] {
    const names = [...this.#entries.keys()].map((input) => input.replace(/[.+=].*/s, ''));
    return [...new Set(names)].filter((name) => name !== 'days');
  }

  /** The added external IDs, and an empty one after the last ID. */
  get addedIds(): readonly (readonly [system: string, id: string])[] {
    const text = (input: string) => entryText(this.entryOf(input)).trim();
    const pair = (_: unknown, row: number) => [text(`externalIds+${row}`), text(`externalIds=${row}`)] as const;
    const rowOf = (input: string) => (/^externalIds[+=]/.test(input) ? Number(input.slice(12)) : -1);
    return Array.from({ length: Math.max(-1, ...[...this.#entries.keys()].map(rowOf)) + 2 }, pair);
  }

  timeOf(name: string) {
    const [date, time] = [name, `${name}.time`].map((input) => entryText(this.entryOf(input))) as [string, string];
    return readTime(date, time, this.record[name] ?? undefined);
  }

  /** Explains a value that can be read in two ways, or that the form proposes. */
  remarkOf(name: string): string | undefined {
    const [entry, asset] = [this.entryOf(name), this.entryOf('assetId') as Data];
    if (name === 'locationId' && entry === asset.currentLocation) return 'A proposal: the asset is here now.';
    if (kindOf(this.kind).inputs[name] !== 'DateTime') return undefined;
    const weekday = () => new Date(String(entry)).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
    const order = name === 'endDate' ? this.#endRemark(entry) : '';
    return this.timeOf(name).remark ?? (entry ? weekday() + order : undefined);
  }

  /** Compares the end with the start. */
  #endRemark(end: Entry): string {
    if (isReversed(this.timeOf('startDate').value, this.timeOf('endDate').value)) return ', before the start';
    if (this.#entries.has('endDate')) return end === this.#movedEnd ? ', moved with the start' : '';
    return end === this.#proposalOf('endDate') ? ', the day of the start: a proposal' : '';
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

  /** Mistakes that the service would accept, or find too late. */
  get mistakes(): readonly FieldIssue[] {
    if (Object.keys(this.item).length === 0)
      return [{ field: inputNames(this.kind)[0] ?? '', message: 'Nothing is entered yet.' }];
    const times = this.changed.filter((name) => kindOf(this.kind).inputs[name] === 'DateTime');
    const wrong = times.flatMap((field) => {
      const { value, remark } = this.timeOf(field);
      return value === null && remark ? [{ field, message: remark }] : [];
    });
    const field = this.entryOf('startDate') === this.entryOf('endDate') ? 'endDate.time' : 'endDate';
    if (times.length > 0 && isReversed(this.timeOf('startDate').value, this.timeOf('endDate').value))
      wrong.push({ field, message: 'The end is before the start.' });
    return [...wrong, ...this.#idIssues()];
  }

  /** Shows mistakes, and returns false if there are any. */
  check(form: HTMLFormElement | null, issues = this.mistakes): boolean {
    // A date that is not whole has no value, like a cleared one.
    if (this.isBusy || !form?.reportValidity()) return false;
    if (issues.length > 0) this.show({ issues });
    return issues.length === 0;
  }

  #idIssues(): readonly FieldIssue[] {
    const taken = new Set(Object.keys(this.record.externalIds ?? {}));
    return this.addedIds.flatMap(([system, id], row) => {
      const field = `externalIds+${row}`;
      if (!system && !id) return [];
      if (!system || !id) return { field, message: 'Enter both the system and the ID.' };
      const other = systems.has(system) ? system : [...systems].find((own) => fold(own) === fold(system));
      if (other && other !== system) return { field, message: `Other records call this system “${other}”.` };
      if (taken.has(system)) return { field, message: `The record has an ID of ${system} already.` };
      taken.add(system);
      return [];
    });
  }

  /** The values that may clash, if the record comes to its asset or time. */
  get #booking(): Data {
    const [names, { id }] = [['assetId', ...period], this.record];
    // Finished work occupied nothing.
    const isReopened = isFinished(this.record.status ?? {});
    const isMoved = id === undefined || isReopened || this.changed.some((name) => names.includes(name));
    const values = names.map((name) => [name, isMoved ? this.valueOf(name) : null]);
    return { id, status: this.entryOf('statusId'), ...Object.fromEntries(values) };
  }

  /** Says which other records have the entered number and external IDs. */
  async #findHolders(): Promise<readonly FieldIssue[]> {
    const issues: FieldIssue[] = [];
    const { list } = kindOf(this.kind);
    const find = async (field: string, noun: string, where: object) => {
      const [holder] = (await read(query(list, { first: 1, where }, `nodes { ${namesOf(this.kind)} }`)))[list].nodes;
      if (holder) issues.push({ field, message: `${numberedName(holder)} has this ${noun} already.` });
    };
    const uid = this.changed.includes('uid') && this.valueOf('uid');
    if (uid) await find('uid', 'number', { uid: { eq: uid } });
    for (const [key, value] of Object.entries(this.valueOf('externalIds') ?? {})) {
      if (this.record.externalIds?.[key] === value) continue;
      const row = this.addedIds.findIndex(([system]) => system === key);
      await find(row < 0 ? `externalIds.${key}` : `externalIds+${row}`, 'ID', { externalIds: { key, value } });
    }
    return issues;
  }

  /** Names another record that an asset has at the same time. All of the given ones may be moved together. */
  async #findClash(drafts: readonly Draft[]): Promise<string> {
    const { kind } = this;
    const bookings = drafts.map((draft) => draft.#booking);
    const [clash, ...others] = await findClashes(kind, bookings);
    if (!clash) return '';
    const { asset, assetId, project, startDate, endDate, ...other } = clash;
    const [start, end] = [timeTexts(startDate), timeTexts(endDate ?? '')];
    const last = end.day === start.day ? end.clock : end.text;
    const name =
      kind === 'WorkOrder' ? numberedName(other) : `an allocation${project ? ` for ${numberedName(project)}` : ''}`;
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    const holder = asset ? numberedName(asset) : assetId;
    return `${holder} has ${name} (${start.text}${last && ` to ${last}`})${more} at this time`;
  }

  /** Stores the records of these drafts, and returns them. Otherwise shows why they are refused, or doubts. */
  async store(drafts: readonly Draft[], isConfirmed: boolean) {
    this.show({ isBusy: true, doubts: this.doubts });
    const input = drafts.map(({ item }) => item);
    let doubts = '';
    try {
      const [issues, problem] = [await this.#findHolders(), await this.#findClash(drafts)];
      doubts = JSON.stringify([issues, problem, input]);
      const isKnown = isConfirmed && this.doubts === doubts;
      if (isKnown || !(problem || issues.length > 0)) return await store(this.kind, input, !isKnown);
      const isTaken = issues.some(({ field }) => field === 'uid');
      const doubt = problem || 'another record has an ID that you have entered';
      this.show(isTaken ? { issues } : { issues, problem: doubt, doubts });
    } catch (error) {
      const { message, items = [], mayBeStored } = error as Data;
      const issues = items.flatMap(({ field = '', code, message }: Data) => {
        const path = field.replace(/\..*/s, '');
        const name = inputNames(this.kind).find((own) => [path, `${path}Id`].includes(own));
        if (!name) return [];
        const texts: Data = {
          cycle: 'This is the record itself, or a part of it',
          'no-record': `This ${words(kindOf(this.kind).inputs[name] ?? '')} is not stored here`,
        };
        return { field: name, message: `${texts[code] ?? capitalized(message)}.` };
      });
      if (!items.some(({ code }: Data) => code === 'clash')) doubts = '';
      const known = mayBeStored ? [problems.unknown] : items.flatMap(({ code }: Data) => problems[code] ?? []);
      const [problem = items[0]?.message ?? message] = known;
      this.show({ ...(issues.length > 0 ? { issues } : { problem }), doubts });
    }
    return undefined;
  }
}
