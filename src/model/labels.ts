/** Labels in running text, and names derived from them. Pure; knows nothing of the formats that the text ends up in. */
import { formatCount } from './issues.ts';
import type { RecordKind } from './record-kind.ts';

/** Adds the indefinite article: `an asset`, `a work order`. Goes by the first letter, which suffices for our labels. */
export const withArticle = (label: string): string => `${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${label}`;

/** Returns `1 asset`, `2 asset categories`, `1,000 work orders` */
export const pluralize = (n: number, { label, pluralLabel }: Pick<RecordKind, 'label' | 'pluralLabel'>): string =>
  `${formatCount(n)} ${n === 1 ? label : pluralLabel}`;

export const pluralizeRecords = (n: number): string => pluralize(n, { label: 'record', pluralLabel: 'records' });

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Returns the name of a reference's link: `project` for `projectId`, and `createdBy` itself. */
export const linkField = (field: string): string => field.replace(/Id$/, '');

/** Returns the name of a kind's list: `workOrders` */
export const listField = ({ plural }: RecordKind): string => uncapitalized(plural);

/** Returns the name of a kind in paths: `work-orders` */
export const pathName = (kind: RecordKind): string => listField(kind).replace(/[A-Z]/g, '-$&').toLowerCase();

/** Returns `CURRENT_LOCATION` for `currentLocation`: the form of names in GraphQL's enums. */
export const constantCase = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();
