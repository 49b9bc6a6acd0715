import type { GraphQLResolveInfo } from 'graphql';
import { badRequest, ServiceError } from '../../errors.ts';
import type { DescribedIssue, Parsed, Path } from '../../model/issues.ts';
import { capitalized, listField, withArticle } from '../../model/labels.ts';
import type { AnyRecord, RecordKey, RecordKind } from '../../model/record-kind.ts';
import { textProblem, type ValueLimits } from '../../model/schemas.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import type { OnClash } from '../../services/clashes.ts';
import { isRejection, type Rejection, requireBatchSize } from '../../services/item.ts';
import {
  createRecords,
  deleteRecords,
  type ImportBatch,
  importRecords,
  type Session,
  type UpsertResult,
  updateRecord,
  updateRecords,
  upsertRecords,
} from '../../services/write.ts';
import { fieldsBelow } from '../execution/loaders.ts';
import type { CostFunction, FieldExtensions } from '../limits.ts';
import {
  builder,
  type Context,
  enumType,
  type InputRef,
  type MutationFields,
  memoize,
  parseText,
  typeOf,
} from './builder.ts';
import { inputOf, keyType, type SentKey } from './items.ts';

/** Besides the cost of the selected fields. */
export const writeCost = 10;

interface Mutation<T> {
  run(session: Session): Promise<T>;
  readonly dryRun?: boolean;
  /** The records that a dry run returns, by ID; null for deleted records. */
  readonly primed?: (result: T) => readonly (readonly [id: string, record: AnyRecord | null])[];
  /** The first name in issues' paths: `input` unless set. */
  readonly argument?: string;
}

/** A keyed mutation runs once. Clears the loaders, whose records may now be stale. */
export async function resolveMutation<T>(
  { sessionFor, loaders }: Context,
  { path }: GraphQLResolveInfo,
  { run, dryRun = false, primed = () => [], argument = 'input' }: Mutation<T>,
): Promise<T> {
  const session = sessionFor(String(path.key));
  const result = await run(session.with({ isDryRun: dryRun }))
    .catch((error: unknown) => {
      throw error instanceof ServiceError ? error.prefixed(argument) : error;
    })
    .finally(() => loaders.clear());
  for (const [id, record] of dryRun ? primed(result) : []) {
    const kind = kindOfId(id);
    if (kind) loaders.of(kind).prime(id, record);
  }
  return result;
}

const entriesById = (records: readonly AnyRecord[]) => records.map((record) => [record.id, record] as const);

const costOfBatch: CostFunction = ({ input }, { maxBatch }) => {
  requireBatchSize(input.length, maxBatch);
  return { fieldCost: writeCost * input.length, items: input.length };
};

export const dryRunArgument = builder.args((t) => ({
  dryRun: t.boolean({
    required: true,
    defaultValue: false,
    description:
      'Checks everything and returns the records as they would be, but stores nothing: `dryRun: true`. Lists and histories in the result show what is actually stored.',
  }),
}));

const batchArguments = (type: InputRef<unknown>, description: string) =>
  builder.args((t) => ({
    input: t.field({
      type: [type],
      required: true,
      description,
    }),
    ...dryRunArgument,
  }));

const onInvalid = enumType('OnInvalid', 'What a batch does with invalid items.', {
  fail: 'Stores nothing: the error lists every invalid item.',
  skip: 'Stores all valid items together, and returns the issues of the others.',
});

const issueType = builder.objectRef<DescribedIssue>('ItemIssue').implement({
  description: 'What is wrong with an item.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Where in the item: `["externalIds", "erp"]`. Empty for the item as a whole.',
      resolve: ({ path }) => path.map(String),
    }),
    message: t.exposeString('message', { description: 'What was expected, and what was received.' }),
    code: t.exposeString('code', {
      description:
        'What programs tell issues apart by: `"required"`. The documentation of the REST interface lists all codes.',
    }),
    other: t.stringList({
      nullable: true,
      description: 'The path of another item that the issue involves: `["0"]`, in an import `["assets", "0"]`.',
      resolve: ({ other }) => other?.map(String),
    }),
  }),
});

const onInvalidArgument = builder.args((t) => ({
  onInvalid: t.field({
    type: onInvalid,
    required: true,
    defaultValue: 'fail',
    description: 'What to do with invalid items: `onInvalid: SKIP` leaves them out and stores the others.',
  }),
}));

const onClash = enumType('OnClash', 'What a write does with allocations of an asset that overlap.', {
  store: 'Stores them.',
  reject: 'Rejects them as invalid items. An allocation that overlaps already may keep its asset and time.',
});

/** For kinds whose records can clash, and for imports. */
const onClashArgument = builder.args((t) => ({
  onClash: t.field({
    type: onClash,
    required: true,
    defaultValue: 'store',
    description:
      'What to do with an allocation that overlaps another one of its asset, stored or of this batch: `onClash: REJECT` rejects it.',
  }),
}));

const clashArguments = (kind: RecordKind): Partial<typeof onClashArgument> => (kind.occupies ? onClashArgument : {});

interface BatchOptions {
  readonly onClash: OnClash | undefined;
  readonly context: Context;
}

interface BatchMutation {
  readonly description: string;
  readonly input: InputRef<unknown>;
  readonly inputDescription: string;
  run(session: Session, input: readonly unknown[], options: BatchOptions): Promise<readonly AnyRecord[]>;
}

// Nullable: a failed mutation must not remove the results of others.

const batchField = (
  t: MutationFields,
  kind: RecordKind,
  { description, input: type, inputDescription, run }: BatchMutation,
) =>
  t.field({
    type: [typeOf(kind)],
    nullable: true,
    description,
    extensions: { cost: costOfBatch } satisfies FieldExtensions,
    args: { ...batchArguments(type, inputDescription), ...clashArguments(kind) },
    resolve: (_root, { input, dryRun, onClash }, context, info) =>
      resolveMutation(context, info, {
        run: (session) => run(session, input, { onClash, context }),
        dryRun,
        primed: entriesById,
      }),
  });

export const createField = (t: MutationFields, kind: RecordKind) =>
  batchField(t, kind, {
    description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent.`,
    input: inputOf.create(kind),
    inputDescription: `The ${kind.pluralLabel} to create.`,
    run: (session, input, { onClash, context }) =>
      createRecords(session, kind, input.map(context.parsersOf(kind).create), { onClash }),
  });

const partly = 'Absent fields stay unchanged, null clears a field, and `externalIds` is replaced as a whole';

export const updateField = (t: MutationFields, kind: RecordKind) =>
  batchField(t, kind, {
    description: `Changes ${kind.pluralLabel}, all or none, and returns them in the order sent. ${partly}; an item that changes nothing writes nothing.`,
    input: inputOf.patch(kind),
    inputDescription: `The ${kind.pluralLabel} to change, each once.`,
    run: (session, input, { onClash, context: { parsersOf, limits } }) =>
      updateRecords(session, kind, input.map(parsersOf(kind).patch), limits, { onClash }),
  });

export const updateOneField = (t: MutationFields, kind: RecordKind) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    deprecationReason: `Use \`update${kind.plural}\`, which also changes several at once.`,
    description: `Changes fields of ${withArticle(kind.label)}. ${partly}.`,
    extensions: { cost: () => ({ fieldCost: writeCost }) } satisfies FieldExtensions,
    args: {
      id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
      input: t.arg({ type: inputOf.update(kind), required: true, description: 'The fields to change.' }),
    },
    resolve: (_root, { id, input }, context, info) =>
      resolveMutation(context, info, {
        run: (session) => updateRecord(session, kind, id, context.parsersOf(kind).update(input), context.limits),
      }),
  });

export const upsertField = (t: MutationFields, kind: RecordKind) =>
  t.field({
    type: [upsertedType(kind)],
    nullable: true,
    description: `Updates the ${kind.pluralLabel} that match an item by its key, and creates the others, all or none. Returns them in the order sent.`,
    extensions: { cost: costOfBatch } satisfies FieldExtensions,
    args: {
      ...batchArguments(inputOf.upsert(kind), `The ${kind.pluralLabel} to create or change, each once.`),
      by: t.arg({
        type: keyType(kind),
        required: true,
        description: `The key by which ${kind.pluralLabel} are matched; every item must have it, unless it is the ID, which new records lack.`,
      }),
      ...onInvalidArgument,
      ...clashArguments(kind),
    },
    resolve(_root, { input, by, onInvalid, onClash, dryRun }, context, info) {
      const { limits, parsersOf } = context;
      const key = parseRecordKey(by, limits);
      const items = input.map(key ? parsersOf(kind).upsert : parsersOf(kind).upsertById);
      const withBefore = fieldsBelow(info.fieldNodes, `Upserted${kind.name}`, info.fragments).has('before');
      const options = { by: key, limits, onInvalid, onClash, withBefore };
      return resolveMutation(context, info, {
        run: (session) => upsertRecords(session, kind, items, options),
        dryRun,
        primed: (upserted) => entriesById(acceptedRecords(upserted)),
      });
    },
  });

const outcome = enumType('UpsertOutcome', 'What an upsert did with an item.', {
  created: 'No record had the key, or the item had no ID, so a new one was created.',
  updated: 'The record with the key was changed.',
  unchanged: 'The record with the key already had all these values: nothing was written, and `updatedAt` is unchanged.',
  rejected: 'The item is invalid, and was left out because of `onInvalid: SKIP`: `issues` says why.',
});

const upsertedType = memoize((kind: RecordKind) =>
  builder.objectRef<UpsertResult>(`Upserted${kind.name}`).implement({
    description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert did with it.`,
    fields: (t) => ({
      record: t.field({
        type: typeOf(kind),
        nullable: true,
        description: `The ${kind.label} as it is now; null only if the item was rejected, which needs \`onInvalid: SKIP\`.`,
        resolve: (upserted) => (isRejection(upserted) ? null : upserted.record),
      }),
      before: t.field({
        type: typeOf(kind),
        nullable: true,
        description: `The ${kind.label} as it was, whose links lead to what is stored now; null if it was created, or the item rejected.`,
        resolve: (upserted) => (isRejection(upserted) ? null : upserted.before),
      }),
      issues: t.field({
        type: [issueType],
        description: 'What is wrong with the item, if it was rejected.',
        resolve: (upserted) => (isRejection(upserted) ? upserted.issues : []),
      }),
      outcome: t.expose('outcome', { type: outcome, description: 'What the upsert did.' }),
    }),
  }),
);

const handling = enumType('ReferenceHandling', 'What a deletion does if other records refer to the ones it deletes.', {
  refuse: 'Deletes nothing: the error lists the records that refer to each one.',
  clear:
    'Sets these references to null, which is recorded as a change of each record that has one. At most as many as the setting `MAX_BATCH` can be cleared at once.',
});

/** Cleared references cost as much as the most allowed. */
const costOfDeletion: CostFunction = ({ ids, keys, references }, { maxBatch }) => {
  const size = (ids ?? keys ?? []).length;
  requireBatchSize(size, maxBatch);
  return { fieldCost: writeCost * (size + (references === 'clear' ? maxBatch : 0)), items: size };
};

export const deleteField = (t: MutationFields, kind: RecordKind) =>
  t.field({
    type: [typeOf(kind)],
    nullable: true,
    description: `Deletes ${kind.pluralLabel}, all or none, and returns them as they were, in the order sent.`,
    extensions: { cost: costOfDeletion } satisfies FieldExtensions,
    args: {
      ids: t.arg.idList({ description: `The IDs of the ${kind.pluralLabel}, each once.` }),
      by: t.arg({
        type: keyType(kind),
        description: `The key by which \`keys\` identify the ${kind.pluralLabel}, instead of their IDs.`,
      }),
      keys: t.arg.stringList({ description: `The values of the key, each once: \`["4711"]\`.` }),
      references: t.arg({
        type: handling,
        required: true,
        defaultValue: 'refuse',
        description: 'What to do if other records refer to them. References between records of the batch do not count.',
      }),
      ...dryRunArgument,
    },
    resolve(_root, { ids, by, keys, references, dryRun }, context, info) {
      const { argument, sent } = requireOneList(ids, by, keys);
      const { limits } = context;
      const items = sent.map((text) => (by ? parseDeletionKey(text, limits.maxTextLength) : { value: text }));
      const options = { references, maxCleared: limits.maxBatch, by: by ? parseRecordKey(by, limits) : undefined };
      return resolveMutation(context, info, {
        run: (session) => deleteRecords(session, kind, items, options),
        dryRun,
        primed: (records) => records.map(({ id }) => [id, null]),
        argument,
      });
    },
  });

type SentList = readonly string[] | null | undefined;

/** Throws a 400 unless exactly one list was sent. */
function requireOneList(ids: SentList, by: object | null | undefined, keys: SentList) {
  if (ids && !by && !keys) return { argument: 'ids', sent: ids };
  if (by && keys && !ids) return { argument: 'keys', sent: keys };
  const names = Object.entries({ ids, by, keys }).flatMap(([name, sent]) => (sent ? [name] : []));
  throw badRequest(`expected either ids, or by and keys; received ${names.join(' and ') || 'none of them'}`);
}

function parseDeletionKey(text: string, maxLength: number): Parsed<string> {
  const problem = textProblem(text, maxLength);
  return problem ? { issues: [{ path: [], ...problem }], validFields: {} } : { value: text };
}

type Imported = ReadonlyMap<RecordKind, readonly UpsertResult[]>;

interface RejectedItem extends Rejection {
  readonly list: string;
  readonly index: number;
}

type OfKinds<T> = Readonly<Record<string, T | null>>;

const ofKinds = <T>(fieldOf: (kind: RecordKind) => T): Record<string, T> =>
  Object.fromEntries(recordKinds.map((kind) => [listField(kind), fieldOf(kind)]));

const inputType = builder.inputRef<OfKinds<readonly unknown[]>>('ImportInput').implement({
  description:
    'The records to import, by their kind: `{ locations: [{ ref: "yard", name: "North yard" }], projects: [{ name: "Harbour wall", location: { ref: "yard" } }] }`.',
  fields: (t) =>
    ofKinds((kind) =>
      t.field({ type: [inputOf.import(kind)], description: `The ${kind.pluralLabel} to create, or to change.` }),
    ),
});

const importKeys = builder.inputRef<OfKinds<SentKey>>('ImportKeys').implement({
  description:
    'The keys by which an import finds stored records, by their kind: `{ locations: { externalId: "erp" }, assets: { field: UID } }`. Records of other kinds are created.',
  fields: (t) =>
    ofKinds((kind) =>
      t.field({ type: keyType(kind), description: `The key by which ${kind.pluralLabel} are matched.` }),
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

const importResults = builder.objectRef<Imported>('ImportResults').implement({
  description: 'What an import did with each item, by its kind.',
  fields: (t) =>
    ofKinds((kind) =>
      t.field({
        type: [upsertedType(kind)],
        description: `The results of ${kind.pluralLabel}, in the order sent.`,
        resolve: (imported) => imported.get(kind) ?? [],
      }),
    ),
});

const importedType = builder.objectRef<Imported>('ImportedRecords').implement({
  description: 'The records of an import, by their kind.',
  fields: (t) => ({
    ...ofKinds((kind) =>
      t.field({
        type: [typeOf(kind)],
        description: `The ${kind.pluralLabel} that were not rejected, in the order sent.`,
        resolve: (imported) => acceptedRecords(imported.get(kind)),
      }),
    ),
    results: t.field({
      type: importResults,
      description: 'What the import did with each item, rejected ones among them.',
      resolve: (imported) => imported,
    }),
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
    description: `Creates records of all kinds, and updates those that \`by\` finds, all or none. They refer to each other by \`ref\`, in any direction, and by what they will have after the import.`,
    extensions: { cost: costOfImport } satisfies FieldExtensions,
    args: {
      input: t.arg({ type: inputType, required: true, description: 'The records to import.' }),
      by: t.arg({ type: importKeys, description: 'The keys by which stored records are found, by kind.' }),
      ...onInvalidArgument,
      ...onClashArgument,
      ...dryRunArgument,
    },
    resolve(_root, { input, by, onInvalid, onClash, dryRun }, context, info) {
      const { limits, parsersOf } = context;
      const batches = recordKinds.map((kind): ImportBatch => {
        const name = listField(kind);
        const key = by?.[name];
        const parsers = parsersOf(kind);
        const recordKey = key ? parseRecordKey(key, limits, ['by', name]) : undefined;
        const parse = key ? (recordKey ? parsers.importUpsert : parsers.importUpsertById) : parsers.importCreate;
        const records = (input[name] ?? []).map((record) => parse(record));
        return { kind, records, path: [name], op: key ? 'upsert' : 'create', by: recordKey };
      });
      return resolveMutation(context, info, {
        async run(session): Promise<Imported> {
          const options = { limits, onInvalid, onClash, withBefore: selectsBefore(info) };
          const results = await importRecords(session, batches, options);
          return new Map(recordKinds.map((kind, at) => [kind, results[at] ?? []]));
        },
        dryRun,
        primed: (imported) => entriesById([...imported.values()].flatMap(acceptedRecords)),
      });
    },
  });

function selectsBefore({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  const results = fieldsBelow(fieldNodes, 'ImportedRecords', fragments).get('results') ?? [];
  const lists = fieldsBelow(results, 'ImportResults', fragments);
  return recordKinds.some((kind) =>
    fieldsBelow(lists.get(listField(kind)) ?? [], `Upserted${kind.name}`, fragments).has('before'),
  );
}

const acceptedRecords = (results: readonly UpsertResult[] = []): AnyRecord[] =>
  results.flatMap((result) => (isRejection(result) ? [] : [result.record]));

const rejectedIn = (imported: Imported): RejectedItem[] =>
  [...imported].flatMap(([kind, results]) =>
    results.flatMap((result, index) => (isRejection(result) ? [{ ...result, list: listField(kind), index }] : [])),
  );

const costOfImport: CostFunction = ({ input, onInvalid }, { maxBatch }) => {
  const lengths = ofKinds((kind) => input[listField(kind)]?.length ?? 0);
  const size = Object.values(lengths).reduce((sum, length) => sum + length, 0);
  requireBatchSize(size, maxBatch);
  const rejected = onInvalid === 'skip' ? size : 0;
  return { fieldCost: writeCost * size, lists: { ...lengths, results: lengths, rejected } };
};

/** Undefined for the ID, which needs no lookup. Throws a 400. */
function parseRecordKey(
  { field, externalId }: SentKey,
  limits: ValueLimits,
  path: Path = ['by'],
): RecordKey | undefined {
  if (field) return field === 'id' ? undefined : { field };
  return { externalId: parseText([...path, 'externalId'], externalId, limits) };
}
