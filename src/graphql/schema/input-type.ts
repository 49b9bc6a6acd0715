/** Input types, derived from the record kinds and validated by their schemas: the same rules and messages as over REST. */
import { capitalized, withArticle } from '../../model/labels.ts';
import { linkFields, linkParser } from '../../model/links.ts';
import { patchParser } from '../../model/patch.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { kindNamed } from '../../records/index.ts';
import { takeTurns } from '../../slices.ts';
import type { Builder, InputFields } from './builder.ts';
import { scalarOf } from './object-type.ts';
import { exampleChange, exampleFields, exampleLink, examplePatch } from './write-examples.ts';

export type InputTypes = ReturnType<typeof createInputTypes>;

/** The input types of one schema. */
export function createInputTypes(builder: Builder, limits: ValueLimits) {
  const linkTypes = createLinkTypes(builder);
  const links = (t: InputFields, kind: RecordKind, lead: keyof LinkTypes) => linkInputFields(t, kind, linkTypes, lead);

  const create = <K extends RecordKind>(kind: K) =>
    builder
      .inputType(`Create${kind.name}Input`, {
        description: `The fields of ${withArticle(kind.label)} to create: ${exampleFields(kind)}. A field that is null or absent is not set.`,
        fields: (t) => ({
          ...inputFields(t, kind, { requires: true }),
          ...links(t, kind, 'anywhere'),
          ref: t.string({
            description: `A name of your choice, by which other records of the same mutation refer to this ${kind.label}. It is not stored.`,
          }),
        }),
      })
      .validate(inTurns(linkParser(kind, limits, createParser(kind, limits))));
  const createTypes = new Map<RecordKind, unknown>();

  return {
    /** `CreateAssetInput`. Resolvers get each item parsed, valid or not: the service reports the issues of all items together. */
    create<K extends RecordKind>(kind: K): ReturnType<typeof create<K>> {
      // The cast is safe because the map has the type of each kind.
      const type = (createTypes.get(kind) ?? create(kind)) as ReturnType<typeof create<K>>;
      createTypes.set(kind, type);
      return type;
    },

    /** `UpsertAssetInput` */
    upsert: <K extends RecordKind>(kind: K) =>
      builder
        .inputType(`Upsert${kind.name}Input`, {
          description: `The fields of ${withArticle(kind.label)} to create or change: ${exampleFields(kind)}. Of a stored ${kind.label}, absent fields stay unchanged and null clears a field; a new one needs the fields that \`Create${kind.name}Input\` requires.${upsertedExternalIds(kind)}`,
          fields: (t) => ({ ...inputFields(t, kind, { requires: false }), ...links(t, kind, 'toStored') }),
        })
        .validate(inTurns(linkParser(kind, limits, updateParser(kind, limits)))),

    /** `UpdateProjectInput` */
    update: <K extends RecordKind>(kind: K) =>
      builder
        .inputType(`Update${kind.name}Input`, {
          description: `The fields of ${withArticle(kind.label)} to change: ${exampleChange(kind)}. Absent fields stay unchanged; null clears a field.`,
          fields: (t) => inputFields(t, kind, { requires: false }),
        })
        .validate(inTurns(updateParser(kind, limits))),

    /** `AssetPatch` */
    patch: <K extends RecordKind>(kind: K) =>
      builder
        .inputType(`${kind.name}Patch`, {
          description: `${capitalized(withArticle(kind.label))} to change, by its ID, and the new values of some fields: ${examplePatch(kind)}. Absent fields stay unchanged; null clears a field.`,
          fields: (t) => ({
            id: t.id({ required: true, description: `The ID of the ${kind.label}.` }),
            ifUpdatedAt: t.field({
              type: 'DateTime',
              description: `The \`updatedAt\` that the ${kind.label} was read with. If somebody has changed it since, the batch is refused with the code CONFLICT.`,
            }),
            ...inputFields(t, kind, { requires: false }),
            ...links(t, kind, 'toStored'),
          }),
        })
        .validate(inTurns(patchParser(kind, limits))),
  };
}

const upsertedExternalIds = (kind: RecordKind): string =>
  kind.fields.externalIds
    ? ' `externalIds` is replaced as a whole, but an upsert by an external ID keeps those of other systems.'
    : '';

type LinkTypes = ReturnType<typeof createLinkTypes>;

/** Only a new record can refer to others that the same mutation creates. */
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

/** `project` beside `projectId`. Asset categories have no external IDs by which a stored one could be found. */
const linkInputFields = (t: InputFields, kind: RecordKind, types: LinkTypes, lead: keyof LinkTypes) =>
  Object.fromEntries(
    linkFields(kind)
      .filter(([, , { target }]) => lead === 'anywhere' || kindNamed(target).fields.externalIds)
      .map(([name, field, { refersTo, target }]) => [
        name,
        t.field({
          type: types[lead],
          description: `${capitalized(refersTo)}, instead of \`${field}\`: ${exampleLink(kindNamed(target))}.`,
        }),
      ]),
  );

/** A Standard Schema. A batch may have ten thousand records, each with many issues: other requests run in between. */
function inTurns<T>(parse: (input: unknown) => T) {
  const turn = takeTurns();
  const validate = async (input: unknown) => {
    await turn();
    return { value: parse(input) };
  };
  return { '~standard': { version: 1, vendor: 'yardgraph', validate } } as const;
}

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
