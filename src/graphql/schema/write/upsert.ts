/** The mutations that create or change records by a key of another system: `upsertAssets`. */
import { capitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { isRejected } from '../../../services/checks/validation.ts';
import { type Upserted, upsertRecords } from '../../../services/upsert-records.ts';
import { builder, type MutationFields } from '../builder.ts';
import { typeOf } from '../types.ts';
import { upsertInput } from './input-type.ts';
import { keyType, parseKey } from './key-type.ts';
import { batchField, byId, issueType, onInvalidArgument } from './write.ts';
import { exampleKey, exampleUpsert } from './write-examples.ts';

export function upsertField<K extends RecordKind>(t: MutationFields, kind: K) {
  const by = t.arg({
    type: keyType(kind),
    required: true,
    description: `The key by which ${kind.pluralLabel} are matched; every item must have it: ${exampleKey(kind)}.`,
  });
  return batchField(t, {
    type: upsertedType(kind),
    description: `Updates the ${kind.pluralLabel} that match an item by its key, and creates the others, all or none. Returns them in the order sent: ${exampleUpsert(kind)}.`,
    input: { type: upsertInput(kind), description: `The ${kind.pluralLabel} to create or change, each once.` },
    parser: ({ parsers }) => parsers.upsert(kind),
    options: { by, onInvalid: onInvalidArgument(t) },
    run: (session, input, { by, onInvalid }, { limits }) =>
      upsertRecords(session, kind, input, { by: parseKey(by, limits), limits, onInvalid }),
    primed: (upserted) => [[kind, byId(upserted.flatMap((item) => (isRejected(item) ? [] : [item.record])))]],
  });
}

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
/** `UpsertedAsset` */
const upsertedType = <K extends RecordKind>(kind: K) =>
  builder.objectRef<Upserted<K>>(`Upserted${kind.name}`).implement({
    description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert did with it.`,
    fields: (t) => ({
      record: t.field({
        type: typeOf(kind),
        nullable: true,
        description: `The ${kind.label} as it is now; null only if the item was rejected, which needs \`onInvalid: SKIP\`.`,
        resolve: (upserted) => (isRejected(upserted) ? null : upserted.record) as never,
      }),
      issues: t.field({
        type: [issueType],
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
