/** Records that match a text: exact matches first, then texts that begin with it, then the others by their names. */
import { kindOf, nameOf, numberedName, textFields } from './kinds.ts';
import { ascending, atMost, descending, externalIdConditions, query, spellingsOf, whereOf } from './queries.ts';
import type { Data } from './service.ts';

const ignored = /\p{M}|[ -](?=\d)/gu;
/** `Mühlhof` and `muhlhof` are alike, as in the service, and so are the spellings of a number. */
export const fold = (text: string): string => text.normalize('NFKD').replace(ignored, '').toLowerCase();

/** The texts by which people know a record, its ID among them. */
export const textsOf = ({ color, currentLocationId, ...target }: Data): string[] =>
  Object.values(target).filter((text): text is string => typeof text === 'string');

/** 0 for an exact match, 1 for a text that begins with the given one, 2 for one that has it, 3 for all others. */
export function rankOf(target: Data, text: string): number {
  const whole = fold(text);
  const rank = (own: string) => (own === whole ? 0 : own.startsWith(whole) ? 1 : own.includes(whole) ? 2 : 3);
  return Math.min(...[...textsOf(target), numberedName(target)].map(fold).map(rank));
}

const compareNames = (a: Data, b: Data): number => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true });

/** Removes repeated records, and sorts the others: those of the same rank by name, unless they have an order. */
export function rankMatches(found: readonly Data[], text: string, compare = compareNames): readonly Data[] {
  const byId = new Map(found.map((target) => [target.id, target]));
  return [...byId.values()].sort((a, b) => rankOf(a, text) - rankOf(b, text) || compare(a, b));
}

const part = (kind: string, name: string, page: object, nodes: string) =>
  `${kindOf(kind).list}${name}: ${query(kindOf(kind).list, page, nodes)}`;

/**
 * Finds exact matches and beginnings, which may be on a later page of all matches, by indexes: that of `uid` has its
 * exact letters.
 */
export function bestQueries(kind: string, text: string, size: number, nodes: string): readonly string[] {
  const first = atMost(size);
  const forms = spellingsOf(text);
  const ofUids = new Set(forms.flatMap((form) => [form, form.toUpperCase()]));
  const conditions = (alike: string, exact: string) =>
    textFields(kind).flatMap((field) => {
      const [operator, texts] = field === 'uid' ? [exact, [...ofUids]] : [alike, forms];
      return texts.map((form) => ({ [field]: { [operator]: form } }));
    });
  if (text === '' || textFields(kind).length === 0) return [];
  const exact = { or: [{ id: { eq: text } }, ...externalIdConditions(kind, text), ...conditions('alike', 'eq')] };
  const beginning = { or: conditions('startsAlike', 'startsWith') };
  return [
    part(kind, 'Exact', { first, where: exact }, nodes),
    part(kind, 'Beginning', { first, where: beginning }, nodes),
  ];
}

/** Finds all matches, by their names or the latest first: the database may look at all records. */
export function allQuery(kind: string, text: string, size: number, nodes: string): string {
  const { order } = kindOf(kind);
  const byName = order.includes('name') ? [{ name: ascending }] : undefined;
  // Unfinished work is among the latest.
  const orderBy = order.includes('startDate') ? [{ startDate: descending }] : byName;
  return part(kind, '', { first: atMost(size), where: whereOf({ kind, search: text }), orderBy }, nodes);
}
