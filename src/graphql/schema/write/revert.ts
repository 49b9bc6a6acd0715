import { z } from 'zod';
import type { Limits } from '../../../config.ts';
import { badRequest, tooLarge } from '../../../errors.ts';
import { count } from '../../../model/issues.ts';
import { type ChangeRange, type NotReversed, type Reverted, revertChanges } from '../../../services/revert.ts';
import type { CostFunction, FieldExtensions } from '../../limits.ts';
import { builder, type MutationFields } from '../builder.ts';
import { changeCursor, recordKindType } from '../changes.ts';
import { dryRunArgument, write, writeCost } from './write.ts';

const outcome = builder.enumType('RevertOutcome', {
  description: 'Why a change was not reversed.',
  values: {
    KEPT: { value: 'kept', description: 'Its record has changed since.' },
    FAILED: {
      value: 'failed',
      description:
        'The record cannot get its earlier state back, for example because another one has its unique value now.',
    },
  } as const,
});

const notReversed = builder.objectRef<NotReversed>('ChangeNotReversed').implement({
  description: 'A change that was not reversed.',
  fields: (t) => ({
    cursor: t.string({ description: 'The cursor of the change.', resolve: ({ change }) => String(change) }),
    kind: t.expose('kind', { type: recordKindType, description: 'The kind of the record.' }),
    recordId: t.exposeID('recordId', { description: 'The ID of the record.' }),
    outcome: t.expose('outcome', { type: outcome, description: 'What became of it.' }),
    message: t.exposeString('message', { description: 'Why it was not reversed.' }),
  }),
});

const reverted = builder.objectRef<Reverted>('RevertedChanges').implement({
  description: 'What became of the changes that were to be reversed.',
  fields: (t) => ({
    reversed: t.exposeInt('reversed', { description: 'The number of changes that were reversed.' }),
    kept: t.exposeInt('kept', { description: 'The number of changes whose records have changed since.' }),
    failed: t.exposeInt('failed', { description: 'The number of changes that cannot be reversed.' }),
    notReversed: t.expose('notReversed', {
      type: [notReversed],
      description: 'The changes that were not reversed, in their order.',
    }),
  }),
});

export const revertField = (t: MutationFields) =>
  t.field({
    type: reverted,
    nullable: true,
    description: `Reverses the changes after \`after\`, up to and with \`upTo\`: the records that they changed get the state back that they had before, by changes of their own. A record that has changed since is kept. At most as many changes as the setting \`MAX_BATCH\`: \`revertChanges(after: "4700", upTo: "4711") { reversed kept failed }\`.`,
    extensions: { cost: costOfReversal } satisfies FieldExtensions,
    args: {
      after: t.arg.string({ required: true, description: 'The cursor before the first change to reverse.' }),
      upTo: t.arg.string({ required: true, description: 'The cursor of the last change to reverse.' }),
      ...dryRunArgument,
    },
    validate: z.looseObject({ after: changeCursor, upTo: changeCursor }),
    resolve(_root, { after, upTo, dryRun }, context, info) {
      const range = parseRange(after, upTo, context.limits);
      return write(context, info, { run: (session) => revertChanges(session, range), dryRun });
    },
  });

const costOfReversal: CostFunction = ({ after, upTo }, { maxBatch }) => {
  const sent = Math.trunc(Number(upTo) - Number(after)) || 1;
  const changes = Math.min(maxBatch, Math.max(1, sent));
  return { own: writeCost * changes, lists: { notReversed: changes } };
};

/** Throws a ServiceError: 400, or 413 for too many changes. */
function parseRange(after: string, upTo: string, { maxBatch }: Limits): ChangeRange {
  const range = { after: Number(after), upTo: Number(upTo) };
  const changes = range.upTo - range.after;
  if (changes < 0) throw badRequest(`upTo: expected a cursor that is not before after, "${after}", received "${upTo}"`);
  if (changes > maxBatch) {
    const problem = `expected at most ${count(maxBatch)} changes, received ${count(changes)}`;
    throw tooLarge(`${problem}: reverse them in several parts, the latest first`, 'batch too large');
  }
  return range;
}
