/** The mutations that delete records: `deleteAssets`. */
import { count, type Parsed } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { idProblem } from '../../../model/schemas.ts';
import { deleteRecords } from '../../../services/delete-records.ts';
import type { ArgumentExtensions } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { batchField, type MutationSchema, writeCost } from './write.ts';
import { exampleDelete } from './write-examples.ts';

export function deleteField(schema: MutationSchema) {
  const { maxBatch } = schema.limits;

  const handling = schema.builder.enumType('ReferenceHandling', {
    description: 'What a deletion does if other records refer to the ones it deletes.',
    values: {
      REFUSE: { value: 'refuse', description: 'Deletes nothing: the error lists the records that refer to each one.' },
      CLEAR: {
        value: 'clear',
        description: `Sets these references to null, which is recorded as a change of each record that has one. At most ${count(maxBatch)} can be cleared at once.`,
      },
    } as const,
  });

  return <K extends RecordKind>(t: MutationFields, kind: K) => {
    const references = t.arg({
      type: handling,
      required: true,
      defaultValue: 'refuse',
      description: 'What to do if other records refer to them. References between records of the batch do not count.',
      // Charges for as many records as may be changed.
      extensions: {
        cost: (value) => (value === 'CLEAR' ? maxBatch * writeCost : 0),
      } satisfies ArgumentExtensions,
    });
    return batchField(schema, t, {
      type: schema.types.of(kind),
      description: `Deletes ${kind.pluralLabel}, all or none, and returns them as they were, in the order sent: ${exampleDelete(kind)}.`,
      list: {
        name: 'ids',
        type: 'ID',
        parse: parserOf(kind),
        description: `The IDs of the ${kind.pluralLabel}, each once.`,
      },
      options: { references },
      run: (session, ids, { references }) => deleteRecords(session, kind, ids, { references, maxCleared: maxBatch }),
      primed: (records) => [[kind, new Map(records.map(({ id }) => [id, null]))]],
    });
  };
}

/** Parses an ID. In GraphQL, it may also be a whole number. */
const parserOf =
  (kind: RecordKind) =>
  (sent: unknown): Parsed<string> => {
    const id = Number.isInteger(sent) ? String(sent) : sent;
    const problem = idProblem(kind, id);
    // The cast is safe: any other type is a problem.
    return problem === undefined
      ? { value: id as string }
      : { issues: [{ path: [], message: problem }], validFields: {} };
  };
