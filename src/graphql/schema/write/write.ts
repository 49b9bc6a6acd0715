/** The mutations that create, update, upsert and delete records, and what all mutations share: how they run, what they cost, and the arguments `dryRun` and `onInvalid`. */
import type { GraphQLResolveInfo } from 'graphql';
import { badRequest, ServiceError } from '../../../errors.ts';
import type { Issue, Parsed } from '../../../model/issues.ts';
import { capitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { textProblem } from '../../../model/schemas.ts';
import { requireBatchSize, requireFewExternalIds } from '../../../services/checks/batch.ts';
import { isRejected } from '../../../services/checks/validation.ts';
import { createRecords } from '../../../services/create-records.ts';
import { deleteRecords } from '../../../services/delete-records.ts';
import { dryRun, type Session } from '../../../services/session.ts';
import { updateRecord, updateRecords } from '../../../services/update-records.ts';
import { type Upserted, upsertRecords } from '../../../services/upsert-records.ts';
import type { Context } from '../../execution/context.ts';
import { type CostFunction, type FieldExtensions, lengthOf } from '../../limits.ts';
import { type Argument, builder, type InputRef, type MutationFields, type ObjectRef, typeOf } from '../builder.ts';
import {
  createInput,
  exampleCreate,
  exampleDelete,
  exampleKey,
  exampleUpdate,
  exampleUpdateOne,
  exampleUpsert,
  keyType,
  parseKey,
  patchInput,
  updateInput,
  upsertInput,
} from './input-type.ts';

/** The cost of writing a record, in addition to the fields that are returned for it. */
export const writeCost = 10;

/** Records by ID; null for IDs that must have none. */
type ById = ReadonlyMap<string, object | null>;

type Primed = readonly (readonly [RecordKind, ById])[];

interface Write<T> {
  run(session: Session): Promise<T>;
  readonly dryRun?: boolean;
  /** The records that later fields of a dry run must find instead of the stored ones. */
  readonly primed?: (result: T) => Primed;
  /** The argument with which the paths of issues begin: `input` unless set. */
  readonly argument?: string;
}

/** What was carried out under the key is not repeated. Clears the loaders: what they loaded before the write may be stale. */
export async function write<T>(
  { sessionFor, loaders }: Context,
  { path }: GraphQLResolveInfo,
  { run, dryRun: isDryRun = false, primed = () => [], argument = 'input' }: Write<T>,
): Promise<T> {
  const session = sessionFor(String(path.key));
  const result = await run(isDryRun ? dryRun(session) : session)
    .catch((error: unknown) => {
      throw error instanceof ServiceError ? error.within(argument) : error;
    })
    .finally(() => loaders.clear());
  if (isDryRun) {
    for (const [kind, records] of primed(result)) {
      const loader = loaders.of(kind);
      for (const [id, record] of records) loader.prime(id, record as RecordOf<RecordKind> | null);
    }
  }
  return result;
}

interface Batch<Input, Options, Item> {
  readonly type: ObjectRef<Item>;
  readonly description: string;
  readonly input: { readonly type: InputRef<unknown>; readonly description: string };
  /** Returns the parser of an item, valid or not: the service reports the issues of all items together. */
  parser(context: Context): (sent: unknown) => Input;
  readonly options?: { readonly [Name in keyof Options]: Argument<Options[Name]> };
  run(session: Session, items: readonly Input[], options: Options, context: Context): Promise<readonly Item[]>;
  readonly primed: (items: readonly Item[]) => Primed;
}

/** Throws a ServiceError for a batch that is too large. */
const costOfBatch: CostFunction = ({ input }, { maxBatch }) => {
  const size = lengthOf(input);
  requireBatchSize(size, maxBatch);
  requireFewExternalIds(Array.isArray(input) ? input : []);
  return { own: writeCost * size, items: size };
};

function batchField<Input, Options extends object, Item>(
  t: MutationFields,
  { type, description, input, parser, options, run, primed }: Batch<Input, Options, Item>,
) {
  return t.field({
    type: [type],
    // A mutation that fails must not remove the results of the others in the same request.
    nullable: true,
    description,
    extensions: { cost: costOfBatch } satisfies FieldExtensions,
    args: {
      input: t.arg({ ...input, type: [input.type], required: true }),
      ...options,
      dryRun: dryRunArgument(t),
    },
    // The casts are safe because these are the types of the arguments, and of the field; the compiler cannot see it for type parameters.
    resolve(_root, args, context, info) {
      const { input: sent, dryRun } = args as object as { input: unknown[]; dryRun: boolean };
      const parse = parser(context);
      const work = async (session: Session) => run(session, sent.map(parse), args as object as Options, context);
      return write(context, info, { run: work, dryRun, primed }) as never;
    },
  });
}

export const dryRunArgument = (t: MutationFields) =>
  t.arg.boolean({
    required: true,
    defaultValue: false,
    description:
      'Checks everything and returns the records as they would be, but stores nothing: `dryRun: true`. Lists and histories in the result show what is actually stored.',
  });

export const byId = (records: readonly { readonly id: string }[]): ById =>
  new Map(records.map((record) => [record.id, record]));

const onInvalid = builder.enumType('OnInvalid', {
  description: 'What a batch does with invalid items.',
  values: {
    FAIL: { value: 'fail', description: 'Stores nothing: the error lists every invalid item.' },
    SKIP: {
      value: 'skip',
      description: 'Stores all valid items together, and returns the issues of the others.',
    },
  } as const,
});

export const issueType = builder.objectRef<Issue>('ItemIssue').implement({
  description: 'What is wrong with an item.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Where in the item: `["externalIds", "erp"]`. Empty if it is the item as a whole.',
      resolve: ({ path }) => path.map(String),
    }),
    message: t.exposeString('message', { description: 'What was expected, and what was received.' }),
  }),
});

export const onInvalidArgument = (t: MutationFields) =>
  t.arg({
    type: onInvalid,
    required: true,
    defaultValue: 'fail',
    description: 'What to do with invalid items: `onInvalid: SKIP` leaves them out and stores the others.',
  });

export const createField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  batchField(t, {
    type: typeOf(kind),
    description: `Creates ${kind.pluralLabel}, all or none, and returns them in the order sent: ${exampleCreate(kind)}.`,
    input: { type: createInput(kind), description: `The ${kind.pluralLabel} to create.` },
    parser: ({ parsers }) => parsers.create(kind),
    run: (session, input) => createRecords(session, kind, input),
    primed: (records) => [[kind, byId(records)]],
  });

export const updateField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  batchField(t, {
    type: typeOf(kind),
    description: `Changes ${kind.pluralLabel}, all or none, and returns them in the order sent. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole; an item that changes nothing writes nothing: ${exampleUpdate(kind)}.`,
    input: { type: patchInput(kind), description: `The ${kind.pluralLabel} to change, each once.` },
    parser: ({ parsers }) => parsers.patch(kind),
    run: (session, input) => updateRecords(session, kind, input),
    primed: (records) => [[kind, byId(records)]],
  });

/** The same operation as PATCH over REST. */
export const updateOneField = <K extends RecordKind>(t: MutationFields, kind: K) =>
  t.field({
    type: typeOf(kind),
    nullable: true,
    deprecationReason: `Use \`update${kind.plural}\`, which also changes several at once.`,
    description: `Changes fields of ${withArticle(kind.label)}. Absent fields stay unchanged, null clears a field, and \`externalIds\` is replaced as a whole: ${exampleUpdateOne(kind)}.`,
    extensions: { cost: () => ({ own: writeCost }) } satisfies FieldExtensions,
    args: {
      id: t.arg.id({ required: true, description: `The ID of the ${kind.label}.` }),
      input: t.arg({
        type: updateInput(kind),
        required: true,
        description: 'The fields to change.',
      }),
    },
    // The cast is safe because the service returns a record of the kind; the compiler cannot see it for a type parameter.
    resolve: (_root, { id, input }, context, info) =>
      write(context, info, {
        run: (session) => updateRecord(session, kind, id, context.parsers.update(kind)(input)),
      }) as never,
  });

export function upsertField<K extends RecordKind>(t: MutationFields, kind: K) {
  const by = t.arg({
    type: keyType(kind),
    required: true,
    description: `The key by which ${kind.pluralLabel} are matched; every item must have it: ${exampleKey(kind)}.`,
  });
  return batchField(t, {
    type: upsertedType(kind),
    description: `Updates the ${kind.pluralLabel} that match an item by its key, and creates the others, all or none. Returns them in the order sent: ${exampleUpsert(kind)}.`,
    input: { type: upsertInput(kind), description: `The ${kind.pluralLabel} to create or change, each once.` },
    parser: ({ parsers }) => parsers.upsert(kind),
    options: { by, onInvalid: onInvalidArgument(t) },
    run: (session, input, { by, onInvalid }, { limits }) =>
      upsertRecords(session, kind, input, { by: parseKey(by, limits), limits, onInvalid }),
    primed: (upserted) => [[kind, byId(upserted.flatMap((item) => (isRejected(item) ? [] : [item.record])))]],
  });
}

const outcome = builder.enumType('UpsertOutcome', {
  description: 'What an upsert did with an item.',
  values: {
    CREATED: { value: 'created', description: 'No record had the key, so a new one was created.' },
    UPDATED: { value: 'updated', description: 'The record with the key was changed.' },
    UNCHANGED: {
      value: 'unchanged',
      description:
        'The record with the key already had all these values: nothing was written, and `updatedAt` is unchanged.',
    },
    REJECTED: {
      value: 'rejected',
      description: 'The item is invalid, and was left out because of `onInvalid: SKIP`: `issues` says why.',
    },
  } as const,
});
/** `UpsertedAsset` */
const upsertedType = <K extends RecordKind>(kind: K) =>
  builder.objectRef<Upserted<K>>(`Upserted${kind.name}`).implement({
    description: `${capitalized(withArticle(kind.label))} after an upsert, and what the upsert did with it.`,
    fields: (t) => ({
      record: t.field({
        type: typeOf(kind),
        nullable: true,
        description: `The ${kind.label} as it is now; null only if the item was rejected, which needs \`onInvalid: SKIP\`.`,
        resolve: (upserted) => (isRejected(upserted) ? null : upserted.record) as never,
      }),
      issues: t.field({
        type: [issueType],
        description: 'What is wrong with the item, if it was rejected.',
        resolve: (upserted) => (isRejected(upserted) ? [...upserted.issues] : []),
      }),
      outcome: t.field({
        type: outcome,
        description: 'What the upsert did.',
        resolve: (upserted) => upserted.outcome,
      }),
    }),
  });

const handling = builder.enumType('ReferenceHandling', {
  description: 'What a deletion does if other records refer to the ones it deletes.',
  values: {
    REFUSE: { value: 'refuse', description: 'Deletes nothing: the error lists the records that refer to each one.' },
    CLEAR: {
      value: 'clear',
      description:
        'Sets these references to null, which is recorded as a change of each record that has one. At most as many as the setting `MAX_BATCH` can be cleared at once.',
    },
  } as const,
});

/** References that are cleared cost as much as the most records that may have them. Throws a ServiceError for a batch that is too large. */
const costOfDeletion: CostFunction = ({ ids, keys, references }, { maxBatch }) => {
  const size = lengthOf(ids ?? keys);
  requireBatchSize(size, maxBatch);
  return { own: writeCost * (size + (references === 'CLEAR' ? maxBatch : 0)), items: size };
};

export function deleteField<K extends RecordKind>(t: MutationFields, kind: K) {
  const references = t.arg({
    type: handling,
    required: true,
    defaultValue: 'refuse',
    description: 'What to do if other records refer to them. References between records of the batch do not count.',
  });
  return t.field({
    type: [typeOf(kind)],
    nullable: true,
    description: `Deletes ${kind.pluralLabel}, all or none, and returns them as they were, in the order sent: ${exampleDelete(kind)}.`,
    extensions: { cost: costOfDeletion } satisfies FieldExtensions,
    args: {
      ids: t.arg.idList({ description: `The IDs of the ${kind.pluralLabel}, each once.` }),
      by: t.arg({
        type: keyType(kind),
        description: `The key by which \`keys\` identify the ${kind.pluralLabel}, instead of their IDs: ${exampleKey(kind)}.`,
      }),
      keys: t.arg.stringList({ description: `The values of the key, each once: \`["4711"]\`.` }),
      references,
      dryRun: dryRunArgument(t),
    },
    resolve(_root, { ids, by, keys: values, references, dryRun }, context, info) {
      const { argument, sent } = requireOneList({ ids, by, keys: values });
      const { limits } = context;
      const options = { references, maxCleared: limits.maxBatch, by: by ? parseKey(by, limits) : undefined };
      const parse = by ? parseText(limits.maxTextLength) : parseId;
      return write(context, info, {
        run: async (session: Session) => deleteRecords(session, kind, sent.map(parse), options),
        dryRun,
        primed: (records) => [[kind, new Map(records.map(({ id }) => [id, null]))]],
        argument,
        // The cast is safe: these are records of the kind, which the compiler cannot see for a type parameter.
      }) as never;
    },
  });
}

interface SentLists {
  readonly ids: readonly string[] | null | undefined;
  readonly by: object | null | undefined;
  readonly keys: readonly string[] | null | undefined;
}

/** Returns the list that was sent, and the name of its argument. Throws a ServiceError 400 if not exactly one was. */
function requireOneList({ ids, by, keys }: SentLists) {
  const [hasIds, hasBy, hasKeys] = [ids, by, keys].map((sent) => (sent ?? undefined) !== undefined);
  if (hasIds && !hasBy && !hasKeys) return { argument: 'ids', sent: ids ?? [] };
  if (hasBy && hasKeys && !hasIds) return { argument: 'keys', sent: keys ?? [] };
  const names = [hasIds && 'ids', hasBy && 'by', hasKeys && 'keys'].filter((name) => name !== false);
  throw badRequest(`expected either ids, or by and keys; received ${names.join(' and ') || 'none of them'}`);
}

/** Parses an ID: the service says which of them it does not know. */
const parseId = (value: string): Parsed<string> => ({ value });

const parseText =
  (maxLength: number) =>
  (value: string): Parsed<string> => {
    const problem = textProblem(value, maxLength);
    return problem === undefined ? { value } : { issues: [{ path: [], message: problem }], validFields: {} };
  };
