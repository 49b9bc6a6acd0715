/** What can be written: the same services as REST. The surface: a search for `createAssets` lands here. */

import type { Limits } from '../../config.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../records/index.ts';
import { requireBatchSize } from '../../services/batch-size.ts';
import { createRecords } from '../../services/create-records.ts';
import type { Session } from '../../services/session.ts';
import { updateRecord } from '../../services/update-record.ts';
import type { Context } from '../execution/context.ts';
import type { Builder, MutationFields } from './builder.ts';
import { createInput, updateInput } from './input-type.ts';
import type { ObjectTypes } from './object-type.ts';

export function defineMutation(builder: Builder, types: ObjectTypes, limits: Limits): void {
  const create = <K extends RecordKind>(t: MutationFields, kind: K) =>
    t.field({
      type: [types.of(kind)],
      // One that fails leaves the answers of the others in the same request.
      nullable: true,
      description: `Creates ${kind.label} records, all or none, and answers them in the order given.`,
      args: {
        input: t.arg({
          type: [createInput(builder, kind, limits)],
          required: true,
          description: 'The records to create.',
        }),
      },
      resolve: (_root, { input }, context) => {
        requireBatchSize(input.length, limits.maxBatch);
        return write(context, (session) => createRecords(session, kind, input));
      },
    });

  builder.mutationType({
    description: 'What can be written: records in batches, all or none.',
    fields: (t) => ({
      createAssets: create(t, asset),
      createWorkOrders: create(t, workOrder),
      createProjects: create(t, project),
      updateProject: t.field({
        type: types.of(project),
        nullable: true,
        description:
          'Changes fields of a project: what is absent stays, null clears, externalIds is replaced as a whole.',
        args: {
          id: t.arg.id({ required: true, description: 'ID of the project.' }),
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

/** What was loaded before a write may be stale after it. */
async function write<T>({ session, loaders }: Context, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } finally {
    loaders.clear();
  }
}
