/** The record kinds as the schema has them, and what people want to see of them first. */
import schema from 'schema.graphql';

interface Pages {
  /** Lists of records that refer to this one, by the names of their fields: `{ workOrders: 'WorkOrder' }`. */
  readonly pages: Readonly<Record<string, string>>;
}

export interface Kind extends Pages {
  /** The query of its list, such as `workOrders`. */
  readonly list: string;
  /** By name: scalars, and links to records of other kinds or to what is kept in other systems. */
  readonly fields: Readonly<Record<string, { readonly type: string }>>;
  /** The types of filters, by name. */
  readonly filters: Readonly<Record<string, string>>;
  /** What records can be ordered by. */
  readonly order: readonly string[];
}

interface Schema {
  readonly kinds: Readonly<Record<string, Kind>>;
  /** What is kept in other systems, such as `Status`: the service stores the IDs that refer to it. */
  readonly foreign: Readonly<Record<string, Pages & { readonly one: string }>>;
  readonly operators: Readonly<Record<string, readonly string[]>>;
}

export const { kinds, foreign, operators } = schema as Schema;

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
  const first = columns[kind] ?? [];
  const names = Object.keys(kindOf(kind).fields);
  const others = names.filter((name) => !first.includes(name) && !stamps.includes(name));
  return [...first, ...others, ...stamps.filter((name) => names.includes(name))];
}

export const kindOf = (name: string): Kind => kinds[name] ?? (kinds.Asset as Kind);

/** The type of a field of a kind; of none, the empty text. */
export const typeOf = (kind: string, field: string): string => kindOf(kind).fields[field]?.type ?? '';

/** What a search looks into: texts, and the names of the linked records that a table shows. */
export const searched = (kind: string): string[] => {
  const { filters } = kindOf(kind);
  const texts = ['name', 'reference', 'number', 'uid'].filter((field) => filters[field] === 'TextFilter');
  return [...texts, ...(columns[kind] ?? []).filter((field) => isRecord(typeOf(kind, field)))];
};

export const isRecord = (type: string): boolean => type in kinds;

export const isLink = (type: string): boolean => isRecord(type) || type in foreign;

/** `currentLocation` and `WorkOrder` as people write them: `current location`, `work order`. */
export const words = (name: string): string =>
  name
    .replace(/(?<=.)(?:[A-Z]|\d)/g, ' $&')
    .toLowerCase()
    .replace(/\b(id|uid)(s?)\b/, (_, word: string, end: string) => word.toUpperCase() + end);

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Work orders`, from the name of the list. */
export const title = (kind: string): string => capitalized(words(kindOf(kind).list));
