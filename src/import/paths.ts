/** The path `Yard / Shed` leads to the stored Shed whose parent is the Yard. */
import type { Yardgraph } from '../../client/index.ts';
import { listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { LinkCell } from './row.ts';

const separator = ' / ';
const maxLevels = 10;

const parentField = (kind: RecordKind): string | undefined =>
  linkFields(kind).find(([, , { target }]) => target === kind.name)?.[1];

/** False for an ID or a name. */
export function isPath({ by, target, value }: LinkCell): boolean {
  if (!value?.includes(separator) || !['any', 'name'].includes(by) || parentField(target) === undefined) return false;
  return value.split(separator).length <= maxLevels;
}

export const lastName = (path: string): string => path.slice(path.lastIndexOf(separator) + separator.length);

/** The IDs of the stored records with each path. Level by level, from the top. */
export async function findPaths(
  yardgraph: Yardgraph,
  kind: RecordKind,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map(paths.map((path): [string, string[]] => [path, []]));
  const levels = paths.map((path) => path.split(separator));
  const beginnings = new Set(
    levels.flatMap((names) => names.slice(1).map((_, at) => names.slice(0, at + 1).join(separator))),
  );
  let above: Map<string, string> | undefined;
  for (let level = 0; above?.size !== 0; level += 1) {
    const names = [...new Set(levels.flatMap((path) => path[level] ?? []))];
    const below = new Map<string, string>();
    for await (const { id, name, parent } of readPlaces(yardgraph, kind, names, above && [...above.keys()])) {
      const path = above ? `${above.get(parent)}${separator}${name}` : name;
      found.get(path)?.push(id);
      if (beginnings.has(path)) below.set(id, path);
    }
    above = below;
  }
  return found;
}

/** The records with these names, below these parents if set. */
async function* readPlaces(
  yardgraph: Yardgraph,
  kind: RecordKind,
  names: readonly string[],
  parents: readonly string[] | undefined,
) {
  const [list, field] = [listField(kind), parentField(kind) ?? ''];
  const query = `query ($where: ${kind.name}Filter, $after: String) {
    ${list}(after: $after, where: $where) { nodes { id name parent: ${field} } pageInfo { hasNextPage endCursor } }
  }`;
  for (const some of parents ? slices(parents) : [undefined]) {
    for (const called of slices(names)) {
      const where = { name: { in: called }, ...(some && { [field]: { in: some } }) };
      for (let page = { hasNextPage: true, endCursor: undefined }; page.hasNextPage; ) {
        const data = await yardgraph.graphql(query, { where, after: page.endCursor });
        yield* data[list].nodes as { id: string; name: string; parent: string }[];
        page = data[list].pageInfo;
      }
    }
  }
}

/** Half of the most texts in a filter. */
const sliceSize = 250;

function* slices(texts: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < texts.length; start += sliceSize) yield texts.slice(start, start + sliceSize);
}
