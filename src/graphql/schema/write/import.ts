import { isObject } from '../../../model/issues.ts';
import { listField } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { recordKinds } from '../../../records/index.ts';
import { isRejected, type Rejected, requireBatchSize, requireFewExternalIds } from '../../../services/item.ts';
import { importRecords, type NewRecords } from '../../../services/write.ts';
import { type CostFunction, type FieldExtensions, lengthOf } from '../../limits.ts';
import { builder, type MutationFields, typeOf } from '../builder.ts';
import { createInput, literal } from './input-type.ts';
import { byId, dryRunArgument, issueType, onInvalidArgument, write, writeCost } from './write.ts';

type Imported = ReadonlyMap<RecordKind, readonly (RecordOf<RecordKind> | Rejected)[]>;

interface RejectedItem extends Rejected {
  readonly list: string;
  readonly index: number;
}

const exampleInput = literal({
  locations: [{ ref: 'yard', name: 'North yard' }],
  projects: [{ name: 'Harbour wall', location: { ref: 'yard' } }],
});

const inputType = builder.inputRef<Readonly<Record<string, readonly unknown[] | null>>>('ImportInput').implement({
  description: `The records to create, by their kind: \`${exampleInput}\`.`,
  fields: (t) =>
    Object.fromEntries(
      recordKinds.map((kind) => [
        listField(kind),
        t.field({ type: [createInput(kind)], description: `The ${kind.pluralLabel} to create.` }),
      ]),
    ),
});

const rejectedItem = builder.objectRef<RejectedItem>('RejectedItem').implement({
  description: 'An item that an import has left out.',
  fields: (t) => ({
    list: t.exposeString('list', { description: 'The list of the input that has the item: `"assets"`.' }),
    index: t.exposeInt('index', { description: 'Its place in that list, from 0.' }),
    issues: t.expose('issues', { type: [issueType], description: 'What is wrong with it.' }),
  }),
});

const importedType = builder.objectRef<Imported>('ImportedRecords').implement({
  description: 'The records that an import has created, by their kind.',
  fields: (t) => ({
    ...Object.fromEntries(
      recordKinds.map((kind) => [
        listField(kind),
        t.field({
          type: [typeOf(kind)],
          description: `The ${kind.pluralLabel}, in the order sent.`,
          resolve: (imported) => recordsOf(imported, kind),
        }),
      ]),
    ),
    rejected: t.field({
      type: [rejectedItem],
      description: 'The items that were left out because of `onInvalid: SKIP`, list by list, in the order sent.',
      resolve: rejectedIn,
    }),
  }),
});

export const importField = (t: MutationFields) =>
  t.field({
    type: importedType,
    nullable: true,
    description: `Creates records of all kinds, all or none, and returns them in the order sent. They refer to each other by \`ref\`, in any direction: \`importRecords(input: ${exampleInput}) { projects { id } }\`.`,
    extensions: { cost: costOfImport } satisfies FieldExtensions,
    args: {
      input: t.arg({ type: inputType, required: true, description: 'The records to create.' }),
      ...onInvalidArgument,
      ...dryRunArgument,
    },
    resolve(_root, { input, onInvalid, dryRun }, context, info) {
      const batches = recordKinds.map((kind): NewRecords => {
        const name = listField(kind);
        return { kind, items: (input[name] ?? []).map(context.parsers.create(kind)), pathOf: (index) => [name, index] };
      });
      return write(context, info, {
        async run(session): Promise<Imported> {
          const items = await importRecords(session, batches, onInvalid);
          return new Map(recordKinds.map((kind, at) => [kind, items[at] ?? []]));
        },
        dryRun,
        primed: (imported) => byId(recordKinds.flatMap((kind) => recordsOf(imported, kind))),
      });
    },
  });

const recordsOf = (imported: Imported, kind: RecordKind): RecordOf<RecordKind>[] =>
  (imported.get(kind) ?? []).flatMap((item) => (isRejected(item) ? [] : [item]));

const rejectedIn = (imported: Imported): RejectedItem[] =>
  [...imported].flatMap(([kind, items]) =>
    items.flatMap((item, index) => (isRejected(item) ? [{ ...item, list: listField(kind), index }] : [])),
  );

const lengthsIn = (input: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    recordKinds.map(listField).map((name) => {
      const { [name]: list = null } = isObject(input) ? input : {};
      return [name, list === null ? 0 : lengthOf(list)];
    }),
  );

/** Throws a ServiceError for too many records. */
const costOfImport: CostFunction = ({ input, onInvalid }, { maxBatch }) => {
  const lengths = lengthsIn(input);
  const size = Object.values(lengths).reduce((sum, length) => sum + length);
  requireBatchSize(size, maxBatch);
  requireFewExternalIds(Object.values(isObject(input) ? input : {}).flat());
  return { own: writeCost * size, lists: { ...lengths, rejected: onInvalid === 'SKIP' ? size : 0 } };
};
