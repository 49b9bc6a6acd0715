/** A cursor is the number of a change. */
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { Limits } from '../../config.ts';
import { badRequest, tooLarge } from '../../errors.ts';
import { followers } from '../../metrics.ts';
import { isSame } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import { capitalized, withArticle } from '../../model/labels.ts';
import type { RecordKind, Values as RecordValues } from '../../model/record-kind.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';
import { type ChangeRange, type RevertResult, revertChanges, type UnreversedChange } from '../../services/revert.ts';
import type { ChangePage, LoggedChange } from '../../store/log.ts';
import type { FeedQuery, Loaders } from '../execution/loaders.ts';
import { type CostFunction, describePageSize, type FieldExtensions, pageCost, pageSize } from '../limits.ts';
import {
  badArgument,
  builder,
  type Context,
  enumType,
  foreignType,
  type MutationFields,
  node,
  type ObjectFields,
  type QueryFields,
  type RecordShape,
} from './builder.ts';
import { dryRunArgument, resolveMutation, writeCost } from './write.ts';

export const recordKindType = enumType(
  'RecordKind',
  'A kind of record.',
  Object.fromEntries(recordKinds.map(({ name, label }) => [name, `${capitalized(withArticle(label))}.`])),
);

const action = enumType('ChangeAction', 'What was done to a record.', {
  created: 'It was created, or stored again with its ID after it had been deleted.',
  updated: 'Fields were changed; no `fields` if a PATCH or `updateProject` sent the values that it already had.',
  deleted: 'It was deleted.',
});

interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

const fieldChange = builder.objectRef<FieldChange>('FieldChange').implement({
  description: 'What a change did to one field of the record; null stands for no value.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the field, such as `currentLocationId`.' }),
    before: t.expose('before', { type: 'FieldValue', nullable: true, description: 'The value before the change.' }),
    after: t.expose('after', { type: 'FieldValue', nullable: true, description: 'The value after the change.' }),
  }),
});

const changeType = builder.objectRef<LoggedChange>('Change').implement({
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
      description: 'The changed fields that clients may set. A creation or deletion lists every field with a value.',
      extensions: { storedFields: ['before'], cost: () => ({ items: maxFieldChanges }) } satisfies FieldExtensions,
      resolve: (change, _args, { loaders }) => fieldChanges(change, loaders),
    }),
    erased: t.boolean({
      description: 'Whether the values of the record were erased after its deletion: `fields` is empty then.',
      extensions: { storedFields: ['before'] } satisfies FieldExtensions,
      resolve: async (change, _args, { loaders }) => !(change.before ?? (await loaders.after(change))),
    }),
  }),
});

const changePageType = builder.objectRef<ChangePage>('ChangePage').implement({
  description: 'A page of changes.',
  fields: (t) => ({
    nodes: t.expose('changes', { type: [changeType], description: 'The changes of the page.' }),
    endCursor: t.string({
      description: 'Where the page ends, even an empty one: pass it as `after` to get the next one.',
      resolve: ({ end }) => String(end),
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description: 'Whether there are more changes now. With `kinds`, this can be true even if the page is empty.',
    }),
  }),
});

const maxFieldChanges = Math.max(...recordKinds.map(({ fields }) => Object.keys(fields).length));

/** A creation or a deletion changes all fields with a value. */
async function fieldChanges(change: LoggedChange, loaders: Loaders): Promise<FieldChange[]> {
  const before: RecordValues = change.before ?? {};
  const after = (await loaders.after(change)) ?? {};
  return Object.keys(kindNamed(change.kind).fields)
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((values) => !isSame(values.before, values.after));
}

const pageArguments = builder.args((t) => ({ first: t.int({ description: describePageSize('changes', 1) }) }));

const historyArguments = builder.args((t) => ({
  ...pageArguments,
  after: t.string({ description: 'Only changes before the one with this cursor: the next page of the list.' }),
}));

const feedArguments = builder.args((t) => ({
  after: t.string({ description: 'Only changes after the one with this cursor.' }),
  kinds: t.field({ type: [recordKindType], description: 'Only changes of records of these kinds.' }),
}));

const pageOptions = { type: changePageType, extensions: { cost: pageCost } satisfies FieldExtensions };

export const feedField = (t: QueryFields) =>
  t.field({
    ...pageOptions,
    description:
      'All changes of the workspace in the order in which they were made, page by page: to follow them without gaps or repeats, pass the `endCursor` of each page as `after` of the next.',
    args: { ...feedArguments, ...pageArguments },
    resolve: (_root, args, { loaders, limits }) => loaders.changePage(parseFeed(args, limits)),
  });

export const cursorField = (t: QueryFields) =>
  t.string({
    description: 'The cursor of the last change of the workspace: start here to follow only new changes.',
    resolve: async (_root, _args, { loaders }) => String(await loaders.lastChange()),
  });

export const horizonField = (t: QueryFields) =>
  t.string({
    nullable: true,
    description: 'The cursor of the last change that was deleted from the log, where histories end; null if none was.',
    resolve: async (_root, _args, { session }) => String((await session.store.horizon()) || '') || null,
  });

export const historyById = (t: QueryFields) =>
  t.field({
    ...pageOptions,
    description:
      'The changes of the record with this ID, of any kind, the latest first, even after its deletion. Empty if no record ever had this ID.',
    args: { id: t.arg.id({ required: true, description: 'The ID of a record.' }), ...historyArguments },
    resolve: (_root, { id, ...args }, { loaders, limits }) => loaders.history(id, parseHistory(args, limits)),
  });

export const historyField = (t: ObjectFields<RecordShape>, of: RecordKind) =>
  t.field({
    ...pageOptions,
    description: `The changes of the ${of.label}, the latest first. Changes before history existed are not recorded.`,
    args: historyArguments,
    // Async, like reverse links in records.ts.
    resolve: async ({ id }, args, { loaders, limits }) => loaders.history(id, parseHistory(args, limits)),
  });

interface FeedArgs {
  readonly after?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly kinds?: readonly string[] | null | undefined;
}

const changeCursor = z.string().regex(/^\d{1,15}$/, { error: ({ input }) => String(input) });

export function parseChangeCursor(argument: string, sent: string | null | undefined): number | undefined {
  if (sent === null || sent === undefined) return undefined;
  if (!changeCursor.safeParse(sent).success) throw badArgument([argument], { code: 'invalid-cursor', received: sent });
  return Number(sent);
}

function parseFeed({ after, first, kinds }: FeedArgs, limits: Limits): FeedQuery {
  if (kinds?.length === 0) throw badArgument(['kinds'], 'expected at least one value, received none');
  return {
    after: parseChangeCursor('after', after) ?? 0,
    limit: pageSize('first', first, limits, 1),
    ...(kinds && { kinds: [...new Set(kinds)] }),
  };
}

const parseHistory = ({ after, first }: FeedArgs, limits: Limits) => ({
  limit: pageSize('first', first, limits, 1),
  before: parseChangeCursor('after', after),
});

/** Without loaders: events are executed later, in their own contexts. */
export interface SubscriptionContext extends Omit<Context, 'loaders' | 'reserveResponse'> {
  readonly stream: {
    /** The last event before a browser reconnected. */
    readonly lastEventId: string | undefined;
    /** Undefined once the subscription has ended. */
    readonly readPage: (query: FeedQuery) => Promise<ChangePage | undefined>;
    readonly signal: AbortSignal;
  };
}

const emptyPagePauseMs = 1_000;

builder.subscriptionType({
  description: 'Events, sent as server-sent events to clients that accept `text/event-stream`.',
  fields: (t) => ({
    changes: t.field({
      ...pageOptions,
      description:
        'The changes of the workspace as they are made, from now on unless `after` is set, in the same order and with the same cursors as the query `changes`, 1 to 50 in each event. After a disconnect, pass the last `endCursor` as `after`, or send it as `Last-Event-ID`, as browsers do.',
      args: feedArguments,
      // Safe: subscription.ts creates this context.
      subscribe: (_root, args, context: unknown) => follow(args, context as SubscriptionContext),
      resolve: (page: ChangePage) => page,
    }),
  }),
});

/** A browser that reconnects sends the header, and the argument again. */
async function follow(args: FeedArgs, context: SubscriptionContext): Promise<AsyncIterable<ChangePage>> {
  const { session, stream, limits } = context;
  const query = parseFeed(args, limits);
  const sent = parseChangeCursor('Last-Event-ID', stream.lastEventId) ?? parseChangeCursor('after', args.after);
  return pagesAfter({ ...query, after: sent ?? (await session.store.lastChange()) }, context);
}

async function* pagesAfter(query: FeedQuery, { session, stream }: SubscriptionContext): AsyncGenerator<ChangePage> {
  const { readPage, signal } = stream;
  let { after } = query;
  let hasWaited = false;
  const follower: typeof followers extends Set<infer F> ? F : never = { unsentSince: undefined };
  signal.addEventListener('abort', () => followers.delete(follower));
  while (!signal.aborted) {
    followers.add(follower);
    const page = await readPage({ ...query, after });
    if (!page) return;
    // An announced change may be missing after the restore of an older database.
    if (hasWaited && page.end === after) await pause(emptyPagePauseMs, undefined, { signal }).catch(() => undefined);
    after = page.end;
    follower.unsentSince = page.changes[0] && Date.parse(page.changes[0].at);
    if (page.changes.length > 0) yield page;
    hasWaited = !page.hasMore;
    if (hasWaited) follower.unsentSince = undefined;
    if (hasWaited) await session.store.waitForChange(after, signal);
  }
}

const outcome = enumType('RevertOutcome', 'Why a change was not reversed.', {
  kept: 'Its record has changed since.',
  failed: 'The record cannot get its earlier state back, for example because another one has its unique value now.',
});

const notReversed = builder.objectRef<UnreversedChange>('ChangeNotReversed').implement({
  description: 'A change that was not reversed.',
  fields: (t) => ({
    cursor: t.string({ description: 'The cursor of the change.', resolve: ({ change }) => String(change) }),
    kind: t.expose('kind', { type: recordKindType, description: 'The kind of the record.' }),
    recordId: t.exposeID('recordId', { description: 'The ID of the record.' }),
    outcome: t.expose('outcome', {
      type: outcome,
      description: 'Whether its record was kept, or the reversal failed.',
    }),
    message: t.exposeString('message', { description: 'Why it was not reversed.' }),
  }),
});

const reverted = builder.objectRef<RevertResult>('RevertedChanges').implement({
  description: 'The result of a reversal.',
  fields: (t) => ({
    reversed: t.exposeInt('reversed', { description: 'The number of changes that were reversed.' }),
    kept: t.exposeInt('kept', { description: 'The number of changes whose records have changed since.' }),
    failed: t.exposeInt('failed', { description: 'The number of changes that cannot be reversed.' }),
    made: t.exposeInt('made', {
      description: 'The number of new changes: one for each record that was not in its earlier state already.',
    }),
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
    description:
      'Reverses the changes after `after`, up to and including `upTo`, at most as many as the setting `MAX_BATCH`: new changes restore the earlier state of their records. A record that has changed since is kept.',
    extensions: { cost: costOfReversal } satisfies FieldExtensions,
    args: {
      after: t.arg.string({ required: true, description: 'The cursor before the first change to reverse.' }),
      upTo: t.arg.string({ required: true, description: 'The cursor of the last change to reverse.' }),
      message: t.arg.string({
        description: 'Only changes with this message. A record that others have changed in between is kept.',
      }),
      ...dryRunArgument,
    },
    validate: z.looseObject({ after: changeCursor, upTo: changeCursor }),
    resolve(_root, { after, upTo, message, dryRun }, context, info) {
      const range = { ...parseRange(after, upTo, context.limits), message: message ?? undefined };
      return resolveMutation(context, info, { run: (session) => revertChanges(session, range), dryRun });
    },
  });

const costOfReversal: CostFunction = ({ after, upTo }, { maxBatch }) => {
  const changes = Math.min(maxBatch, Math.max(1, Number(upTo) - Number(after) || 1));
  return { fieldCost: writeCost * changes, lists: { notReversed: changes } };
};

function parseRange(after: string, upTo: string, { maxBatch }: Limits): ChangeRange {
  const range = { after: Number(after), upTo: Number(upTo) };
  const changes = range.upTo - range.after;
  if (changes < 0) throw badRequest(`upTo: expected a cursor that is not before after, "${after}", received "${upTo}"`);
  if (changes > maxBatch) {
    const problem = `expected at most ${formatCount(maxBatch)} changes, received ${formatCount(changes)}`;
    throw tooLarge(`${problem}: reverse them in several parts, the latest first`, 'batch too large');
  }
  return range;
}
