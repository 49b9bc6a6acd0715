import { linkParser, mergeParser, type ParsedItem, patchParser, withoutNullId } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, type RecordParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';

export type Parsers = ReturnType<typeof createParsers>;

function createParsers(kind: RecordKind, limits: ValueLimits) {
  const withLinks = <T>(hasRefs: boolean, parse: (input: unknown) => ParsedItem<T>) =>
    linkParser({ kind, kindNamed, hasRefs }, limits, parse);
  const withMerge = <T>(parse: RecordParser<T>) => mergeParser(kind, 'mergeExternalIds', limits, parse);
  const create = createParser(kind, limits);
  const update = withMerge(updateParser(kind, limits));
  const upsert = withLinks(false, update);
  const importUpsert = withLinks(true, update);
  return {
    create: withLinks(true, create),
    upsert: withoutNullId(upsert),
    upsertById: patchParser(kind, limits, upsert, { isUpsert: true }),
    update,
    patch: patchParser(kind, limits, upsert),
    importCreate: withoutNullId(withLinks(true, withMerge(create))),
    importUpsert: withoutNullId(importUpsert),
    importUpsertById: patchParser(kind, limits, importUpsert, { isUpsert: true }),
  };
}

export function createItemParsers(limits: ValueLimits): (kind: RecordKind) => Parsers {
  const byName = new Map(recordKinds.map((kind) => [kind.name, createParsers(kind, limits)]));
  return (kind) => byName.get(kind.name) ?? createParsers(kind, limits);
}
