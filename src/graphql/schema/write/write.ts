/** The common parts of all mutations: how they run, what they cost, and the arguments `dryRun` and `onInvalid`. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Limits } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import type { Issue } from '../../../model/issues.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { requireBatchSize, requireFewExternalIds } from '../../../services/checks/batch.ts';
import { dryRun, type Session } from '../../../services/session.ts';
import type { Context } from '../../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../limits/extensions.ts';
import { type Argument, builder, type InputRef, type MutationFields, type ObjectRef } from '../builder.ts';

/** The cost of writing a record, in addition to the fields that are returned for it. */
export const writeCost = 10;

/** Records by ID; null for IDs that must have none. */
type ById = ReadonlyMap<string, object | null>;

type Primed = readonly (readonly [RecordKind, ById])[];

interface Write<T> {
  run(session: Session): Promise<T>;
  readonly dryRun?: boolean;
  /** Returns the records that later fields of a dry run must find instead of the stored ones. */
  readonly primed?: (result: T) => Primed;
  /** The argument with which the paths of issues begin: `input` unless set. */
  readonly argument?: string;
}

/**
 * Runs a mutation in its session: if it was carried out before, under the same key, it is not carried out again. Clears
 * the loaders, because what they loaded before the write may be stale.
 */
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
  /** The argument that has the items. */
  readonly input: { readonly type: InputRef<unknown>; readonly description: string };
  /** Returns the parser of an item, valid or not: the service reports the issues of all items together. */
  parser(context: Context): (sent: unknown) => Input;
  /** The other arguments. */
  readonly options?: { readonly [Name in keyof Options]: Argument<Options[Name]> };
  run(session: Session, items: readonly Input[], options: Options, context: Context): Promise<readonly Item[]>;
  readonly primed: (items: readonly Item[]) => Primed;
}

/** Throws a ServiceError for a batch that is too long. */
export const requireLength = (length: number, _name: string, { maxBatch }: Limits): void =>
  requireBatchSize(length, maxBatch);

/** Declares a mutation of a list of items, which returns one object for each. */
export function batchField<Input, Options extends object, Item>(
  t: MutationFields,
  { type, description, input, parser, options, run, primed }: Batch<Input, Options, Item>,
) {
  const requireContent = (sent: unknown) => requireFewExternalIds(Array.isArray(sent) ? sent : []);
  return t.field({
    type: [type],
    // A mutation that fails must not remove the results of the others in the same request.
    nullable: true,
    description,
    extensions: {
      cost: { listSize: ({ input }) => lengthOf(input), perRecord: writeCost },
    } satisfies FieldExtensions,
    args: {
      input: t.arg({
        ...input,
        type: [input.type],
        required: true,
        extensions: { requireLength, requireContent } satisfies ArgumentExtensions,
      }),
      ...options,
      dryRun: dryRunArgument(t),
    },
    // The casts are safe because these are the types of the arguments, and of the field; the compiler cannot see it for type parameters.
    resolve(_root, args, context, info) {
      const { input: sent, dryRun } = args as object as { input: unknown[]; dryRun: boolean };
      requireLength(sent.length, 'input', context.limits);
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

/** Returns records to prime the loaders with after a dry run. */
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
