/** The mutations that change records: `updateAssets`. */
import type { RecordKind } from '../../../model/record-kind.ts';
import { updateRecords } from '../../../services/update-records.ts';
import type { MutationFields } from '../builder.ts';
import { batchField, byId, type MutationSchema } from './write.ts';
import { exampleUpdate } from './write-examples.ts';

export const updateField =
  (schema: MutationSchema) =>
  <K extends RecordKind>(t: MutationFields, kind: K) =>
    batchField(schema, t, {
      type: schema.types.of(kind),
      description: `Changes ${kind.pluralLabel}, all or none, and returns them in the order sent. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole; an item that changes nothing writes nothing: ${exampleUpdate(kind)}.`,
      input: { ...schema.inputs.patch(kind), description: `The ${kind.pluralLabel} to change, each once.` },
      run: (session, input) => updateRecords(session, kind, input),
      primed: (records) => [[kind, byId(records)]],
    });
