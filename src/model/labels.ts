import { formatCount } from './issues.ts';
import type { RecordKind } from './record-kind.ts';

/** `an asset`, `a work order`: the first letter decides, which suffices for our labels. */
export const withArticle = (label: string): string => `${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${label}`;

/** `1 asset`, `1,000 work orders` */
export const pluralize = (n: number, { label, pluralLabel }: Pick<RecordKind, 'label' | 'pluralLabel'>): string =>
  `${formatCount(n)} ${n === 1 ? label : pluralLabel}`;

export const pluralizeRecords = (n: number): string => pluralize(n, { label: 'record', pluralLabel: 'records' });

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** `project` for `projectId`, and `createdBy` itself */
export const linkField = (field: string): string => field.replace(/Id$/, '');

/** `currentLocationId` and `WorkOrder` as people write them: `current location ID`, `work order`. */
export const words = (name: string): string =>
  name
    .replace(/(?<=.)(?:[A-Z]|\d)/g, ' $&')
    .toLowerCase()
    .replace(/\b(id|uid)(s?)\b/, (_, word: string, end: string) => word.toUpperCase() + end);

export const listField = ({ plural }: RecordKind): string => uncapitalized(plural);

export const pathName = (kind: RecordKind): string => listField(kind).replace(/[A-Z]/g, '-$&').toLowerCase();

/** `CURRENT_LOCATION` for `currentLocation`, and `ASSET_TYPE` for `AssetType`, as in GraphQL's enums. */
export const constantCase = (name: string): string => name.replace(/(?<=.)[A-Z]/g, '_$&').toUpperCase();

/** `ASSET_TYPE:ERP-TYPE-12`, for an `AssetType` */
export const labelKey = (typeName: string, id: string): string => `${constantCase(typeName)}:${id}`;
