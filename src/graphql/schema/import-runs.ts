/** The cursor of an import is that of the change before it: an earlier one has begun at this change or before. */
import type { StoredImportRun } from '../../store/log.ts';
import { oldestFirst } from '../../store/query/record-query.ts';
import { describePageSize, type FieldExtensions, pageCost, pageSize } from '../limits.ts';
import { builder, foreignType, type QueryFields } from './builder.ts';
import { parseChangeCursor } from './changes.ts';
import { type ConnectionPage, pageInfo } from './records.ts';

const importRun = builder.objectRef<StoredImportRun>('ImportRun').implement({
  description:
    'The changes of all requests with the same `X-Import-Run` header. If they are fewer than the changes after `after`, up to `upTo`, others have written in between: reverse those with the `message`.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The ID in the header.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When its first change was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its last change was made.' }),
    user: t.field({
      type: foreignType('User'),
      nullable: true,
      description: 'The user of the API key that made its first change; null if the service had no keys then.',
      resolve: ({ userId }) => (userId === null ? null : { id: userId }),
    }),
    message: t.exposeString('message', { nullable: true, description: 'The message of its first change.' }),
    created: t.exposeInt('created', { description: 'The number of records that it has created.' }),
    updated: t.exposeInt('updated', { description: 'The number of its updates of records.' }),
    deleted: t.exposeInt('deleted', { description: 'The number of records that it has deleted.' }),
    after: t.exposeString('after', { description: 'The cursor before its first change, for `revertChanges`.' }),
    upTo: t.exposeString('upTo', { description: 'The cursor of its last change, for `revertChanges`.' }),
  }),
});

const importRunPage = builder
  .objectRef<ConnectionPage & { readonly runs: readonly StoredImportRun[] }>('ImportRunConnection')
  .implement({
    description: 'A page of imports, the latest first.',
    fields: (t) => ({
      nodes: t.expose('runs', { type: [importRun], description: 'The imports of the page.' }),
      pageInfo: t.field({
        type: pageInfo,
        description: 'The position of the page among all imports.',
        resolve: (page) => page,
      }),
    }),
  });

export const importRunsField = (t: QueryFields) =>
  t.field({
    type: importRunPage,
    description: 'The imports of the workspace, the latest first, page by page.',
    extensions: { cost: pageCost } satisfies FieldExtensions,
    args: {
      first: t.arg.int({ description: describePageSize('imports') }),
      after: t.arg.string({ description: 'Only imports that began before the one with this cursor.' }),
    },
    async resolve(_root, args, { loaders, limits }) {
      const first = pageSize('first', args.first, limits);
      const upTo = parseChangeCursor('after', args.after);
      const found = await loaders.importRuns({ upTo, limit: first + 1 });
      const runs = found.slice(0, first);
      const records = runs.map(({ after }) => ({ id: after }));
      const page = { hasNextPage: found.length > first, hasPreviousPage: upTo !== undefined };
      return { runs, records, orderBy: oldestFirst, ...page };
    },
  });

export const importRunField = (t: QueryFields) =>
  t.field({
    type: importRun,
    nullable: true,
    description: 'The import with this ID, or null if it has changed no record.',
    args: { id: t.arg.id({ required: true, description: 'The ID in the header `X-Import-Run`.' }) },
    resolve: async (_root, { id }, { loaders }) => (await loaders.importRuns({ id, limit: 1 }))[0],
  });
