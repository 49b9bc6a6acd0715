import { isObject } from '../../../model/issues.ts';
import { listField } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { recordKinds } from '../../../records/index.ts';
import { requireBatchSize, requireFewExternalIds } from '../../../services/checks/batch.ts';
import { isRejected, type Rejected } from '../../../services/checks/validation.ts';
import { importRecords, type NewRecords } from '../../../services/import-records.ts';
import type { Session } from '../../../services/session.ts';
import { type CostFunction, type FieldExtensions, lengthOf } from '../../limits.ts';
import { builder, type MutationFields, typeOf } from '../builder.ts';
import { createInput, exampleImport, exampleImportInput } from './input-type.ts';
import { byId, dryRunArgument, issueType, onInvalidArgument, write, writeCost } from './write.ts';

interface Imported {
  readonly records: ReadonlyMap<RecordKind, readonly RecordOf<RecordKind>[]>;
  readonly rejected: readonly RejectedItem[];
}

interface RejectedItem extends Rejected {
  readonly list: string;
  readonly index: number;
}

export const importField = (t: MutationFields) =>
  t.field({
    type: importedType(),
    nullable: true,
    description: `Creates records of all kinds, all or none, and returns them in the order sent. They refer to each other by \`ref\`, in any direction: ${exampleImport}.`,
    extensions: { cost: costOfImport } satisfies FieldExtensions,
    args: {
      input: t.arg({ type: inputType, required: true, description: 'The records to create.' }),
      onInvalid: onInvalidArgument(t),
      dryRun: dryRunArgument(t),
    },
    resolve(_root, { input, onInvalid, dryRun }, context, info) {
      const sent = input as Readonly<Record<string, readonly unknown[] | null>>;
      const run = async (session: Session): Promise<Imported> => {
        const batches: NewRecords[] = [];
        for (const kind of recordKinds) {
          const name = listField(kind);
          const items = (sent[name] ?? []).map(context.parsers.create(kind));
          batches.push({ kind, items, pathOf: (index) => [name, index] });
        }
        return importedOf(await importRecords(session, batches, onInvalid));
      };
      const primed = ({ records }: Imported) => [...records].map(([kind, ofKind]) => [kind, byId(ofKind)] as const);
      return write(context, info, { run, dryRun, primed });
    },
  });

function importedOf(batches: Awaited<ReturnType<typeof importRecords>>): Imported {
  const byKind = recordKinds.map((kind, at) => [kind, batches[at] ?? []] as const);
  return {
    records: new Map(byKind.map(([kind, items]) => [kind, items.flatMap((item) => (isRejected(item) ? [] : [item]))])),
    rejected: byKind.flatMap(([kind, items]) =>
      items.flatMap((item, index) => (isRejected(item) ? [{ ...item, list: listField(kind), index }] : [])),
    ),
  };
}

const rejectedList = 'rejected';

const lengthsIn = (input: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    recordKinds.map(listField).map((name) => {
      const list = isObject(input) ? (input[name] ?? null) : null;
      return [name, list === null ? 0 : lengthOf(list)];
    }),
  );

/** Throws a ServiceError for too many records. */
const costOfImport: CostFunction = ({ input, onInvalid }, { maxBatch }) => {
  const lengths = lengthsIn(input);
  const size = Object.values(lengths).reduce((sum, length) => sum + length);
  requireBatchSize(size, maxBatch);
  requireFewExternalIds(Object.values(isObject(input) ? input : {}).flat());
  return { own: writeCost * size, lists: { ...lengths, [rejectedList]: onInvalid === 'SKIP' ? size : 0 } };
};

const inputType = builder.inputType('ImportInput', {
  description: `The records to create, by their kind: ${exampleImportInput}.`,
  fields: (t) =>
    Object.fromEntries(
      recordKinds.map((kind) => [
        listField(kind),
        t.field({ type: [createInput(kind)], description: `The ${kind.pluralLabel} to create.` }),
      ]),
    ),
});

function importedType() {
  const rejectedItem = builder.objectRef<RejectedItem>('RejectedItem').implement({
    description: 'An item that an import has left out.',
    fields: (t) => ({
      list: t.exposeString('list', { description: 'The list of the input that has the item: `"assets"`.' }),
      index: t.exposeInt('index', { description: 'Its place in that list, from 0.' }),
      issues: t.field({
        type: [issueType],
        description: 'What is wrong with it.',
        resolve: ({ issues }) => [...issues],
      }),
    }),
  });
  return builder.objectRef<Imported>('ImportedRecords').implement({
    description: 'The records that an import has created, by their kind.',
    fields: (t) => ({
      ...Object.fromEntries(
        recordKinds.map((kind) => [
          listField(kind),
          t.field({
            type: [typeOf(kind)],
            description: `The ${kind.pluralLabel}, in the order sent.`,
            resolve: ({ records }) => (records.get(kind) ?? []) as never,
          }),
        ]),
      ),
      [rejectedList]: t.field({
        type: [rejectedItem],
        description: 'The items that were left out because of `onInvalid: SKIP`, list by list, in the order sent.',
        resolve: ({ rejected }) => [...rejected],
      }),
    }),
  });
}
