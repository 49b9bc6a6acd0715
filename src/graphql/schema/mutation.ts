/** The mutations: a search for `createAssets` lands here. They call the same services as REST and decide nothing. */
import type { Limits } from '../../config.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../records/index.ts';
import { requireBatchSize } from '../../services/batch-size.ts';
import { createRecords } from '../../services/create-records.ts';
import type { Session } from '../../services/session.ts';
import { updateRecord } from '../../services/update-record.ts';
import type { Context } from '../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../plan/extensions.ts';
import type { Builder, MutationFields } from './builder.ts';
import { createInput, updateInput } from './input-type.ts';
import type { ObjectTypes } from './object-type.ts';

/** The cost of writing a record, in addition to the fields that are returned for it. */
const writeCost = 10;

export function defineMutation(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const requireLength = (length: number) => requireBatchSize(length, limits.maxBatch);

  const create = <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [types.of(kind)],
      // A mutation that fails must not remove the results of the others in the same request.
      nullable: true,
      description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent.`,
      extensions: {
        cost: { listSize: ({ input }) => lengthOf(input), perRecord: writeCost },
      } satisfies FieldExtensions,
      args: {
        input: t.arg({
          type: [createInput(builder, kind, limits)],
          required: true,
          description: `The ${kind.pluralLabel} to create.`,
          extensions: { requireLength } satisfies ArgumentExtensions,
        }),
      },
      resolve: (_root, { input }, context) => {
        requireLength(input.length);
        return write(context, (session) => createRecords(session, kind, input));
      },
    });

  builder.mutationType({
    description: 'The operations that write. A batch is stored completely or not at all.',
    fields: (t) => ({
      createAssets: create(t, asset),
      createWorkOrders: create(t, workOrder),
      createProjects: create(t, project),
      updateProject: t.field({
        type: types.of(project),
        nullable: true,
        description:
          'Changes fields of a project. Absent fields stay unchanged, null clears a field, and `externalIds` is replaced as a whole.',
        extensions: { cost: { perRecord: writeCost } } satisfies FieldExtensions,
        args: {
          id: t.arg.id({ required: true, description: 'The ID of the project.' }),
          input: t.arg({
            type: updateInput(builder, project, limits),
            required: true,
            description: 'The fields to change.',
          }),
        },
        resolve: (_root, { id, input }, context) =>
          write(context, (session) => updateRecord(session, project, id, input)),
      }),
      createLocations: create(t, location),
      createTransportOrders: create(t, transportOrder),
      createAssetCategories: create(t, assetCategory),
    }),
  });
}

/** Clears the loaders: what they loaded before the write may be stale. */
async function write<T>({ session, loaders }: Context, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } finally {
    loaders.clear();
  }
}
