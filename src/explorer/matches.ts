/** Records that match a text: exact matches first, then texts that begin with it, then the others by their names. */
import { kindOf, textFields } from './kinds.ts';
import { ascending, atMost, query, textConditions, whereOf } from './queries.ts';
import type { Data } from './service.ts';

/** `Mühlhof` and `muhlhof` are alike, as in the service. */
export const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The texts by which people know a record, its ID among them. */
export const textsOf = ({ color, ...target }: Data): string[] =>
  Object.values(target).filter((text): text is string => typeof text === 'string');

/** 0 for an exact match, 1 for a text that begins with the given one, 2 for all others. */
export function rankOf(target: Data, text: string): number {
  const texts = textsOf(target).map(fold);
  return [texts.includes(fold(text)), texts.some((other) => other.startsWith(fold(text))), true].indexOf(true);
}

/** Removes repeated records, and sorts the others. */
export function rankMatches(found: readonly Data[], text: string): readonly Data[] {
  const byId = new Map(found.map((target) => [target.id, target]));
  return [...byId.values()].sort((a, b) => rankOf(a, text) - rankOf(b, text));
}

/** Reads exact matches and beginnings by themselves: in the list of all matches they may be on a later page. */
export function matchQueries(kind: string, text: string, size: number, nodes: string): readonly string[] {
  const { list, order } = kindOf(kind);
  const orderBy = order.includes('name') ? [{ name: ascending }] : undefined;
  const part = (name: string, where: object | undefined) =>
    `${list}${name}: ${query(list, { first: atMost(size), where, orderBy }, `${nodes} pageInfo { hasNextPage }`)}`;
  const others = part('', whereOf({ kind, search: text }));
  if (text === '' || textFields(kind).length === 0) return [others];
  const exact = { or: [{ id: { eq: text } }, ...textConditions(kind, 'alike', text)] };
  return [part('Exact', exact), part('Beginning', { or: textConditions(kind, 'startsAlike', text) }), others];
}
