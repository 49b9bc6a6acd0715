/** The input types of items to write and of keys to find records by, derived from the record kinds, with the examples in descriptions. */
import { capitalized, constantCase, withArticle } from '../../../model/labels.ts';
import { matchableFields, type RecordKind } from '../../../model/record-kind.ts';
import type { ValueLimits } from '../../../model/schemas.ts';
import { kindNamed } from '../../../records/index.ts';
import type { RecordKey } from '../../../services/record-keys.ts';
import { anywhere, item, linksOf, toStored, type Ways } from '../../execution/item-parsers.ts';
import { parseArgument } from '../argument.ts';
import { builder, type InputFields, type InputRef, scalarOf } from '../builder.ts';

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
  extensions: item,
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
    extensions: item,
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

const exampleFields = ({ example }: RecordKind): string => code(literal(example));

/** `{ name: "Crane" }` */
const exampleChange = (kind: RecordKind): string => code(literal(changeOf(kind)));

/** `{ id: "asset_…", name: "Crane" }` */
const examplePatch = (kind: RecordKind): string => code(literal(patchOf(kind)));

/** Returns `createAssets(input: [{ name: "Crane" }]) { id }` */
export const exampleCreate = (kind: RecordKind): string =>
  mutation(`create${kind.plural}`, { input: [changeOf(kind)] });

export const exampleUpdate = (kind: RecordKind): string => mutation(`update${kind.plural}`, { input: [patchOf(kind)] });

export const exampleUpdateOne = (kind: RecordKind): string =>
  mutation(`update${kind.name}`, { id: exampleId(kind), input: changeOf(kind) });

/** `{ externalId: "erp" }`, or `{ field: REFERENCE }` for a kind without external IDs. */
export const exampleKey = (kind: RecordKind): string => code(keyOf(kind));

/** Returns `upsertAssets(by: { externalId: "erp" }, input: [{ externalIds: { erp: "4711" }, name: "Crane" }]) { outcome }` */
export function exampleUpsert(kind: RecordKind): string {
  const { fields, example } = kind;
  const [field = ''] = matchableFields(kind);
  const item = fields.externalIds
    ? { externalIds: { erp: '4711' }, ...changeOf(kind) }
    : { [field]: (example as Readonly<Record<string, unknown>>)[field], ...changeOf(kind) };
  return code(`upsert${kind.plural}(by: ${keyOf(kind)}, input: ${literal([item])}) { outcome }`);
}

const keyOf = (kind: RecordKind): string =>
  kind.fields.externalIds ? '{ externalId: "erp" }' : `{ field: ${constantCase(matchableFields(kind)[0] ?? '')} }`;

/** Returns a link to a record of the kind: by an external ID, or by a `ref` if it has none. */
const exampleLink = ({ fields }: RecordKind): string =>
  code(literal(fields.externalIds ? { externalId: { key: 'erp', value: '4711' } } : { ref: 'parent' }));

const imported = literal({
  locations: [{ ref: 'yard', name: 'North yard' }],
  projects: [{ name: 'Harbour wall', location: { ref: 'yard' } }],
});

export const exampleImportInput = code(imported);

export const exampleImport = code(`importRecords(input: ${imported}) { projects { id } }`);

export const exampleDelete = (kind: RecordKind): string => mutation(`delete${kind.plural}`, { ids: [exampleId(kind)] });

const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_…`;

const changeOf = ({ example }: RecordKind) => ({ name: example.name });

const patchOf = (kind: RecordKind) => ({ id: exampleId(kind), ...changeOf(kind) });

const mutation = (name: string, args: object): string => code(`${name}(${entries(args)}) { id }`);

function code(text: string): string {
  return `\`${text}\``;
}

function entries(object: object): string {
  return Object.entries(object)
    .map(([name, value]) => `${name}: ${literal(value)}`)
    .join(', ');
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return typeof value === 'object' && value !== null ? `{ ${entries(value)} }` : JSON.stringify(value);
}

interface SentKey {
  readonly field?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

const types = new Map<RecordKind, InputRef<SentKey>>();

/** `AssetKey` */
export function keyType(kind: RecordKind): InputRef<SentKey> {
  const type = types.get(kind) ?? createKeyType(kind);
  types.set(kind, type);
  return type;
}

/** Throws a ServiceError 400. */
export function parseKey({ field, externalId }: SentKey, { maxTextLength }: ValueLimits): RecordKey {
  if (field) return { field };
  return { externalId: String(parseArgument(['by', 'externalId'], { type: 'text' }, externalId, maxTextLength)) };
}

function createKeyType(kind: RecordKind): InputRef<SentKey> {
  const fields = matchableFields(kind);
  if (fields.length === 0 && !kind.fields.externalIds) {
    throw new Error(`${kind.pluralLabel} have no key: declare a field with matchable(…), or externalIds()`);
  }
  return builder.inputType(`${kind.name}Key`, {
    isOneOf: true,
    description: `What identifies ${withArticle(kind.label)} besides its ID: ${exampleKey(kind)}.`,
    fields: (t) => ({
      ...(fields.length > 0 && {
        field: t.field({
          type: keyFieldType(kind),
          description: 'The field whose value identifies the record.',
        }),
      }),
      ...(kind.fields.externalIds && {
        externalId: t.string({
          description:
            'The name of the other system, as in `externalIds`. An upsert leaves the IDs in all other systems unchanged.',
        }),
      }),
    }),
  });
}

/** `AssetKeyField` */
const keyFieldType = (kind: RecordKind) =>
  builder.enumType(`${kind.name}KeyField`, {
    description: `A field that identifies ${withArticle(kind.label)}.`,
    values: Object.fromEntries(
      matchableFields(kind).map((name) => [
        constantCase(name),
        { value: name, description: kind.fields[name]?.description ?? '' },
      ]),
    ),
  });
