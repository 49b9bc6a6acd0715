/** The parsers of items to write, made once for the settings: the same rules and messages as over REST. */
import { type Linkable, linkFields, linkParser, type Patch, patchParser, type RecordLink } from '../../model/links.ts';
import type { CreateOf, RecordKind, UpdateOf } from '../../model/record-kind.ts';
import { createParser, type RecordParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';

/** Ways in which an item's links may refer to records: only a new record can refer to others of the same mutation. */
export type Ways = readonly (keyof RecordLink)[];

export const anywhere: Ways = ['externalId', 'ref'];

export const toStored: Ways = ['externalId'];

/** Asset categories have no external IDs by which a stored one could be found. */
export const linksOf = (kind: RecordKind, ways: Ways) =>
  linkFields(kind).filter(([, , { target }]) => ways === anywhere || kindNamed(target).fields.externalIds);

/** The extensions of input types of items: in a variable, their required fields may be missing, and the service says which. */
export const item = { isItem: true } as const;

export type ItemParsers = ReturnType<typeof createItemParsers>;

/** Returns the parsers of items, valid or not: the service reports the issues of all items together. */
export function createItemParsers(limits: ValueLimits) {
  const withLinks = <T>(kind: RecordKind, ways: Ways, parse: RecordParser<T>) =>
    linkParser({ fields: linksOf(kind, ways), ways }, limits, parse);
  const byKind = new Map(
    recordKinds.map((kind) => {
      const upsert = withLinks(kind, toStored, updateParser(kind, limits));
      const parsers = {
        create: withLinks(kind, anywhere, createParser(kind, limits)),
        upsert,
        update: updateParser(kind, limits),
        patch: patchParser(kind, limits, upsert),
      };
      return [kind, parsers];
    }),
  );
  // The casts are safe: each kind has its own parsers.
  const parsersOf = (kind: RecordKind) => byKind.get(kind) as object as Readonly<Record<string, never>>;
  return {
    create: <K extends RecordKind>(kind: K): Parse<Linkable<CreateOf<K>>> => parsersOf(kind).create as never,
    upsert: <K extends RecordKind>(kind: K): Parse<Linkable<UpdateOf<K>>> => parsersOf(kind).upsert as never,
    update: <K extends RecordKind>(kind: K): Parse<Linkable<UpdateOf<K>>> => parsersOf(kind).update as never,
    patch: <K extends RecordKind>(kind: K): Parse<Patch<K>> => parsersOf(kind).patch as never,
  };
}

type Parse<T> = (sent: unknown) => T;
