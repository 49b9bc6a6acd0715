/** The operations, in the order of the interface's first table, and what the service says of other methods. */
import { listField } from '../model/labels.ts';
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
  /** The path as people and OpenAPI write it: `/projects/{id}` */
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

/** Returns `to read assets, send the query { assets { nodes { id name } } } to /graphql`; undefined for other methods and paths. */
export function methodHint(method: string, path: string): string | undefined {
  const route = routes.find((candidate) => candidate.path === path);
  if (!route) return undefined;
  const { kind } = route;
  switch (method) {
    case 'GET':
    case 'HEAD':
      return `to read ${kind.pluralLabel}, send the query { ${listField(kind)} { nodes { id name } } } to /graphql`;
    case 'PUT':
    case 'PATCH':
    case 'POST': {
      const update = routes.find((candidate) => candidate.kind === kind && candidate.operation === 'update');
      const how = update ? `${update.method} to ${update.template}` : `the mutation update${kind.plural} to /graphql`;
      return `to change ${kind.pluralLabel}, send ${how}`;
    }
    case 'DELETE':
      return `to delete ${kind.pluralLabel}, send the mutation delete${kind.plural} to /graphql`;
    default:
      return undefined;
  }
}
