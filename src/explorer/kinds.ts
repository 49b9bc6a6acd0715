/** The record kinds of the schema, their columns, and the names of records. */
import { capitalized, constantCase, linkField as linkOf, words as wordsOf } from '../model/labels.ts';
import { clockTexts, dateLocale, plainDate } from './clock.ts';

export { linkOf };

/** A record kind, or a type of entities in other systems, such as `Status`: the service stores only their IDs. */
interface Kind {
  /** The queries of one and of all, such as `workOrder` and `workOrders`; entities of other systems have no list. */
  readonly one: string;
  readonly list: string;
  /** The types of its fields, by name: scalars and links. */
  readonly fields: Readonly<Record<string, string>>;
  /** The types of filters, by name. `PeriodFilter` and `TreeFilter` are conditions of this page. */
  readonly filters: Readonly<Record<string, string>>;
  readonly order: readonly string[];
  /** Lists of records that refer to this one, by the names of their fields: `{ workOrders: 'WorkOrder' }`. */
  readonly lists: Readonly<Record<string, string>>;
  /** The fields that a mutation sets, with the type of their values or targets, and those that cannot be empty. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly required: readonly string[];
}

/** Read from schema.graphql by build.mjs. */
declare const SCHEMA: {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly operators: Readonly<Record<string, readonly string[]>>;
};

export const { kinds, operators } = SCHEMA;

/** Shown after all other fields. */
const stamps = ['externalIds', 'id', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'];

/** The first columns of tables, in the order of the kinds. Labels have no table: they name statuses and companies. */
const chosenColumns: Readonly<Record<string, readonly string[]>> = {
  Asset: ['name', 'uid', 'status', 'currentLocation', 'category', 'assetType', 'owner'],
  WorkOrder: ['name', 'asset', 'status', 'location', 'startDate', 'endDate', 'reference', 'project'],
  TransportOrder: ['name', 'number', 'reference', 'status', 'project'],
  Project: ['name', 'reference', 'status', 'location', 'startDate', 'endDate', 'company'],
  Location: ['name', 'parent', 'city', 'address1', 'postalCode', 'country'],
  AssetCategory: ['name', 'parent', 'description'],
  Allocation: ['startDate', 'endDate', 'asset', 'status', 'project', 'workOrder', 'location', 'user'],
};

const firstFields = (kind: string): readonly string[] => {
  const fields = Object.keys(kinds[kind]?.fields ?? {}).filter((name) => !stamps.includes(name));
  return [...new Set([...fields.filter((name) => name === 'name'), ...fields])].slice(0, 6);
};

/** The columns of each kind that has a table. */
export const columns: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.keys({ ...chosenColumns, ...kinds })
    .filter((name) => kinds[name]?.list && name !== 'Label')
    .map((name) => [name, chosenColumns[name] ?? firstFields(name)]),
);

export const kindNames = Object.keys(columns);

/** A change names its kind as `WORK_ORDER`. */
export const kindOfChange = ({ kind }: { readonly kind?: string }): string =>
  kindNames.find((name) => constantCase(name) === kind) ?? 'Label';

/** The views of a kind besides its table. */
export const otherViews: Readonly<Record<string, readonly ('map' | 'tree')[]>> = {
  Location: ['map', 'tree'],
  AssetCategory: ['tree'],
  Asset: ['tree'],
};

export const kindOf = (name = ''): Kind => kinds[name] ?? (kinds.Asset as Kind);

export const typeOf = (kind: string, field: string): string => kindOf(kind).fields[field] ?? '';

/** Whether the value of a filter is a day or a week. */
export const isOfTime = (filter?: string): boolean => filter === 'DateTimeFilter' || filter === 'PeriodFilter';

export const isLink = (type: string): boolean => type in kinds;
export const isRecord = (type: string): boolean => type in columns;

/** Names of fields in the order in which people need them: first those of the table. */
export function inOrder(kind: string, names: readonly string[]): readonly string[] {
  const order = [...(columns[kind] ?? []), '', ...stamps];
  const rank = (name: string) => order.indexOf(order.includes(linkOf(name)) ? linkOf(name) : '');
  return names.toSorted((a, b) => rank(a) - rank(b));
}

/** The texts by which people look for a record; of an entity of another system, the name of its label. */
export const textFields = (kind: string): readonly string[] =>
  ['name', 'reference', 'number', 'uid'].filter(
    (field) => field in kindOf(kind)[isRecord(kind) ? 'filters' : 'fields'],
  );

/** The links that a search looks into: those that a table shows. */
export const searchedLinks = (kind: string): readonly string[] =>
  (columns[kind] ?? []).filter((field) => `${field}Id` in kindOf(kind).filters);

type Target = Readonly<Record<string, unknown>>;

/** The name of a record, or of an entity in another system: the first of these fields with a value, or else the ID. */
const naming = ['name', 'reference', 'number', 'uid', 'address1', 'city'];

/** The fields that nameOf and the colour of a link need. Records without a name are called by their asset and time. */
export function nameFields(kind: string): readonly string[] {
  const { fields } = kindOf(kind);
  const named = naming.filter((field) => field in fields);
  const shown = named.length > 0 ? named : ['asset', 'startDate', 'endDate'];
  return ['id', ...shown, 'color'].filter((field) => field in fields);
}

export function nameOf(target: Target): string {
  const field = naming.find((name) => target[name]);
  const { asset, id } = target;
  if (field === undefined && asset) return [nameOf(asset as Target), ...datesOf(target)].join(', ');
  return String(target[field ?? ''] ?? id);
}

/** People know a machine or an order by its number. */
export const numberedName = (target: Target): string =>
  [...new Set([target.uid ?? target.reference ?? target.number, nameOf(target)])].filter(Boolean).join(' ');

const dates = new Intl.DateTimeFormat(dateLocale, { dateStyle: 'medium' });

function datesOf({ startDate, endDate }: Target): string[] {
  if (!startDate) return [];
  const dayOf = (time: unknown) => new Date(`${clockTexts(String(time))[0]}T00:00`);
  const [start, end] = [dayOf(startDate), dayOf(endDate ?? startDate)];
  const text = endDate ? dates.formatRange(start, end < start ? start : end) : `from ${dates.format(start)}`;
  return [plainDate(text)];
}

/** Names of the statuses of finished work. People can choose others for the overview. */
const finishedNames =
  /(?<!\p{L})(completed?|cancell?ed|closed|done|finished|delivered|returned|rejected|archived|erledigt|fertig|beendet|abgeschlossen|geschlossen|storniert|abgesagt|terminée?|annulée?|voltooid|afgerond|geannuleerd)(?!\p{L})/iu;

const negations = /(?<!\p{L})(not|to be|nicht|zu|non|pas|niet)(?!\p{L})/iu;

export function isFinished(status: object): boolean {
  const name = nameOf(status as Target);
  const at = name.search(finishedNames);
  return at >= 0 && !negations.test(name.slice(0, at));
}

/** People know no UID, and say which machine a bucket is a part of. */
export const words = (name: string): string => (name === 'uid' ? 'number' : wordsOf(name));

export const title = (name: string): string =>
  ({ parent: 'Part of', children: 'Parts' })[name] ?? capitalized(words(name));

const fieldNames = kindNames.flatMap((kind) => Object.keys({ ...kindOf(kind).fields, ...kindOf(kind).filters }));

/** A message with the titles of fields: `Current location` for `currentLocationId`. Quoted values stay. */
export const inWords = (message: string): string =>
  outsideQuotes(message, (text) =>
    text.replace(/\.(?:name|uid|reference|number)\b/g, '').replace(/\w+/g, (word, at, whole) => {
      const isName = word === 'uid' || /[A-Z]/.test(word) || whole.startsWith(': ', at + word.length);
      return isName && fieldNames.includes(word) ? title(linkOf(word)) : word;
    }),
  );

/** The message of an import, without the ID that makes it unique. */
export const withoutId = (message: string): string =>
  message.replace(/^((?:Undo of ){0,9}import of .{1,300}) \([\w-]{1,64}\)$/s, '$1');

/** The run that undoes an import. An ID has at most 64 characters. */
export const undoRunId = (id: string): string => `undo-${id.slice(-59)}`;

export const outsideQuotes = (message: string, replace: (text: string) => string): string =>
  message
    .split('"')
    .map((text, at) => (at % 2 === 0 ? replace(text) : text))
    .join('"');

/** `1 work order`, `2 work orders`. */
export const countText = (kind: string, count: number): string =>
  `${count.toLocaleString()} ${words(count === 1 ? kind : kindOf(kind).list)}`;
