/** The parsers of items to write, made once for the settings: the same rules and messages as over REST. */
import { type Linkable, linkFields, linkParser, mergeParser, patchParser, type RecordLink } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';

/** Ways in which an item's links may refer to records: only a new record can refer to others of the same mutation. */
export type Ways = readonly (keyof RecordLink)[];

export const anywhere: Ways = ['externalId', 'ref'];
export const toStored: Ways = ['externalId'];

/** Asset categories have no external IDs by which a stored one could be found. */
export const linksOf = (kind: RecordKind, ways: Ways) =>
  linkFields(kind).filter(([, , { target }]) => ways === anywhere || kindNamed(target).fields.externalIds);

export type Parsers = ReturnType<typeof parsersFor>;

/** Each returns an item, valid or not: the service reports the issues of all items together. */
function parsersFor(kind: RecordKind, limits: ValueLimits) {
  const withLinks = <T>(ways: Ways, parse: (input: unknown) => Linkable<T>) =>
    linkParser({ fields: linksOf(kind, ways), ways }, limits, parse);
  const update = mergeParser(kind, 'mergeExternalIds', limits, updateParser(kind, limits));
  const upsert = withLinks(toStored, update);
  return {
    create: withLinks(anywhere, createParser(kind, limits)),
    upsert,
    update,
    patch: patchParser(kind, limits, upsert),
  };
}

export function createItemParsers(limits: ValueLimits): (kind: RecordKind) => Parsers {
  const byName = new Map(recordKinds.map((kind) => [kind.name, parsersFor(kind, limits)]));
  return (kind) => byName.get(kind.name) ?? parsersFor(kind, limits);
}
