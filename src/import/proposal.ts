/** Proposes the fields of columns, and the form of their values, for the files of offices. Somebody confirms them. */
import { StartError } from '../errors.ts';
import { textOfSpreadsheet } from '../model/csv.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId, recordKinds } from '../records/index.ts';
import { type Column, type ColumnOptions, columnKey, createColumnFinder, reasonColumn } from './columns.ts';
import type { ImportFile } from './file.ts';
import headings from './headings.json';
import { type Profile, profileNames, profileOf, rowOptions } from './profiles.ts';
import { readRows } from './read.ts';
import { cellText, type SourceRow } from './row.ts';
import { parseMonth, withoutWeekday } from './values.ts';

export interface ProposedColumn {
  readonly kind: RecordKind;
  readonly name: string;
  readonly samples: readonly string[];
  readonly texts: readonly string[];
}

/** How the files are read: as proposed, and as somebody changes it. */
export interface Choices
  extends Pick<Profile, 'blank' | 'dates' | 'years' | 'months' | 'decimalComma' | 'excel' | 'timeZone' | 'upsertBy'> {
  readonly encoding: string | undefined;
  /** The names of columns without headings, as `--columns` takes them. */
  readonly columns?: string | undefined;
  /** By `columnId`, the field, as `--map` takes it. Null leaves the column out. */
  readonly targets: Readonly<Record<string, string | null>>;
  readonly createMissing: readonly string[];
  readonly names: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const columnId = ({ kind, name }: ProposedColumn): string => `${kind.plural} ${name}`;

export function chosenProfile(columns: readonly ProposedColumn[], { encoding, targets, ...choices }: Choices): Profile {
  const kinds = [...new Set(columns.map(({ kind }) => kind))].map((kind) => {
    const ofKind = columns.filter((column) => column.kind === kind);
    const map = Object.fromEntries(ofKind.map((column) => [column.name, targets[columnId(column)] ?? null]));
    return [kind.plural, { map }];
  });
  return { ...choices, createMissing: [...choices.createMissing], kinds: Object.fromEntries(kinds) };
}

/** With the field that it probably means. */
type ReadColumn = ProposedColumn & { readonly target: string | undefined };

const maxRows = 500;

interface ProposeOptions {
  /** Decides what 03/04/2026 means. */
  readonly language: string;
  readonly encoding?: string | undefined;
  readonly isHeadless?: boolean;
  /** The choices for the last files with these columns: they count where the values do not say otherwise. */
  knownChoices?(columns: readonly ProposedColumn[]): Partial<Choices> | undefined;
  /** The files are those of an import that goes on with all its choices. */
  readonly isStopped?: boolean;
}

/** Reads the beginnings of the files. Throws a StartError for one that is no table. */
export async function propose(
  files: readonly ImportFile[],
  { language, encoding, isHeadless, knownChoices, isStopped = false }: ProposeOptions,
): Promise<{ readonly columns: readonly ProposedColumn[]; readonly choices: Choices }> {
  const read = encoding ?? (await proposeEncoding(files));
  const numbered = isHeadless ? await numberColumns(files, read) : undefined;
  const columns: ReadColumn[] = [];
  const rowCounts = new Map<RecordKind, number>();
  let areCorrected = false;
  for (const file of files) {
    const tables = new Map<RecordKind, Map<string, string[]>>();
    // A field has one column: no field is proposed for several of one name, as in exports of Jira.
    const repeated = new Set<string>();
    for (const { kind = file.kind, names, cells } of await firstRows(file, read, numbered)) {
      if (!kind) continue;
      rowCounts.set(kind, (rowCounts.get(kind) ?? 0) + 1);
      const table = tables.get(kind) ?? new Map<string, string[]>();
      tables.set(kind, table);
      const before = new Set<string>();
      for (const [at, name] of names.entries()) {
        if (before.has(name)) repeated.add(name);
        before.add(name);
        const text = textOfSpreadsheet(cellText(cells[at])?.trim() ?? '');
        const texts = table.get(name) ?? [];
        table.set(name, texts);
        if (text) texts.push(text);
      }
    }
    for (const [kind, table] of tables) {
      const names = [...table.keys()].filter((name) => !repeated.has(name));
      const targets = proposeTargets(kind, names, table);
      for (const [name, texts] of table) {
        areCorrected ||= name === reasonColumn;
        if (name === reasonColumn || columns.some((other) => other.kind === kind && other.name === name)) continue;
        const samples = [...new Set(texts)].slice(0, 3);
        columns.push({ kind, name, samples, texts, target: targets.get(name) });
      }
    }
  }
  if (rowCounts.size === 0)
    throw new StartError(`${files.map(({ name }) => name).join(', ')}: there are no rows below the headings`);
  const textsOf = (type: string) => columns.flatMap((column) => (typeOf(column) === type ? column.texts : []));
  const [times, numbers] = [textsOf('dateTime'), textsOf('number')];
  const isMonth = (text: string) => parseMonth(text) !== undefined;
  const ofMonths = columns.filter((column) => typeOf(column) === 'dateTime' && column.texts.some(isMonth));
  const known = knownChoices?.(columns);
  const isPlain = columns.some(({ name }) => name === 'createdAt') && !(await hasMark(files[0]));
  const choices = {
    targets: Object.fromEntries(columns.map((column) => [columnId(column), column.target ?? null])),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    upsertBy: proposeKeys(columns, rowCounts),
    names: {},
    ...known,
    columns: numbered,
    // In another file, an unknown name may be a misspelt one.
    createMissing: (isStopped || areCorrected) && known?.createMissing ? known.createMissing : [],
    // A number with a point would be refused.
    decimalComma:
      numbers.some((text) => /^[+-]?[\d.]*\d,\d+$/.test(text)) ||
      (known?.decimalComma === true && !numbers.some((text) => /^[+-]?\d*\.\d+$/.test(text))),
    encoding: read,
    dates: proposeDates(times, known?.dates, language),
    years: times.some((text) => /^\d{4}$/.test(text)),
    // A date without a day may lack it by mistake.
    months: ofMonths.length > 0 && ofMonths.every(({ texts }) => texts.every(isMonth)),
    excel: !isPlain && files.every(({ format }) => format === 'csv'),
  };
  return { columns, choices };
}

/** The kind with fields for the most headings, of several the given one. */
export async function likelyKind(file: ImportFile, given = kindNamed('Asset')): Promise<RecordKind> {
  // Rows of JSON without any kind are refused.
  const read = file.format === 'json' ? { ...file, kind: kindNamed('Asset') } : file;
  const [{ names } = { names: [] }] = await firstRows(read, await proposeEncoding([file]));
  const fields = (kind: RecordKind) => proposeTargets(kind, names).size;
  return [given, kindNamed('Asset'), ...recordKinds].reduce((best, kind) =>
    fields(kind) > fields(best) ? kind : best,
  );
}

/** An export has a byte order mark if it is for spreadsheets. */
async function hasMark(file: ImportFile | undefined): Promise<boolean> {
  for await (const [first] of file?.bytes() ?? []) return first === 0xef;
  return false;
}

/** In JSON also one of each later kind or set of columns. */
async function firstRows(file: ImportFile, encoding: string | undefined, columns?: string) {
  const kinds = file.kind ? [file.kind] : recordKinds;
  const isKnown = (name: string) => name !== '' && kinds.some((kind) => isHeading(kind, name));
  const rows: SourceRow[] = [];
  const shapes = new Set<string>();
  for await (const row of readRows(file, { encoding, columns: columns?.split(','), isKnown, warn: () => {} })) {
    const shape = `${row.kind?.name} ${row.names}`;
    if (rows.length < maxRows || !shapes.has(shape)) rows.push(row);
    else if (file.format === 'csv') break;
    shapes.add(shape);
  }
  return rows;
}

/** Names for as many columns as the first rows have. */
async function numberColumns(files: readonly ImportFile[], encoding: string | undefined): Promise<string> {
  const rows = (await Promise.all(files.map((file) => firstRows(file, encoding)))).flat();
  const width = Math.max(...rows.flatMap(({ names, cells }) => [names.length, cells.length]));
  return Array.from({ length: Math.min(width, maxColumns) }, (_, at) => `Column ${at + 1}`).join(',');
}

async function proposeEncoding(files: readonly ImportFile[]): Promise<string | undefined> {
  const found = new Map<string | undefined, string>();
  for (const file of files) found.set(await encodingOf(file), file.name);
  found.delete(undefined);
  const [encoding, other] = found.keys();
  if (other === undefined) return encoding === 'utf-8' ? undefined : encoding;
  const names = [...found.values()].slice(0, 2).join(' and ');
  throw new StartError(`${names} have different encodings: import them one after the other`);
}

/**
 * UTF-8 or, as German Excel saves it, Windows-1252. Undefined for ASCII, and with a byte order mark, which is read
 * elsewhere.
 */
async function encodingOf(file: ImportFile): Promise<string | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [isFirst, isASCII] = [true, true];
  try {
    for await (const bytes of file.bytes()) {
      const [first, second, , fourth] = isFirst ? bytes : [];
      if (first && second === 0 && fourth === 0) return 'utf-16le';
      if (first === 0xff || first === 0xfe || (first === 0xef && second === 0xbb)) return undefined;
      isFirst = false;
      const { length } = decoder.decode(bytes, { stream: true });
      isASCII &&= length === bytes.length;
    }
    decoder.decode();
    return isASCII ? undefined : 'utf-8';
  } catch (error) {
    if (error instanceof TypeError) return 'windows-1252';
    throw error;
  }
}

const plainOptions: ColumnOptions = { map: new Map(), skipsOthers: false, linkBy: new Map() };

/** The column with a target such as `currentLocation.name` as its name. */
export const targetColumn = (kind: RecordKind, target: string): Column | undefined =>
  createColumnFinder(kind, plainOptions)(target);

function typeOf({ kind, name, target }: ReadColumn): string | undefined {
  // They are not stored, and show the form of dates.
  if (/^(?:created|updated) ?at$/i.test(name)) return 'dateTime';
  const column = target === undefined ? undefined : targetColumn(kind, target);
  return column?.is === 'field' ? column.field.type : undefined;
}

/** `gerat` for `Geräte` and `Geraet`: case, accents, signs and the spelling of umlauts do not count. */
const normalizeHeading = (heading: string): string =>
  heading
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\(.{0,100}/, '')
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]/g, '')
    .replace(/([aou])e/g, '$1');

const known = Object.entries(headings).map(
  ([target, texts]) => [target, texts.split(', ').map(normalizeHeading)] as const,
);

/** A title above the header, such as "Machines in May", is none. */
function isHeading(kind: RecordKind, name: string): boolean {
  const heading = normalizeHeading(name);
  return targetColumn(kind, name.trim()) !== undefined || known.some(([, texts]) => texts.includes(heading));
}

/** False if the first row is probably a record. */
export const hasHeadings = (columns: readonly ProposedColumn[]): boolean =>
  columns.some(({ kind, name }) => isHeading(kind, name) || /^Column \d{1,3}$/.test(name));

/** A browser took minutes for 30,000 columns, or a heading of 2,000,000 characters. */
const maxColumns = 500;
const maxHeading = 500;

/** By heading: names of fields first, then the headings of other programs and offices, then similar ones. */
export function proposeTargets(
  kind: RecordKind,
  names: readonly string[],
  texts = new Map<string, readonly string[]>(),
) {
  if (names.length > maxColumns || names.some(({ length }) => length > maxHeading))
    throw new StartError('a file has more than 500 columns, or a heading of more than 500 characters');
  const targets = new Map<string, string>();
  const taken = new Set<string>();
  const assign = (name: string | undefined, target: string) => {
    const column = targetColumn(kind, target);
    if (name === undefined || targets.has(name) || !column || column.is === 'skipped' || column.is === 'unnamed')
      return;
    if (taken.has(columnKey(column))) return;
    taken.add(columnKey(column));
    targets.set(name, target);
  };
  for (const [name, target] of profileColumns(kind, names)) assign(name, target);
  for (const name of names) assign(name, name.trim());
  const open = names.map((name) => [name, normalizeHeading(name)] as const).filter(([, heading]) => heading !== '');
  // Not one that begins alike: a machine price is no machine.
  const similar: readonly ((heading: string, other: string) => boolean)[] = [
    (heading, other) => heading === other,
    (heading, other) => other.length >= 7 && heading.endsWith(other),
  ];
  for (const isSimilar of similar)
    for (const [target, others] of known)
      for (const other of others)
        assign(open.find(([name, heading]) => !targets.has(name) && isSimilar(heading, other))?.[0], target);
  // `Auftrag` heads references such as WO-17, or else names.
  const headingsOfNames = known.find(([target]) => target === 'name')?.[1];
  const areNames = (name: string) => texts.get(name)?.some((text) => /\p{Ll}{3}/u.test(text) || !/\d/.test(text));
  for (const [name, target] of taken.has('name') ? [] : targets)
    if (target === 'reference' && headingsOfNames?.includes(normalizeHeading(name)) && areNames(name))
      targets.set(name, 'name');
  // Beside the number of an asset, its name would have to agree.
  const hasNumber = [...targets.values()].includes('asset.uid');
  for (const [name, target] of targets) if (hasNumber && target === 'asset' && name !== target) targets.delete(name);
  return targets;
}

/** The columns of the program whose export has at least four of these names, and no fewer than half of them. */
function profileColumns(kind: RecordKind, names: readonly string[]): readonly (readonly [string, string])[] {
  const found = profileNames.map((name) => {
    const profile = profileOf({ map: [], linkBy: [], profile: name }, () => '');
    const { map } = rowOptions(profile, kind);
    return names.flatMap((column) => {
      const target = map.get(column);
      return target ? [[column, target] as const] : [];
    });
  });
  const best = found.reduce((a, b) => (b.length > a.length ? b : a), []);
  const own = names.filter((name) => targetColumn(kind, name.trim())).length;
  return best.length >= 4 && 2 * best.length >= names.length && best.length > own ? best : [];
}

/**
 * By the first and second numbers above 12; as known if dates contradict each other, or need no order. With dots, the
 * day is first everywhere, and another date is wrong.
 */
function proposeDates(texts: readonly string[], known: string | undefined, language: string): string | undefined {
  const dates = texts.flatMap((text) => {
    const [, first, mark = '', second = '', year = ''] =
      /^(\d{1,2})([./-])(\d{1,2}|[a-z]{3,4})\2(\d{4}|\d\d)(?!\d)/i.exec(withoutWeekday(text)) ?? [];
    if (first === undefined) return [];
    // A month with a name comes second.
    return [{ first: second > '9' ? 31 : Number(first), second: Number(second), mark, year }];
  });
  const [{ mark } = { mark: '' }] = dates;
  if (mark === '') return known;
  const isDayFirst = dates.some(({ first }) => first > 12);
  const isMonthFirst = mark !== '.' && dates.some(({ second }) => second > 12);
  if (isDayFirst === isMonthFirst && (isDayFirst || known?.includes(mark))) return known;
  const [start] = new Intl.DateTimeFormat(language).formatToParts().filter(({ type }) => type !== 'literal');
  const isAmerican = isMonthFirst || (!isDayFirst && mark === '/' && start?.type === 'month');
  const isShort = dates.some(({ year }) => year.length === 2);
  return [...(isAmerican ? ['12', '31'] : ['31', '12']), isShort ? '26' : '2026'].join(mark);
}

/** The IDs of an export, a field that no two records share, or a reference that each row has for itself. */
function proposeKeys(columns: readonly ReadColumn[], rows: ReadonlyMap<RecordKind, number>): string[] {
  const kinds = [...new Set(columns.map(({ kind }) => kind))];
  const keys = kinds.map((kind) => {
    const found = columns.flatMap((column) => {
      const key = column.target !== undefined && column.kind === kind ? targetColumn(kind, column.target) : undefined;
      return key ? [{ column, key }] : [];
    });
    const isOfKind = (id: string) => kindOfId(id) === kind;
    const hasIds = found.some(({ column, key }) => key.is === 'id' && column.samples.some(isOfKind));
    const unique = found.find(({ key }) => key.is === 'field' && key.field.type === 'text' && key.field.unique);
    const own = found.find(
      ({ column: { texts }, key }) =>
        columnKey(key) === 'reference' && texts.length === rows.get(kind) && new Set(texts).size === texts.length,
    );
    const key = (unique ?? own)?.key;
    return [kind, hasIds ? 'id' : key ? columnKey(key) : 'create'] as const;
  });
  if (keys.every(([, key]) => key === 'create')) return [];
  return keys.map(([{ plural }, key]) => `${plural}=${key}`);
}
