/** The types of changes, which the feed and the histories of records have in common. */
import type { Limits } from '../../../config.ts';
import { capitalized, constantCase, uncapitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { kindNamed, recordKinds } from '../../../records/index.ts';
import type { ChangePage } from '../../../store/log/change-pages.ts';
import type { Change } from '../../../store/log/read-changes.ts';
import type { FieldExtensions } from '../../plan/extensions.ts';
import type { Builder, Interface, ObjectFields, ObjectRef, Values } from '../builder.ts';
import type { Foreign } from '../foreign-type.ts';
import { connectionCost, defaultPageSize } from '../list/connection.ts';
import { parseHistory } from './change-arguments.ts';
import { type FieldChange, fieldChanges, maxFieldChanges } from './field-change.ts';

export type ChangeTypes = ReturnType<typeof createChangeTypes>;

/** Makes the types of one schema. */
export function createChangeTypes(builder: Builder, node: Interface<Values>, user: ObjectRef<Foreign>, limits: Limits) {
  const kind = builder.enumType('RecordKind', {
    description: 'A kind of record.',
    values: Object.fromEntries(
      recordKinds.map(({ name, label }) => [
        constantCase(uncapitalized(name)),
        { value: name, description: `${capitalized(withArticle(label))}.` },
      ]),
    ),
  });
  const change = createChangeType(builder, kind, node, user);
  const page = builder.objectRef<ChangePage>('ChangePage').implement({
    description: 'A page of changes.',
    fields: (t) => ({
      nodes: t.field({
        type: [change],
        description: 'The changes of the page.',
        resolve: ({ changes }) => [...changes],
      }),
      endCursor: t.string({
        description:
          'Where the page ends: pass it as `after` to get the next one. Every page has one, even an empty page.',
        resolve: ({ end }) => String(end),
      }),
      hasMore: t.exposeBoolean('hasMore', {
        description: 'Whether there are more changes now. With `kinds`, this can be true even if the page is empty.',
      }),
    }),
  });

  /** Returns the field `history`, which every kind has. */
  const historyField = (t: ObjectFields<Values>, of: RecordKind) =>
    t.field({
      type: page,
      description: `The changes of the ${of.label}, the latest first. Changes before history existed are not recorded.`,
      extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
      args: historyArguments(t, limits),
      resolve: ({ id }, args, { loaders }) => loaders.history(id, parseHistory(args, limits)),
    });

  return { kind, page, historyField };
}

export const historyArguments = (t: Pick<ObjectFields<Values>, 'arg'>, limits: Limits) => ({
  first: t.arg.int({ description: firstOf(limits) }),
  after: t.arg.string({
    description: 'Only changes before the one with this cursor: the next page of the list.',
  }),
});

/** Returns the description of `first`. */
export const firstOf = (limits: Limits): string =>
  `The number of changes, 1 to ${limits.maxPageSize}; ${defaultPageSize(limits)} unless set.`;

function createChangeType(
  builder: Builder,
  kind: ReturnType<Builder['enumType']>,
  node: Interface<Values>,
  user: ObjectRef<Foreign>,
) {
  const action = builder.enumType('ChangeAction', {
    description: 'What was done to a record.',
    values: {
      CREATED: {
        value: 'created',
        description: 'It was created, or stored again with its ID after it had been deleted.',
      },
      UPDATED: {
        value: 'updated',
        description:
          'Some of its fields were changed. `fields` is empty if a PATCH or `updateProject` sent the values that it already had.',
      },
      DELETED: { value: 'deleted', description: 'It was deleted.' },
    } as const,
  });
  const fieldChange = createFieldChangeType(builder);
  return builder.objectRef<Change>('Change').implement({
    description: 'The creation, the update or the deletion of one record.',
    fields: (t) => ({
      cursor: t.string({
        description: 'The position of the change among all changes of the workspace, for `after`.',
        resolve: ({ number }) => String(number),
      }),
      action: t.field({ type: action, description: 'What was done.', resolve: ({ action: done }) => done }),
      kind: t.field({ type: kind, description: 'The kind of the record.', resolve: ({ kind: name }) => name }),
      recordId: t.id({ description: 'The ID of the record.', resolve: ({ id }) => id }),
      record: t.field({
        type: node,
        nullable: true,
        description: 'The record as it is now; null if it was deleted since.',
        resolve: ({ kind: name, id }, _args, { loaders }) =>
          loaders.of(kindNamed(name)).load(id) as Promise<Values | null>,
      }),
      at: t.field({ type: 'DateTime', description: 'When it was done.', resolve: ({ at }) => at }),
      user: t.field({
        type: user,
        nullable: true,
        description: 'The user of the API key that made the change; null if the service had no keys then.',
        resolve: ({ userId }) => (userId === null ? null : { id: userId }),
      }),
      requestId: t.string({
        nullable: true,
        description:
          'The ID of the request that did it, as in its `X-Request-Id` header and in the log of the service.',
        resolve: ({ requestId }) => requestId,
      }),
      message: t.string({
        nullable: true,
        description: 'Why it was done: the `X-Change-Message` header of the request.',
        resolve: ({ message }) => message,
      }),
      fields: t.field({
        type: [fieldChange],
        description:
          'The changed fields, without those that only the service sets. A creation or deletion lists every field with a value.',
        extensions: { storedField: 'before', cost: { listSize: () => maxFieldChanges } } satisfies FieldExtensions,
        resolve: (parent, _args, context) => fieldChanges(parent, context),
      }),
    }),
  });
}

function createFieldChangeType(builder: Builder) {
  return builder.objectRef<FieldChange>('FieldChange').implement({
    description: 'What a change did to one field of the record.',
    fields: (t) => ({
      field: t.exposeString('field', { description: 'The name of the field, such as `currentLocationId`.' }),
      before: t.field({
        type: 'FieldValue',
        nullable: true,
        description: 'The value before the change; null if it was not set.',
        resolve: ({ before }) => before,
      }),
      after: t.field({
        type: 'FieldValue',
        nullable: true,
        description: 'The value after the change; null if it was cleared, or the record was deleted.',
        resolve: ({ after }) => after,
      }),
    }),
  });
}
