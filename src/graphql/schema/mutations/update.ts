/** The mutations that change records: `updateAssets`. */
import type { RecordKind } from '../../../model/record-kind.ts';
import { updateRecords } from '../../../services/update-records.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { exampleUpdate } from '../write-examples.ts';
import { batchLimit, byId, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

export function updateField({ types, inputs, limits }: MutationSchema) {
  const requireLength = batchLimit(limits);

  return <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [types.of(kind)],
      nullable: true,
      description: `Changes ${kind.pluralLabel}, all or none, and returns them in the order sent. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole: ${exampleUpdate(kind)}.`,
      extensions: {
        cost: { listSize: ({ input }) => lengthOf(input), perRecord: writeCost },
      } satisfies FieldExtensions,
      args: {
        input: t.arg({
          type: [inputs.patch(kind)],
          required: true,
          description: `The ${kind.pluralLabel} to change, each once.`,
          extensions: { requireLength } satisfies ArgumentExtensions,
        }),
        dryRun: dryRunArgument(t),
      },
      async resolve(_root, { input, dryRun }, context) {
        requireLength(input.length, 'input');
        const records = await write(context, (session) => updateRecords(session, kind, input), { dryRun });
        if (dryRun) context.loaders.prime(kind, byId(records));
        return records;
      },
    });
}
