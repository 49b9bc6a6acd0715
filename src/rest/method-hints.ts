/** Hints for 405 responses: what the client probably wants to do. Decides nothing. */
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { routes } from './routes.ts';

/** Returns `to read assets, send the query { assets { nodes { id name } } } to /graphql`; undefined for other methods and paths. */
export function methodHint(method: string, path: string): string | undefined {
  const route = routes.find((candidate) => candidate.path === path);
  if (!route) return undefined;
  const { kind } = route;
  const update = routes.find((candidate) => candidate.kind === kind && candidate.operation === 'update');
  switch (method) {
    case 'GET':
    case 'HEAD':
      return `to read ${kind.pluralLabel}, send the query ${exampleQuery(kind)} to /graphql`;
    case 'PUT':
    case 'PATCH':
    case 'POST':
      if (!update) return `to change ${kind.pluralLabel}, send the mutation update${kind.plural} to /graphql`;
      return `to change ${kind.pluralLabel}, send ${update.method} to ${update.template}`;
    case 'DELETE':
      return `to delete ${kind.pluralLabel}, send the mutation delete${kind.plural} to /graphql`;
    default:
      return undefined;
  }
}

/** Returns a query for the records of a kind. Every kind has the field `name`. */
const exampleQuery = (kind: RecordKind): string => `{ ${listField(kind)} { nodes { id name } } }`;
