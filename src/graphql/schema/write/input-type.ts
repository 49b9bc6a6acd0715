/** The input types of items to write, derived from the record kinds. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { kindNamed } from '../../../records/index.ts';
import { anywhere, linksOf, toStored, type Ways } from '../../execution/item-parsers.ts';
import { item } from '../../limits/extensions.ts';
import { builder, type InputFields, type InputRef } from '../builder.ts';
import { scalarOf } from '../types.ts';
import { exampleChange, exampleFields, exampleLink, examplePatch } from './write-examples.ts';

const createInputs = new Map<RecordKind, InputRef<unknown>>();

/** `CreateAssetInput`, which imports have, too. */
export function createInput(kind: RecordKind): InputRef<unknown> {
  const type = createInputs.get(kind) ?? newCreateInput(kind);
  createInputs.set(kind, type);
  return type;
}

const newCreateInput = (kind: RecordKind): InputRef<unknown> =>
  builder.inputType(`Create${kind.name}Input`, {
    description: `The fields of ${withArticle(kind.label)} to create: ${exampleFields(kind)}. A field that is null or absent is not set.`,
    extensions: item,
    fields: (t) => ({
      ...inputFields(t, kind, { requires: true }),
      ...linkInputFields(t, kind, anywhere),
      ref: t.string({
        description: `A name of your choice, by which other records of the same mutation refer to this ${kind.label}. It is not stored.`,
      }),
    }),
  });

/** `UpsertAssetInput` */
export const upsertInput = (kind: RecordKind): InputRef<unknown> =>
  builder.inputType(`Upsert${kind.name}Input`, {
    description: `The fields of ${withArticle(kind.label)} to create or change: ${exampleFields(kind)}. In a stored ${kind.label}, absent fields stay unchanged and null clears a field; a new one needs the fields that \`Create${kind.name}Input\` requires.${upsertedExternalIds(kind)}`,
    extensions: item,
    fields: (t) => ({ ...inputFields(t, kind, { requires: false }), ...linkInputFields(t, kind, toStored) }),
  });

/** `UpdateProjectInput` */
export const updateInput = (kind: RecordKind): InputRef<unknown> =>
  builder.inputType(`Update${kind.name}Input`, {
    description: `The fields of ${withArticle(kind.label)} to change: ${exampleChange(kind)}. Absent fields stay unchanged; null clears a field.`,
    extensions: item,
    fields: (t) => inputFields(t, kind, { requires: false }),
  });

/** `AssetPatch` */
export const patchInput = (kind: RecordKind): InputRef<unknown> =>
  builder.inputType(`${kind.name}Patch`, {
    description: `${capitalized(withArticle(kind.label))} to change, by its ID, and the new values of some fields: ${examplePatch(kind)}. Absent fields stay unchanged; null clears a field.`,
    extensions: item,
    fields: (t) => ({
      id: t.id({ required: true, description: `The ID of the ${kind.label}.` }),
      ifUpdatedAt: t.field({
        type: 'DateTime',
        description: `The \`updatedAt\` of the ${kind.label} when you read it. If the ${kind.label} has changed since, the batch is rejected with the code CONFLICT.`,
      }),
      ...inputFields(t, kind, { requires: false }),
      ...linkInputFields(t, kind, toStored),
    }),
  });

const upsertedExternalIds = (kind: RecordKind): string =>
  kind.fields.externalIds
    ? ' `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems.'
    : '';

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
const linkTypes = {
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

/** Returns the fields of the links: `project` beside `projectId` */
const linkInputFields = (t: InputFields, kind: RecordKind, ways: Ways) =>
  Object.fromEntries(
    linksOf(kind, ways).map(([name, field, { refersTo, target }]) => [
      name,
      t.field({
        type: ways === anywhere ? linkTypes.anywhere : linkTypes.toStored,
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
