/** The parsers of items to write, made once for the settings: the same rules and messages as over REST. */
import { type Linkable, linkParser, mergeParser, patchParser } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';

export type Parsers = ReturnType<typeof parsersFor>;

/** Each returns an item, valid or not: the service reports the issues of all items together. */
function parsersFor(kind: RecordKind, limits: ValueLimits) {
  const withLinks = <T>(hasRefs: boolean, parse: (input: unknown) => Linkable<T>) =>
    linkParser({ kind, kindNamed, hasRefs }, limits, parse);
  const update = mergeParser(kind, 'mergeExternalIds', limits, updateParser(kind, limits));
  const upsert = withLinks(false, update);
  return {
    create: withLinks(true, createParser(kind, limits)),
    upsert,
    upsertById: patchParser(kind, limits, upsert, { isUpsert: true }),
    update,
    patch: patchParser(kind, limits, upsert),
  };
}

export function createItemParsers(limits: ValueLimits): (kind: RecordKind) => Parsers {
  const byName = new Map(recordKinds.map((kind) => [kind.name, parsersFor(kind, limits)]));
  return (kind) => byName.get(kind.name) ?? parsersFor(kind, limits);
}
