/** Batches from which invalid items are left out: the argument `onInvalid`, and how the response says what was left out, and why. */
import type { Issue } from '../../../model/issues.ts';
import type { Builder, MutationFields } from '../builder.ts';

export type Rejections = ReturnType<typeof createRejections>;

export function createRejections(builder: Builder) {
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

  const issue = builder.objectRef<Issue>('ItemIssue').implement({
    description: 'What is wrong with an item.',
    fields: (t) => ({
      path: t.stringList({
        description: 'Where in the item: `["externalIds", "erp"]`. Empty if it is the item as a whole.',
        resolve: ({ path }) => path.map(String),
      }),
      message: t.exposeString('message', { description: 'What was expected, and what was received.' }),
    }),
  });

  return {
    issue,
    argument: (t: MutationFields) =>
      t.arg({
        type: onInvalid,
        required: true,
        defaultValue: 'fail',
        description: 'What to do with invalid items: `onInvalid: SKIP` leaves them out and stores the others.',
      }),
  };
}
