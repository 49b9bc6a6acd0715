/** The mutation that changes one record, `updateProject`: the same operation as PATCH over REST. */
import { withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { updateRecord } from '../../../services/update-records.ts';
import type { FieldExtensions } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { type MutationSchema, write, writeCost } from './write.ts';
import { exampleUpdateOne } from './write-examples.ts';

export const updateOneField =
  ({ types, inputs }: MutationSchema) =>
  <K extends RecordKind>(t: MutationFields, kind: K) => {
    const { type, parse } = inputs.update(kind);
    return t.field({
      type: types.of(kind),
      nullable: true,
      deprecationReason: `Use \`update${kind.plural}\`, which also changes several at once.`,
      description: `Changes fields of ${withArticle(kind.label)}. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole: ${exampleUpdateOne(kind)}.`,
      extensions: { cost: { perRecord: writeCost } } satisfies FieldExtensions,
      args: {
        id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
        input: t.arg({
          type,
          required: true,
          description: 'The fields to change.',
        }),
      },
      // The cast is safe because the service returns a record of the kind; the compiler cannot see it for a type parameter.
      resolve: (_root, { id, input }, context, info) =>
        write(context, info, { run: (session) => updateRecord(session, kind, id, parse(input)) }) as never,
    });
  };
