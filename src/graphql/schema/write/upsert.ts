/** The mutations that create or change records by a key of another system: `upsertAssets`. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { isRejected } from '../../../services/checks/validation.ts';
import { type Upserted, upsertRecords } from '../../../services/upsert-records.ts';
import type { MutationFields } from '../builder.ts';
import { batchField, byId, type MutationSchema } from './write.ts';
import { exampleKey, exampleUpsert } from './write-examples.ts';

export function upsertField(schema: MutationSchema) {
  const { inputs, keys, limits } = schema;
  const upsertedType = upsertedTypes(schema);

  return <K extends RecordKind>(t: MutationFields, kind: K) => {
    const by = t.arg({
      type: keys.typeFor(kind),
      required: true,
      description: `The key by which ${kind.pluralLabel} are matched; every item must have it: ${exampleKey(kind)}.`,
    });
    return batchField(schema, t, {
      type: upsertedType(kind),
      description: `Updates the ${kind.pluralLabel} that match an item by its key, and creates the others, all or none. Returns them in the order sent: ${exampleUpsert(kind)}.`,
      input: { ...inputs.upsert(kind), description: `The ${kind.pluralLabel} to create or change, each once.` },
      options: { by, onInvalid: schema.rejections.argument(t) },
      run: (session, input, { by, onInvalid }) =>
        upsertRecords(session, kind, input, { by: keys.parse(by), limits, onInvalid }),
      primed: (upserted) => [[kind, byId(upserted.flatMap((item) => (isRejected(item) ? [] : [item.record])))]],
    });
  };
}

/** `UpsertedAsset` */
function upsertedTypes({ builder, types, rejections }: MutationSchema) {
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
      REJECTED: {
        value: 'rejected',
        description: 'The item is invalid, and was left out because of `onInvalid: SKIP`: `issues` says why.',
      },
    } as const,
  });
  return <K extends RecordKind>(kind: K) =>
    builder.objectRef<Upserted<K>>(`Upserted${kind.name}`).implement({
      description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert did with it.`,
      fields: (t) => ({
        record: t.field({
          type: types.of(kind),
          nullable: true,
          description: `The ${kind.label} as it is now; null only if the item was rejected, which needs \`onInvalid: SKIP\`.`,
          resolve: (upserted) => (isRejected(upserted) ? null : upserted.record) as never,
        }),
        issues: t.field({
          type: [rejections.issue],
          description: 'What is wrong with the item, if it was rejected.',
          resolve: (upserted) => (isRejected(upserted) ? [...upserted.issues] : []),
        }),
        outcome: t.field({
          type: outcome,
          description: 'What the upsert did.',
          resolve: (upserted) => upserted.outcome,
        }),
      }),
    });
}
