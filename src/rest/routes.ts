/** The operations, in the order of the interface's first table. */
import type { RecordKind } from '../model/record-kind.ts';
import { asset, assetCategory, label, location, project, transportOrder, workOrder } from '../records/index.ts';

const operations = {
  create: { method: 'POST', success: 201 },
  update: { method: 'PATCH', success: 200 },
  list: { method: 'GET', success: 200 },
} as const;

const route = (operation: keyof typeof operations, path: string, kind: RecordKind) => ({
  operation,
  path,
  /** The path as OpenAPI writes it: `/projects/{id}` */
  template: path.replace(/:(\w+)/g, '{$1}'),
  kind,
  ...operations[operation],
});

export type Route = Readonly<ReturnType<typeof route>>;

export const routes: readonly Route[] = [
  route('create', '/assets', asset),
  route('create', '/work-orders', workOrder),
  route('create', '/projects', project),
  route('update', '/projects/:id', project),
  route('create', '/locations', location),
  route('create', '/transport-orders', transportOrder),
  route('create', '/asset-categories', assetCategory),
  route('list', '/asset-categories', assetCategory),
  route('create', '/labels', label),
];
