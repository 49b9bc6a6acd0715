/** The types of changes, which the feed and the histories of records have in common, and their arguments. A cursor is the number of a change. */
import type { InputShapeFromFields } from '@pothos/core';
import { z } from 'zod';
import type { Limits } from '../../config.ts';
import { isSame } from '../../model/fields.ts';
import { expected } from '../../model/issues.ts';
import { capitalized, constantCase, uncapitalized, withArticle } from '../../model/labels.ts';
import type { RecordKind, Values as RecordValues } from '../../model/record-kind.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';
import type { Change, ChangePage, HistoryQuery } from '../../store/log/read-changes.ts';
import type { FeedQuery } from '../execution/context.ts';
import type { Loaders } from '../execution/loaders.ts';
import type { FieldExtensions } from '../limits.ts';
import { refused } from './argument.ts';
import { builder, foreignType, node, type ObjectFields, type Values } from './builder.ts';
import { defaultPageSize, pageCost, pageSize } from './connection.ts';

export const recordKindType = builder.enumType('RecordKind', {
  description: 'A kind of record.',
  values: Object.fromEntries(
    recordKinds.map(({ name, label }) => [
      constantCase(uncapitalized(name)),
      { value: name, description: `${capitalized(withArticle(label))}.` },
    ]),
  ),
});

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

const fieldChange = builder.objectRef<FieldChange>('FieldChange').implement({
  description: 'What a change did to one field of the record.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the field, such as `currentLocationId`.' }),
    before: t.expose('before', {
      type: 'FieldValue',
      nullable: true,
      description: 'The value before the change; null if it was not set.',
    }),
    after: t.expose('after', {
      type: 'FieldValue',
      nullable: true,
      description: 'The value after the change; null if it was cleared, or the record was deleted.',
    }),
  }),
});

const changeType = builder.objectRef<Change>('Change').implement({
  description: 'The creation, the update or the deletion of one record.',
  fields: (t) => ({
    cursor: t.string({
      description: 'The position of the change among all changes of the workspace, for `after`.',
      resolve: ({ number }) => String(number),
    }),
    action: t.expose('action', { type: action, description: 'What was done.' }),
    kind: t.expose('kind', { type: recordKindType, description: 'The kind of the record.' }),
    recordId: t.exposeID('id', { description: 'The ID of the record.' }),
    record: t.field({
      type: node,
      nullable: true,
      description: 'The record as it is now; null if it was deleted since.',
      resolve: ({ kind, id }, _args, { loaders }) => loaders.of(kindNamed(kind)).load(id),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was done.' }),
    user: t.field({
      type: foreignType('User'),
      nullable: true,
      description: 'The user of the API key that made the change; null if the service had no keys then.',
      resolve: ({ userId }) => (userId === null ? null : { id: userId }),
    }),
    requestId: t.exposeString('requestId', {
      nullable: true,
      description: 'The ID of the request that did it, as in its `X-Request-Id` header and in the log of the service.',
    }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'Why it was done: the `X-Change-Message` header of the request.',
    }),
    fields: t.field({
      type: [fieldChange],
      description:
        'The changed fields, without those that only the service sets. A creation or deletion lists every field with a value.',
      extensions: { storedField: 'before', cost: () => ({ items: maxFieldChanges }) } satisfies FieldExtensions,
      resolve: (change, _args, { loaders }) => fieldChanges(change, loaders),
    }),
  }),
});

export const changePageType = builder.objectRef<ChangePage>('ChangePage').implement({
  description: 'A page of changes.',
  fields: (t) => ({
    nodes: t.expose('changes', { type: [changeType], description: 'The changes of the page.' }),
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

export const describeFirst =
  'The number of changes, from 1 to the setting `MAX_PAGE_SIZE`; 50 unless set, or as many as it allows.';

export const historyArguments = builder.args((t) => ({
  first: t.int({ description: describeFirst }),
  after: t.string({ description: 'Only changes before the one with this cursor: the next page of the list.' }),
}));

export const historyField = (t: ObjectFields<Values>, of: RecordKind) =>
  t.field({
    type: changePageType,
    description: `The changes of the ${of.label}, the latest first. Changes before history existed are not recorded.`,
    extensions: { cost: pageCost } satisfies FieldExtensions,
    args: historyArguments,
    resolve: ({ id }, args, { loaders, limits }) => loaders.history(id, parseHistory(args, limits)),
  });

interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The most fields that a change can have. */
const maxFieldChanges = Math.max(...recordKinds.map(({ fields }) => Object.keys(fields).length));

/** Returns the changed fields that clients may set; for a creation or a deletion, all that have a value. */
async function fieldChanges(change: Change, loaders: Loaders): Promise<FieldChange[]> {
  const before: RecordValues = change.before ?? {};
  const after = (await loaders.after(change)) ?? {};
  return Object.keys(kindNamed(change.kind).fields)
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((values) => !isSame(values.before, values.after));
}

type PageArgs = InputShapeFromFields<typeof historyArguments>;

export interface FeedArgs extends PageArgs {
  readonly kinds?: readonly string[] | null | undefined;
}

/** A cursor is the number of a change. It has at most 15 digits: no workspace has more changes. */
export const changeCursor = z
  .string()
  .regex(/^\d{1,15}$/, { error: ({ input }) => expected('a cursor of a change, such as "4711"', input) });

/** Returns the number of the change with this cursor. Throws a ServiceError 400. */
export function parseChangeCursor(argument: string, sent: string): number {
  const { error } = changeCursor.safeParse(sent);
  for (const { message } of error?.issues ?? []) throw refused([argument], message);
  return Number(sent);
}

/** Throws a ServiceError 400. */
export function parseFeed({ first, after, kinds }: FeedArgs, limits: Limits): FeedQuery {
  if (kinds?.length === 0) throw refused(['kinds'], 'expected at least one value, received none');
  return {
    after: parseChangeCursor('after', after ?? '0'),
    limit: pageSize('first', first ?? defaultPageSize(limits), limits, 1),
    // Each once, however many are sent.
    ...(kinds && { kinds: [...new Set(kinds)] }),
  };
}

/** Throws a ServiceError 400. */
export const parseHistory = ({ first, after }: PageArgs, limits: Limits): Omit<HistoryQuery, 'withBefore'> => ({
  limit: pageSize('first', first ?? defaultPageSize(limits), limits, 1),
  before: after === null || after === undefined ? undefined : parseChangeCursor('after', after),
});
