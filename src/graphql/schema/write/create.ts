/** The mutations that create records: `createAssets`. */
import type { RecordKind } from '../../../model/record-kind.ts';
import { createRecords } from '../../../services/create-records.ts';
import type { MutationFields } from '../builder.ts';
import { batchField, byId, type MutationSchema } from './write.ts';
import { exampleCreate } from './write-examples.ts';

export const createField =
  (schema: MutationSchema) =>
  <K extends RecordKind>(t: MutationFields, kind: K) =>
    batchField(schema, t, {
      type: schema.types.of(kind),
      description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent: ${exampleCreate(kind)}.`,
      input: { ...schema.inputs.create(kind), description: `The ${kind.pluralLabel} to create.` },
      run: (session, input) => createRecords(session, kind, input),
      primed: (records) => [[kind, byId(records)]],
    });
