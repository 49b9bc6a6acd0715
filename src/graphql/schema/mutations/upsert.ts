/** The mutations that create or change records by a key of another system: `upsertAssets`. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import { keyFields, type RecordKind } from '../../../model/record-kind.ts';
import type { UpsertKey } from '../../../services/upsert-keys.ts';
import { type Upserted, upsertRecords } from '../../../services/upsert-records.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import { parseArgument } from '../argument.ts';
import type { MutationFields } from '../builder.ts';
import { exampleKey, exampleUpsert } from '../write-examples.ts';
import { batchLimit, byId, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

export function upsertField(schema: MutationSchema) {
  const { inputs, limits } = schema;
  const requireLength = batchLimit(limits);
  const upsertedType = upsertedTypes(schema);

  return <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [upsertedType(kind)],
      nullable: true,
      description: `Changes the ${kind.pluralLabel} that have the keys of the items, and creates those that are missing, all or none. Returns them in the order sent: ${exampleUpsert(kind)}.`,
      extensions: {
        cost: { listSize: ({ input }) => lengthOf(input), perRecord: writeCost },
      } satisfies FieldExtensions,
      args: {
        by: t.arg({
          type: keyType(schema, kind),
          required: true,
          description: `What identifies ${withArticle(kind.label)}, of which every item needs a value: ${exampleKey(kind)}.`,
        }),
        input: t.arg({
          type: [inputs.upsert(kind)],
          required: true,
          description: `The ${kind.pluralLabel} to create or change, each once.`,
          extensions: { requireLength } satisfies ArgumentExtensions,
        }),
        dryRun: dryRunArgument(t),
      },
      async resolve(_root, { by, input, dryRun }, context) {
        requireLength(input.length, 'input');
        const key = parseKey(by, limits.maxTextLength);
        const upserted = await write(context, (session) => upsertRecords(session, kind, key, input, limits), {
          dryRun,
        });
        if (dryRun) context.loaders.prime(kind, byId(upserted.map(({ record }) => record)));
        return upserted;
      },
    });
}

interface SentKey {
  readonly field?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

function parseKey({ field, externalId }: SentKey, maxTextLength: number): UpsertKey {
  if (field) return { field };
  return { externalId: String(parseArgument(['by', 'externalId'], { type: 'text' }, externalId, maxTextLength)) };
}

/** `AssetKey` */
const keyType = (schema: MutationSchema, kind: RecordKind) =>
  schema.builder.inputType(`${kind.name}Key`, {
    isOneOf: true,
    description: `What identifies ${withArticle(kind.label)} in an upsert: ${exampleKey(kind)}.`,
    fields: (t) => ({
      ...(keyFields(kind).length > 0 && {
        field: t.field({ type: keyFieldType(schema, kind), description: 'The value of a field.' }),
      }),
      ...(kind.fields.externalIds && {
        externalId: t.string({
          description: 'The ID in this system, by its name in `externalIds`. The IDs in other systems stay unchanged.',
        }),
      }),
    }),
  });

/** `AssetKeyField` */
const keyFieldType = ({ builder }: MutationSchema, kind: RecordKind) =>
  builder.enumType(`${kind.name}KeyField`, {
    description: `A field that identifies ${withArticle(kind.label)} in an upsert.`,
    values: Object.fromEntries(
      keyFields(kind).map((name) => [
        constantCase(name),
        { value: name, description: kind.fields[name]?.description ?? '' },
      ]),
    ),
  });

const constantCase = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();

/** `UpsertedAsset` */
function upsertedTypes({ builder, types }: MutationSchema) {
  const outcome = builder.enumType('UpsertOutcome', {
    description: 'What an upsert has done with an item.',
    values: {
      CREATED: { value: 'created', description: 'No record had the key: there is a new one.' },
      UPDATED: { value: 'updated', description: 'The record with the key has new values.' },
      UNCHANGED: {
        value: 'unchanged',
        description:
          'The record with the key has all values already: nothing was written, and `updatedAt` is as before.',
      },
    } as const,
  });
  return <K extends RecordKind>(kind: K) =>
    builder.objectRef<Upserted<K>>(`Upserted${kind.name}`).implement({
      description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert has done with it.`,
      fields: (t) => ({
        record: t.field({
          type: types.of(kind),
          description: `The ${kind.label} as it is now.`,
          resolve: ({ record }) => record as never,
        }),
        outcome: t.field({
          type: outcome,
          description: 'What the upsert has done.',
          resolve: (upserted) => upserted.outcome,
        }),
      }),
    });
}
