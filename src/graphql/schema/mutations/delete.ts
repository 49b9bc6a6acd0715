/** The mutations that delete records: `deleteAssets`. */
import { count } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { deleteRecords } from '../../../services/delete-records.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { exampleDelete } from '../write-examples.ts';
import { batchLimit, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

export function deleteField({ builder, types, limits }: MutationSchema) {
  const requireLength = batchLimit(limits);
  const { maxBatch } = limits;

  const references = builder.enumType('ReferenceHandling', {
    description: 'What a deletion does if other records refer to those that are to be deleted.',
    values: {
      REFUSE: { value: 'refuse', description: 'Deletes nothing: the error names the records that refer to each.' },
      CLEAR: {
        value: 'clear',
        description: `Sets these references to null, each as a change of the record that has it. At most ${count(maxBatch)} can be cleared at once.`,
      },
    } as const,
  });

  return <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [types.of(kind)],
      nullable: true,
      description: `Deletes ${kind.pluralLabel}, all or none, and returns what they were, in the order sent: ${exampleDelete(kind)}.`,
      extensions: {
        cost: { listSize: ({ ids }) => lengthOf(ids), perRecord: writeCost },
      } satisfies FieldExtensions,
      args: {
        ids: t.arg.idList({
          required: true,
          description: `The IDs of the ${kind.pluralLabel}, each once.`,
          extensions: { requireLength } satisfies ArgumentExtensions,
        }),
        references: t.arg({
          type: references,
          required: true,
          defaultValue: 'refuse',
          description: `What to do if other records refer to them. Those that are deleted together do not count.`,
          // As many records as may be changed.
          extensions: {
            cost: (value) => (value === 'CLEAR' ? maxBatch * writeCost : 0),
          } satisfies ArgumentExtensions,
        }),
        dryRun: dryRunArgument(t),
      },
      async resolve(_root, { ids, references, dryRun }, context) {
        requireLength(ids.length, 'ids');
        const options = { references, maxCleared: maxBatch };
        const records = await write(context, (session) => deleteRecords(session, kind, ids, options), {
          dryRun,
          argument: 'ids',
        });
        if (dryRun) context.loaders.prime(kind, new Map(records.map(({ id }) => [id, null])));
        return records;
      },
    });
}
