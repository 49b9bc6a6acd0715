/** The mutation that creates records of all kinds together: `importRecords`. */
import { isObject } from '../../../model/issues.ts';
import { listField } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../../../records/index.ts';
import { requireBatchSize } from '../../../services/batch-size.ts';
import { importRecords, type NewRecords } from '../../../services/import-records.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { exampleImport } from '../write-examples.ts';
import { byId, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

/** What is referred to comes first, which is how a reader expects it; the database needs no order. */
const kinds = [location, assetCategory, project, asset, workOrder, transportOrder] as const;

type Imported = ReadonlyMap<RecordKind, readonly RecordOf<RecordKind>[]>;

export function importField(schema: MutationSchema, t: MutationFields) {
  const { maxBatch } = schema.limits;
  const requireLength = (length: number) => requireBatchSize(length, maxBatch);
  return t.field({
    type: importedType(schema),
    nullable: true,
    description: `Creates records of all kinds, all or none, and returns them in the order sent. They refer to each other by \`ref\`, in any direction: ${exampleImport}.`,
    extensions: {
      cost: { listSize: ({ input }) => totalLength(input), perRecord: writeCost },
    } satisfies FieldExtensions,
    args: {
      input: t.arg({
        type: inputType(schema),
        required: true,
        description: 'The records to create.',
        extensions: { requireLength, lengthIn: totalLength } satisfies ArgumentExtensions,
      }),
      dryRun: dryRunArgument(t),
    },
    async resolve(_root, { input, dryRun }, context) {
      requireLength(totalLength(input));
      const lists = input as Readonly<Record<string, NewRecords['items'] | null | undefined>>;
      const batches = kinds.map((kind) => ({ kind, items: lists[listField(kind)] ?? [], path: [listField(kind)] }));
      const created = await write(context, (session) => importRecords(session, batches), { dryRun });
      const imported: Imported = new Map(kinds.map((kind, index) => [kind, created[index] ?? []]));
      if (dryRun) for (const [kind, records] of imported) context.loaders.prime(kind, byId(records));
      return imported;
    },
  });
}

/** The number of records in all lists, before they are validated. */
const totalLength = (input: unknown): number =>
  isObject(input)
    ? Object.values(input).reduce<number>(
        (sum, list) => sum + (list === null || list === undefined ? 0 : lengthOf(list)),
        0,
      )
    : 0;

const inputType = ({ builder, inputs }: MutationSchema) =>
  builder.inputType('ImportInput', {
    description: `The records to create, by their kind: ${exampleImport}.`,
    fields: (t) =>
      Object.fromEntries(
        kinds.map((kind) => [
          listField(kind),
          t.field({ type: [inputs.create(kind as RecordKind)], description: `The ${kind.pluralLabel} to create.` }),
        ]),
      ),
  });

const importedType = ({ builder, types }: MutationSchema) =>
  builder.objectRef<Imported>('ImportedRecords').implement({
    description: 'The records that an import has created, by their kind.',
    fields: (t) =>
      Object.fromEntries(
        kinds.map((kind) => [
          listField(kind),
          t.field({
            type: [types.of(kind as RecordKind)],
            description: `The ${kind.pluralLabel}, in the order sent.`,
            resolve: (imported) => (imported.get(kind) ?? []) as never,
          }),
        ]),
      ),
  });
