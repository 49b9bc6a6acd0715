/** Resolves links, which refer to records by an external ID or by the `ref` of another item, to the IDs of the records. */
import { type Issue, quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import { type ExternalId, type Link, type Linkable, withIssues } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId } from '../records/index.ts';
import { type Lookups, maxMatches } from '../store/writes/lookups.ts';
import { emptyKeyProblem, noRecordWith } from './checks/batch.ts';

/** The IDs of the records that the mutation creates, by their `ref`. */
export type Refs = ReadonlyMap<string, string>;

const noRefs: Refs = new Map();

export const hasLinks = ({ links, ref }: Linkable<object>): boolean => links !== undefined || ref !== undefined;

/** One statement for each kind of record that links lead to. Locks nothing: validation does that, as for every reference. */
export async function resolveLinks<T>(
  find: Pick<Lookups, 'findByExternalId'>,
  items: readonly Linkable<T>[],
  refs = noRefs,
): Promise<Linkable<T>[]> {
  const links = items.flatMap(({ links = [] }) => links);
  const matches = await findLinked(find, links);
  return items.map((item) => {
    if (!item.links) return item;
    const resolved: Record<string, string> = {};
    const issues: Issue[] = [];
    for (const link of item.links) {
      const found = link.to.externalId
        ? single(kindNamed(link.target), link.to.externalId, matches.get(keyOf(link)) ?? [])
        : created(kindNamed(link.target), link.to.ref, refs);
      if ('id' in found) resolved[link.field] = found.id;
      else issues.push({ path: [link.name, link.to.externalId ? 'externalId' : 'ref'], message: found.problem });
    }
    return withIssues(withValues(item, resolved), issues);
  });
}

type Found = { readonly id: string } | { readonly problem: string };

async function findLinked(
  find: Pick<Lookups, 'findByExternalId'>,
  links: readonly Link[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const matches = new Map<string, readonly string[]>();
  const wanted = new Map(links.filter(({ to }) => to.externalId).map((link) => [keyOf(link), link]));
  for (const target of new Set([...wanted.values()].map((link) => link.target))) {
    const kind = kindNamed(target);
    if (!kind.fields.externalIds) continue;
    const ofTarget = [...wanted].filter(([, link]) => link.target === target);
    const externalIds = ofTarget.flatMap(([, { to }]) => to.externalId ?? []);
    const found = await find.findByExternalId(kind, externalIds);
    for (const [index, [key]] of ofTarget.entries()) matches.set(key, found[index] ?? []);
  }
  return matches;
}

const keyOf = ({ target, to }: Link): string => JSON.stringify([target, to.externalId?.key, to.externalId?.value]);

function single(kind: RecordKind, externalId: ExternalId, ids: readonly string[]): Found {
  const [id] = ids;
  const named = describeExternalId(externalId);
  const problem = emptyKeyProblem(kind, externalId.value);
  if (problem !== undefined) return { problem };
  if (id === undefined) return { problem: noRecordWith(kind, named) };
  return ids.length === 1 ? { id } : { problem: `${several(kind, ids)} have ${named}: ${listed(ids)}` };
}

function created(kind: RecordKind, ref: string, refs: Refs): Found {
  const id = refs.get(ref);
  if (id === undefined) return { problem: `this mutation creates no record with the ref ${quote(ref)}` };
  const actual = kindOfId(id);
  if (actual === kind || !actual) return { id };
  return {
    problem: `expected the ref of ${withArticle(kind.label)}, ${quote(ref)} is the ref of ${withArticle(actual.label)}`,
  };
}

/** Returns `the external ID "4711" of "erp"` */
export const describeExternalId = ({ key, value }: ExternalId): string =>
  `the external ID ${quote(value)} of ${quote(key)}`;

/** Returns `2 assets`, or `several assets` if not all of them were found. */
export const several = ({ pluralLabel }: RecordKind, ids: readonly string[]): string =>
  ids.length < maxMatches ? `${ids.length} ${pluralLabel}` : `several ${pluralLabel}`;

export const listed = (ids: readonly string[]): string =>
  ids.length < maxMatches ? ids.join(', ') : `${ids.slice(0, maxMatches - 1).join(', ')}, …`;

/** The cast is safe: the fields are references of the kind. */
function withValues<T>(item: Linkable<T>, values: Readonly<Record<string, string>>): Linkable<T> {
  const { issues, value, validFields, ...rest } = item;
  return issues
    ? { ...rest, issues, validFields: { ...validFields, ...values } }
    : { ...rest, value: { ...(value as T), ...values } };
}
