/** Finds the links in selections, including those of their fragments. */
import type { Link, Selection } from '../plan/document-plan.ts';

/** The links of one field, which fragments and aliases may select several times. */
export type LinksOfField = [Link, ...Link[]];
export type LinksByField = ReadonlyMap<string, LinksOfField>;

/** Returns the links of the selections and of their fragments, by field. */
export function linksIn(selections: Iterable<Selection>): LinksByField {
  const byField = new Map<string, LinksOfField>();
  for (const { links } of withParts(selections)) {
    for (const link of links) {
      const sameField = byField.get(link.storedField);
      if (sameField) sameField.push(link);
      else byField.set(link.storedField, [link]);
    }
  }
  return byField;
}

/** Returns the selections on the records of connections' pages. */
export const recordsIn = (connections: Iterable<Selection>): Selection[] =>
  [...withParts(connections)].flatMap(({ records }) => records);

/** Returns the selections and those of their fragments, each once. */
function withParts(selections: Iterable<Selection>): ReadonlySet<Selection> {
  const all = new Set(selections);
  // The loop also visits the selections that it adds.
  for (const { parts } of all) for (const part of parts) all.add(part);
  return all;
}
