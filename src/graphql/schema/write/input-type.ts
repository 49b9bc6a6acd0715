/** Input types, derived from the record kinds, and their parsers: the same rules and messages as over REST. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import { type Linkable, linkFields, linkParser, type RecordLink } from '../../../model/links.ts';
import { type Patch, patchParser } from '../../../model/patch.ts';
import type { CreateOf, RecordKind, UpdateOf } from '../../../model/record-kind.ts';
import { createParser, type RecordParser, updateParser, type ValueLimits } from '../../../model/schemas.ts';
import { kindNamed } from '../../../records/index.ts';
import { item } from '../../plan/extensions.ts';
import type { Builder, InputFields, InputRef } from '../builder.ts';
import { scalarOf } from '../object-type.ts';
import { exampleChange, exampleFields, exampleLink, examplePatch } from './write-examples.ts';

export type InputTypes = ReturnType<typeof createInputTypes>;

/** The type of the items of a mutation. */
export interface ItemType<T> {
  readonly type: InputRef<unknown>;
  /** Parses an item, valid or not: the service reports the issues of all items together. */
  readonly parse: (sent: unknown) => T;
}

/** Creates the input types of one schema. */
export function createInputTypes(builder: Builder, limits: ValueLimits) {
  const linkTypes = createLinkTypes(builder);
  const links = (t: InputFields, kind: RecordKind, ways: Ways) => linkInputFields(t, kind, linkTypes, ways);
  const withLinks = <T>(kind: RecordKind, ways: Ways, parse: RecordParser<T>) =>
    linkParser({ fields: linksOf(kind, ways), ways }, limits, parse);
  const createTypes = new Map<RecordKind, InputRef<unknown>>();

  const createType = (kind: RecordKind) =>
    builder.inputType(`Create${kind.name}Input`, {
      description: `The fields of ${withArticle(kind.label)} to create: ${exampleFields(kind)}. A field that is null or absent is not set.`,
      extensions: item,
      fields: (t) => ({
        ...inputFields(t, kind, { requires: true }),
        ...links(t, kind, anywhere),
        ref: t.string({
          description: `A name of your choice, by which other records of the same mutation refer to this ${kind.label}. It is not stored.`,
        }),
      }),
    });

  return {
    /** `CreateAssetInput` */
    create<K extends RecordKind>(kind: K): ItemType<Linkable<CreateOf<K>>> {
      const type = createTypes.get(kind) ?? createType(kind);
      createTypes.set(kind, type);
      return { type, parse: withLinks(kind, anywhere, createParser(kind, limits)) };
    },

    /** `UpsertAssetInput` */
    upsert: <K extends RecordKind>(kind: K): ItemType<Linkable<UpdateOf<K>>> => ({
      type: builder.inputType(`Upsert${kind.name}Input`, {
        description: `The fields of ${withArticle(kind.label)} to create or change: ${exampleFields(kind)}. In a stored ${kind.label}, absent fields stay unchanged and null clears a field; a new one needs the fields that \`Create${kind.name}Input\` requires.${upsertedExternalIds(kind)}`,
        extensions: item,
        fields: (t) => ({ ...inputFields(t, kind, { requires: false }), ...links(t, kind, toStored) }),
      }),
      parse: withLinks(kind, toStored, updateParser(kind, limits)),
    }),

    /** `UpdateProjectInput` */
    update: <K extends RecordKind>(kind: K): ItemType<Linkable<UpdateOf<K>>> => ({
      type: builder.inputType(`Update${kind.name}Input`, {
        description: `The fields of ${withArticle(kind.label)} to change: ${exampleChange(kind)}. Absent fields stay unchanged; null clears a field.`,
        extensions: item,
        fields: (t) => inputFields(t, kind, { requires: false }),
      }),
      parse: updateParser(kind, limits),
    }),

    /** `AssetPatch` */
    patch: <K extends RecordKind>(kind: K): ItemType<Patch<K>> => ({
      type: builder.inputType(`${kind.name}Patch`, {
        description: `${capitalized(withArticle(kind.label))} to change, by its ID, and the new values of some fields: ${examplePatch(kind)}. Absent fields stay unchanged; null clears a field.`,
        extensions: item,
        fields: (t) => ({
          id: t.id({ required: true, description: `The ID of the ${kind.label}.` }),
          ifUpdatedAt: t.field({
            type: 'DateTime',
            description: `The \`updatedAt\` of the ${kind.label} when you read it. If the ${kind.label} has changed since, the batch is rejected with the code CONFLICT.`,
          }),
          ...inputFields(t, kind, { requires: false }),
          ...links(t, kind, toStored),
        }),
      }),
      parse: patchParser(kind, limits, withLinks(kind, toStored, updateParser(kind, limits))),
    }),
  };
}

const upsertedExternalIds = (kind: RecordKind): string =>
  kind.fields.externalIds
    ? ' `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems.'
    : '';

/** Ways in which an item's links may refer to records: only a new record can refer to others of the same mutation. */
type Ways = readonly (keyof RecordLink)[];

const anywhere: Ways = ['externalId', 'ref'];

const toStored: Ways = ['externalId'];

type LinkTypes = ReturnType<typeof createLinkTypes>;

function createLinkTypes(builder: Builder) {
  const externalId = builder.inputType('ExternalIdInput', {
    description: 'The ID of a record in another system: `{ key: "erp", value: "4711" }`.',
    fields: (t) => ({
      key: t.string({ required: true, description: 'The name of the system, as in `externalIds`.' }),
      value: t.string({ required: true, description: 'The ID that the record has there.' }),
    }),
  });
  const externalIdField = (t: InputFields, required: boolean) =>
    t.field({
      type: externalId,
      required,
      description: 'An external ID that exactly one stored record has: `{ key: "erp", value: "4711" }`.',
    });
  return {
    anywhere: builder.inputType('RecordLink', {
      isOneOf: true,
      description:
        'Refers to a record without its ID: `{ externalId: { key: "erp", value: "4711" } }`, or `{ ref: "harbour-wall" }` for one that the same mutation creates.',
      fields: (t) => ({
        externalId: externalIdField(t, false),
        ref: t.string({ description: 'The `ref` of a record that the same mutation creates.' }),
      }),
    }),
    toStored: builder.inputType('StoredRecordLink', {
      description: 'Refers to a stored record without its ID: `{ externalId: { key: "erp", value: "4711" } }`.',
      fields: (t) => ({ externalId: externalIdField(t, true) }),
    }),
  };
}

/** Asset categories have no external IDs by which a stored one could be found. */
const linksOf = (kind: RecordKind, ways: Ways) =>
  linkFields(kind).filter(([, , { target }]) => ways === anywhere || kindNamed(target).fields.externalIds);

/** Returns the fields of the links: `project` beside `projectId` */
const linkInputFields = (t: InputFields, kind: RecordKind, types: LinkTypes, ways: Ways) =>
  Object.fromEntries(
    linksOf(kind, ways).map(([name, field, { refersTo, target }]) => [
      name,
      t.field({
        type: ways === anywhere ? types.anywhere : types.toStored,
        description: `${capitalized(refersTo)}, instead of \`${field}\`: ${exampleLink(kindNamed(target))}.`,
      }),
    ]),
  );

const inputFields = (t: InputFields, kind: RecordKind, { requires }: { requires: boolean }) =>
  Object.fromEntries(
    Object.entries(kind.fields).map(([name, field]) => [
      name,
      t.field({
        type: scalarOf(field),
        required: requires && field.required === true,
        description: field.description,
      }),
    ]),
  );
