/** The mutations that create or change records by a key of another system: `upsertAssets`. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import { matchableFields, type RecordKind } from '../../../model/record-kind.ts';
import type { UpsertKey } from '../../../services/upsert-keys.ts';
import { type Upserted, upsertRecords } from '../../../services/upsert-records.ts';
import { parseArgument } from '../argument.ts';
import type { MutationFields } from '../builder.ts';
import { constantCase } from '../field-labels.ts';
import { batchField, byId, type MutationSchema } from './write.ts';
import { exampleKey, exampleUpsert } from './write-examples.ts';

export function upsertField(schema: MutationSchema) {
  const { inputs, limits } = schema;
  const upsertedType = upsertedTypes(schema);

  return <K extends RecordKind>(t: MutationFields, kind: K) => {
    const by = t.arg({
      type: keyType(schema, kind),
      required: true,
      description: `The key by which ${kind.pluralLabel} are matched; every item must have it: ${exampleKey(kind)}.`,
    });
    return batchField(schema, t, {
      type: upsertedType(kind),
      description: `Updates the ${kind.pluralLabel} that match an item by its key, and creates the others, all or none. Returns them in the order sent: ${exampleUpsert(kind)}.`,
      list: {
        name: 'input',
        ...inputs.upsert(kind),
        description: `The ${kind.pluralLabel} to create or change, each once.`,
      },
      options: { by },
      run: (session, input, { by }) => upsertRecords(session, kind, parseKey(by, limits.maxTextLength), input, limits),
      primed: (upserted) => [[kind, byId(upserted.map(({ record }) => record))]],
    });
  };
}

interface SentKey {
  readonly field?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

function parseKey({ field, externalId }: SentKey, maxTextLength: number): UpsertKey {
  if (field) return { field };
  return { externalId: String(parseArgument(['by', 'externalId'], { type: 'text' }, externalId, maxTextLength)) };
}

/** Creates `AssetKey`. */
function keyType(schema: MutationSchema, kind: RecordKind) {
  if (matchableFields(kind).length === 0 && !kind.fields.externalIds) {
    throw new Error(`upsert${kind.plural} has no key: declare a field with matchable(…), or externalIds()`);
  }
  return schema.builder.inputType(`${kind.name}Key`, {
    isOneOf: true,
    description: `What identifies ${withArticle(kind.label)} in an upsert: ${exampleKey(kind)}.`,
    fields: (t) => ({
      ...(matchableFields(kind).length > 0 && {
        field: t.field({
          type: keyFieldType(schema, kind),
          description: 'The field whose value identifies the record.',
        }),
      }),
      ...(kind.fields.externalIds && {
        externalId: t.string({
          description:
            'The name of the other system, as in `externalIds`. The IDs in all other systems stay unchanged.',
        }),
      }),
    }),
  });
}

/** Creates `AssetKeyField`. */
const keyFieldType = ({ builder }: MutationSchema, kind: RecordKind) =>
  builder.enumType(`${kind.name}KeyField`, {
    description: `A field that identifies ${withArticle(kind.label)} in an upsert.`,
    values: Object.fromEntries(
      matchableFields(kind).map((name) => [
        constantCase(name),
        { value: name, description: kind.fields[name]?.description ?? '' },
      ]),
    ),
  });

/** Creates `UpsertedAsset`. */
function upsertedTypes({ builder, types }: MutationSchema) {
  const outcome = builder.enumType('UpsertOutcome', {
    description: 'What an upsert did with an item.',
    values: {
      CREATED: { value: 'created', description: 'No record had the key, so a new one was created.' },
      UPDATED: { value: 'updated', description: 'The record with the key was changed.' },
      UNCHANGED: {
        value: 'unchanged',
        description:
          'The record with the key already had all these values: nothing was written, and `updatedAt` is unchanged.',
      },
    } as const,
  });
  return <K extends RecordKind>(kind: K) =>
    builder.objectRef<Upserted<K>>(`Upserted${kind.name}`).implement({
      description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert did with it.`,
      fields: (t) => ({
        record: t.field({
          type: types.of(kind),
          description: `The ${kind.label} as it is now.`,
          resolve: ({ record }) => record as never,
        }),
        outcome: t.field({
          type: outcome,
          description: 'What the upsert did.',
          resolve: (upserted) => upserted.outcome,
        }),
      }),
    });
}
