/** The mutations that create records, and that change stored ones: `createAssets`, `updateAssets`, `updateProject`. */
import { withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { createRecords } from '../../../services/create-records.ts';
import { updateRecord, updateRecords } from '../../../services/update-records.ts';
import type { FieldExtensions } from '../../limits/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { typeOf } from '../types.ts';
import { createInput, patchInput, updateInput } from './input-type.ts';
import { batchField, byId, write, writeCost } from './write.ts';
import { exampleCreate, exampleUpdate, exampleUpdateOne } from './write-examples.ts';

export const createField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  batchField(t, {
    type: typeOf(kind),
    description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent: ${exampleCreate(kind)}.`,
    input: { type: createInput(kind), description: `The ${kind.pluralLabel} to create.` },
    parser: ({ parsers }) => parsers.create(kind),
    run: (session, input) => createRecords(session, kind, input),
    primed: (records) => [[kind, byId(records)]],
  });

export const updateField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  batchField(t, {
    type: typeOf(kind),
    description: `Changes ${kind.pluralLabel}, all or none, and returns them in the order sent. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole; an item that changes nothing writes nothing: ${exampleUpdate(kind)}.`,
    input: { type: patchInput(kind), description: `The ${kind.pluralLabel} to change, each once.` },
    parser: ({ parsers }) => parsers.patch(kind),
    run: (session, input) => updateRecords(session, kind, input),
    primed: (records) => [[kind, byId(records)]],
  });

/** The same operation as PATCH over REST. */
export const updateOneField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    deprecationReason: `Use \`update${kind.plural}\`, which also changes several at once.`,
    description: `Changes fields of ${withArticle(kind.label)}. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole: ${exampleUpdateOne(kind)}.`,
    extensions: { cost: { perRecord: writeCost } } satisfies FieldExtensions,
    args: {
      id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
      input: t.arg({
        type: updateInput(kind),
        required: true,
        description: 'The fields to change.',
      }),
    },
    // The cast is safe because the service returns a record of the kind; the compiler cannot see it for a type parameter.
    resolve: (_root, { id, input }, context, info) =>
      write(context, info, {
        run: (session) => updateRecord(session, kind, id, context.parsers.update(kind)(input)),
      }) as never,
  });
