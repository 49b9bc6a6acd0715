/** What all mutations have in common: how they run, what they cost, and the argument `dryRun`. */
import type { Limits } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import { requireBatchSize } from '../../../services/batch-size.ts';
import { dryRun } from '../../../services/dry-run.ts';
import type { Session } from '../../../services/session.ts';
import type { Context } from '../../execution/context.ts';
import type { ArgumentExtensions } from '../../plan/extensions.ts';
import type { Builder, MutationFields } from '../builder.ts';
import type { InputTypes } from '../input-type.ts';
import type { ObjectTypes } from '../object-type.ts';

/** What the fields of one schema's mutations are made of. */
export interface MutationSchema {
  readonly builder: Builder;
  readonly types: ObjectTypes;
  readonly inputs: InputTypes;
  readonly limits: Limits;
}

/** The cost of writing a record, in addition to the fields that are returned for it. */
export const writeCost = 10;

interface WriteOptions {
  readonly dryRun?: boolean;
  /** The argument that the paths of issues begin in: `input` unless set. */
  readonly argument?: string;
}

/** Clears the loaders: what they loaded before the write may be stale. */
export async function write<T>(
  { session, loaders }: Context,
  work: (session: Session) => Promise<T>,
  { dryRun: isDryRun = false, argument = 'input' }: WriteOptions = {},
): Promise<T> {
  try {
    return await (isDryRun ? dryRun(session, work) : work(session));
  } catch (error) {
    throw error instanceof ServiceError ? error.within(argument) : error;
  } finally {
    loaders.clear();
  }
}

export const dryRunArgument = (t: MutationFields) =>
  t.arg.boolean({
    required: true,
    defaultValue: false,
    description: 'Checks everything and returns what the records would be, but stores nothing: `dryRun: true`.',
  });

/** A function that checks the size of a batch: before its items are read if they are in a variable, otherwise in the resolver. */
export const batchLimit =
  ({ maxBatch }: Limits): NonNullable<ArgumentExtensions['requireLength']> =>
  (length) =>
    requireBatchSize(length, maxBatch);

/** Records to prime the loaders with after a dry run. */
export const byId = <R extends { readonly id: string }>(records: readonly R[]): ReadonlyMap<string, R> =>
  new Map(records.map((record) => [record.id, record]));
