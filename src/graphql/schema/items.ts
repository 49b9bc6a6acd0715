import { capitalized, listField, withArticle } from '../../model/labels.ts';
import { linkFields, linkKeys } from '../../model/links.ts';
import { matchableFields, type RecordKind } from '../../model/record-kind.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';
import { builder, enumType, type InputFields, type InputRef, memoize, scalarOf } from './builder.ts';

/** The service reports required fields that are missing in variables (graphql/limits.ts). */
const itemType = (name: string, description: string, fields: (t: InputFields) => FieldRefs): InputRef<unknown> =>
  builder.inputType(name, { description, extensions: { isItem: true }, fields });

type FieldRefs = Readonly<Record<string, ReturnType<InputFields['field']>>>;

const optionally = 'Absent fields stay unchanged; null clears a field.';

export const inputOf = {
  create: memoize((kind: RecordKind) =>
    itemType(
      `Create${kind.name}Input`,
      `The fields of ${withArticle(kind.label)} to create. A field that is null or absent is not set.`,
      (t) => ({
        ...inputFields(t, kind, { requires: true }),
        ...linkInputFields(t, kind, anyLink),
        ref: refField(t, kind),
      }),
    ),
  ),

  upsert: (kind: RecordKind) =>
    itemType(
      `Upsert${kind.name}Input`,
      `The fields of ${withArticle(kind.label)} to create or change. In a stored ${kind.label}, absent fields stay unchanged and null clears a field; a new one needs the fields that \`Create${kind.name}Input\` requires.${kind.fields.externalIds ? replacedExternalIds : ''}`,
      (t) => ({
        id: t.id({
          description: `Only with \`by: { field: ID }\`: the ID of the ${kind.label} to change; a new one has none.`,
        }),
        ...changeFields(t, kind),
        ...linkInputFields(t, kind, linkToStored),
      }),
    ),

  import: (kind: RecordKind) =>
    itemType(
      `Import${kind.name}Input`,
      `The fields of ${withArticle(kind.label)} to create, or to change if it is found by the key that \`by\` has for its kind. In a stored ${kind.label}, absent fields stay unchanged and null clears a field; a new one needs the fields that \`Create${kind.name}Input\` requires.${kind.fields.externalIds ? replacedExternalIds : ''}`,
      (t) => ({
        id: t.id({
          description: `Only if \`by\` has \`${listField(kind)}: { field: ID }\`: the ID of the ${kind.label} to change; a new one has none.`,
        }),
        ...changeFields(t, kind),
        ...linkInputFields(t, kind, anyLink),
        ref: refField(t, kind),
      }),
    ),

  update: (kind: RecordKind) =>
    itemType(`Update${kind.name}Input`, `The fields of ${withArticle(kind.label)} to change. ${optionally}`, (t) =>
      changeFields(t, kind),
    ),

  patch: (kind: RecordKind) =>
    itemType(
      `${kind.name}Patch`,
      `${capitalized(withArticle(kind.label))} to change, by its ID, and the new values of some fields. ${optionally}`,
      (t) => ({
        id: t.id({ required: true, description: `The ID of the ${kind.label}.` }),
        ifUpdatedAt: t.field({
          type: 'DateTime',
          description: `The \`updatedAt\` of the ${kind.label} when you read it. If the ${kind.label} has changed since, the batch is rejected with the code CONFLICT.`,
        }),
        ...changeFields(t, kind),
        ...linkInputFields(t, kind, linkToStored),
      }),
    ),
};

const refField = (t: InputFields, kind: RecordKind) =>
  t.string({
    description: `A name of your choice, by which other records of the same mutation refer to this ${kind.label}. It is not stored.`,
  });

const replacedExternalIds =
  ' `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems.';

const externalId = itemType('ExternalIdInput', 'The ID of a record in another system.', (t) => ({
  key: t.string({ required: true, description: 'The name of the system, as in `externalIds`.' }),
  value: t.string({ required: true, description: 'The ID that the record has there.' }),
}));

const linkKeyFields = (t: InputFields) => {
  const targets = recordKinds.flatMap((kind) => linkFields(kind).map(([, , { target }]) => kindNamed(target)));
  const names = targets.flatMap(linkKeys);
  const texts = names.filter((name) => !['id', 'externalId', 'externalIds'].includes(name));
  return {
    id: t.id({ description: 'Its ID.' }),
    externalId: t.field({ type: externalId, description: 'An external ID of it: short for `externalIds` with one.' }),
    externalIds: t.field({
      type: 'ExternalIds',
      description: 'External IDs of it; null for a system where it has none.',
    }),
    ...Object.fromEntries(
      [...new Set(texts)].map((name) => [name, t.string({ description: `Its \`${name}\`; null if it has none.` })]),
    ),
  };
};

const linkByValues =
  'A link to a record by its values: `{ name: "North yard" }`, or `{ externalIds: { erp: "4711" } }`. Exactly one record must have all of them.';

const linkToStored = builder.inputType('StoredRecordLink', {
  description: linkByValues,
  fields: linkKeyFields,
});

const anyLink = builder.inputType('RecordLink', {
  description: `${linkByValues} Or a link to a record of the same mutation: \`{ ref: "harbour-wall" }\`.`,
  fields: (t) => ({
    ...linkKeyFields(t),
    ref: t.string({ description: 'The `ref` of a record of the same mutation, and nothing else.' }),
  }),
});

const linkInputFields = (t: InputFields, kind: RecordKind, type: InputRef<unknown>) =>
  Object.fromEntries(
    linkFields(kind).map(([name, field, { refersTo }]) => [
      name,
      t.field({ type, description: `${capitalized(refersTo)}, instead of \`${field}\`.` }),
    ]),
  );

const inputFields = (t: InputFields, kind: RecordKind, { requires = false } = {}) =>
  Object.fromEntries(
    Object.entries(kind.fields).map(([name, field]) => [
      name,
      // Instead of a reference, an item may have a link.
      t.field({
        type: scalarOf(field),
        required: requires && field.required === true && field.type !== 'reference',
        description: field.description,
      }),
    ]),
  );

const changeFields = (t: InputFields, kind: RecordKind) => ({
  ...inputFields(t, kind),
  ...(kind.fields.externalIds && {
    mergeExternalIds: t.field({
      type: 'ExternalIds',
      description:
        'The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`.',
    }),
  }),
});

export interface SentKey {
  readonly field?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

export const keyType = memoize((kind: RecordKind) =>
  builder.inputRef<SentKey>(`${kind.name}Key`).implement({
    isOneOf: true,
    description: `What identifies ${withArticle(kind.label)}.`,
    fields: (t) => ({
      field: t.field({ type: keyFieldType(kind), description: 'The field whose value identifies the record.' }),
      ...(kind.fields.externalIds && {
        externalId: t.string({
          description:
            'The name of the other system, as in `externalIds`. An upsert leaves the IDs in all other systems unchanged.',
        }),
      }),
    }),
  }),
);

const keyFieldType = (kind: RecordKind) =>
  enumType(
    `${kind.name}KeyField`,
    `A field that identifies ${withArticle(kind.label)}.`,
    Object.fromEntries(
      ['id', ...matchableFields(kind)].map((name) => [name, kind.storedFields[name]?.description ?? '']),
    ),
  );
