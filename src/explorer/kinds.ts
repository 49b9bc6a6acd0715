/** The record kinds as the schema has them, and what people want to see of them first. */
import schema from 'schema.graphql';

/** A record kind, or a type of what is kept in other systems, such as `Status`: the service stores the IDs that refer to it. */
export interface Kind {
  /** The queries of one and of all, such as `workOrder` and `workOrders`; what is kept elsewhere has no list. */
  readonly one: string;
  readonly list: string;
  /** The types of its fields, by name: scalars and links. */
  readonly fields: Readonly<Record<string, string>>;
  /** The types of filters, by name. */
  readonly filters: Readonly<Record<string, string>>;
  /** What records can be ordered by. */
  readonly order: readonly string[];
  /** Lists of records that refer to this one, by the names of their fields: `{ workOrders: 'WorkOrder' }`. */
  readonly lists: Readonly<Record<string, string>>;
}

interface Schema {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly operators: Readonly<Record<string, readonly string[]>>;
}

export const { kinds, operators } = schema as Schema;

/** The order of the tabs, and the first columns of each table. */
export const columns: Readonly<Record<string, readonly string[]>> = {
  Asset: ['name', 'uid', 'status', 'currentLocation', 'assetType', 'owner'],
  WorkOrder: ['name', 'reference', 'status', 'location', 'project', 'startDate', 'endDate'],
  TransportOrder: ['name', 'number', 'reference', 'status', 'project'],
  Project: ['name', 'reference', 'status', 'location', 'company', 'startDate', 'endDate'],
  Location: ['name', 'city', 'address1', 'postalCode', 'country'],
  AssetCategory: ['name', 'parent', 'description'],
};

export const kindNames = Object.keys(columns);

/** What shows the records of a kind in another way than its table. */
export const otherViews: Readonly<Record<string, 'map' | 'tree'>> = { Location: 'map', AssetCategory: 'tree' };

/** Kept about a record, and shown after what it is about. */
const stamps = ['externalIds', 'id', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy'];

/** The fields of a kind in the order in which a record shows them. */
export function fieldsInOrder(kind: string): string[] {
  const names = Object.keys(kindOf(kind).fields);
  const others = names.filter((name) => !stamps.includes(name));
  return [...new Set([...(columns[kind] ?? []), ...others, ...stamps.filter((name) => names.includes(name))])];
}

export const kindOf = (name = ''): Kind => kinds[name] ?? (kinds.Asset as Kind);

/** The type of a field of a kind; of none, the empty text. */
export const typeOf = (kind: string, field: string): string => kindOf(kind).fields[field] ?? '';

export const isLink = (type: string): boolean => type in kinds;

export const isRecord = (type: string): boolean => type in columns;

/** What a search looks into: texts, and the names of the linked records that a table shows. */
export const searched = (kind: string): string[] => {
  const texts = ['name', 'reference', 'number', 'uid'].filter((field) => kindOf(kind).filters[field] === 'TextFilter');
  return [...texts, ...(columns[kind] ?? []).filter((field) => isRecord(typeOf(kind, field)))];
};

/** `currentLocation` and `WorkOrder` as people write them: `current location`, `work order`. */
export const words = (name: string): string =>
  name
    .replace(/(?<=.)(?:[A-Z]|\d)/g, ' $&')
    .toLowerCase()
    .replace(/\b(id|uid)(s?)\b/, (_, word: string, end: string) => word.toUpperCase() + end);

export const title = (name: string): string => capitalized(words(name));

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
