/** The mutation that creates records of all kinds together: `importRecords`. */
import { isObject } from '../../../model/issues.ts';
import { listField } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { recordKinds } from '../../../records/index.ts';
import { requireBatchSize, requireFewExternalIds } from '../../../services/batch-size.ts';
import { importRecords, type NewRecords } from '../../../services/import-records.ts';
import type { Session } from '../../../services/session.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { MutationFields } from '../builder.ts';
import { exampleImport, exampleImportInput } from '../write-examples.ts';
import { byId, dryRunArgument, type MutationSchema, write, writeCost } from './write.ts';

type Imported = ReadonlyMap<RecordKind, readonly RecordOf<RecordKind>[]>;

export function importField(schema: MutationSchema, t: MutationFields) {
  const { maxBatch } = schema.limits;
  const requireLength = (length: number) => requireBatchSize(length, maxBatch);
  return t.field({
    type: importedType(schema),
    nullable: true,
    description: `Creates records of all kinds, all or none, and returns them in the order sent. They refer to each other by \`ref\`, in any direction: ${exampleImport}.`,
    extensions: {
      cost: { listSizes: ({ input }) => lengthsIn(input) },
    } satisfies FieldExtensions,
    args: {
      input: t.arg({
        type: inputType(schema),
        required: true,
        description: 'The records to create.',
        extensions: {
          requireLength,
          lengthIn: totalLength,
          requireContent: (sent) => requireFewExternalIds(Object.values(isObject(sent) ? sent : {}).flat()),
          cost: (sent) => writeCost * totalLength(sent),
        } satisfies ArgumentExtensions,
      }),
      dryRun: dryRunArgument(t),
    },
    resolve(_root, { input, dryRun }, context, info) {
      requireLength(totalLength(input));
      const lists = input as Readonly<Record<string, NewRecords['items'] | null | undefined>>;
      const batches = recordKinds.map((kind) => ({
        kind,
        items: lists[listField(kind)] ?? [],
        pathOf: (index: number) => [listField(kind), index],
      }));
      const run = async (session: Session): Promise<Imported> => {
        const created = await importRecords(session, batches);
        return new Map(recordKinds.map((kind, index) => [kind, created[index] ?? []]));
      };
      const primed = (imported: Imported) => [...imported].map(([kind, records]) => [kind, byId(records)] as const);
      return write(context, info, { run, dryRun, primed });
    },
  });
}

/** The number of records in each list, before they are validated. */
const lengthsIn = (input: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    recordKinds.map(listField).map((name) => {
      const list = isObject(input) ? (input[name] ?? null) : null;
      return [name, list === null ? 0 : lengthOf(list)];
    }),
  );

const totalLength = (input: unknown): number => Object.values(lengthsIn(input)).reduce((sum, length) => sum + length);

const inputType = ({ builder, inputs }: MutationSchema) =>
  builder.inputType('ImportInput', {
    description: `The records to create, by their kind: ${exampleImportInput}.`,
    fields: (t) =>
      Object.fromEntries(
        recordKinds.map((kind) => [
          listField(kind),
          t.field({ type: [inputs.create(kind)], description: `The ${kind.pluralLabel} to create.` }),
        ]),
      ),
  });

const importedType = ({ builder, types }: MutationSchema) =>
  builder.objectRef<Imported>('ImportedRecords').implement({
    description: 'The records that an import has created, by their kind.',
    fields: (t) =>
      Object.fromEntries(
        recordKinds.map((kind) => [
          listField(kind),
          t.field({
            type: [types.of(kind)],
            description: `The ${kind.pluralLabel}, in the order sent.`,
            extensions: { cost: { isSent: true } } satisfies FieldExtensions,
            resolve: (imported) => (imported.get(kind) ?? []) as never,
          }),
        ]),
      ),
  });
