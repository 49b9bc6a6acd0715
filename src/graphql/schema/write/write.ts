/** The common parts of all mutations: how they run, what they cost, and the argument `dryRun`. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Limits } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { requireBatchSize, requireFewExternalIds } from '../../../services/checks/batch-size.ts';
import { dryRun, type Session } from '../../../services/session.ts';
import { mapInSlices } from '../../../slices.ts';
import type { Context } from '../../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../plan/extensions.ts';
import type { Argument, Builder, MutationFields, ObjectRef } from '../builder.ts';
import type { ObjectTypes } from '../object-type.ts';
import type { InputTypes, ItemType } from './input-type.ts';
import type { Keys } from './key-type.ts';
import type { Rejections } from './rejections.ts';

/** The parts from which the fields of one schema's mutations are made. */
export interface MutationSchema {
  readonly builder: Builder;
  readonly types: ObjectTypes;
  readonly inputs: InputTypes;
  readonly keys: Keys;
  readonly rejections: Rejections;
  readonly limits: Limits;
}

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
  readonly input: ItemType<Input> & { readonly description: string };
  /** The other arguments. */
  readonly options?: { readonly [Name in keyof Options]: Argument<Options[Name]> };
  run(session: Session, items: readonly Input[], options: Options): Promise<readonly Item[]>;
  readonly primed: (items: readonly Item[]) => Primed;
}

/** Declares a mutation of a list of items, which returns one object for each. */
export function batchField<Input, Options extends object, Item>(
  { limits }: MutationSchema,
  t: MutationFields,
  { type, description, input: { parse, ...input }, options, run, primed }: Batch<Input, Options, Item>,
) {
  const requireLength = (length: number) => requireBatchSize(length, limits.maxBatch);
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
      requireLength(sent.length);
      const work = async (session: Session) => run(session, await mapInSlices(sent, parse), args as object as Options);
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
