/** The mutations that create records: `createAssets`. */
import type { RecordKind } from '../../../model/record-kind.ts';
import { createRecords } from '../../../services/create-records.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { exampleCreate } from '../write-examples.ts';
import { batchLimit, byId, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

export function createField({ types, inputs, limits }: MutationSchema) {
  const requireLength = batchLimit(limits);

  return <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [types.of(kind)],
      // A mutation that fails must not remove the results of the others in the same request.
      nullable: true,
      description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent: ${exampleCreate(kind)}.`,
      extensions: {
        cost: { listSize: ({ input }) => lengthOf(input), perRecord: writeCost },
      } satisfies FieldExtensions,
      args: {
        input: t.arg({
          type: [inputs.create(kind)],
          required: true,
          description: `The ${kind.pluralLabel} to create.`,
          extensions: { requireLength } satisfies ArgumentExtensions,
        }),
        dryRun: dryRunArgument(t),
      },
      async resolve(_root, { input, dryRun }, context) {
        requireLength(input.length, 'input');
        const records = await write(context, (session) => createRecords(session, kind, input), { dryRun });
        if (dryRun) context.loaders.prime(kind, byId(records));
        return records;
      },
    });
}
