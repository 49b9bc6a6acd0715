/** The path `Yard / Shed` leads to the stored Shed whose parent is the Yard. */
import type { Yardgraph } from '../../client/index.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { readNodes, slices } from './requests.ts';
import type { LinkCell } from './row.ts';

const separator = ' / ';
const maxLevels = 10;

const parentField = (kind: RecordKind): string | undefined =>
  linkFields(kind).find(([, , { target }]) => target === kind.name)?.[1];

/** False for an ID or a name. */
export function isPath({ by, target, value }: LinkCell): boolean {
  if (!value?.includes(separator) || !['any', 'name'].includes(by) || parentField(target) === undefined) return false;
  return namesOfPath(value).length <= maxLevels;
}

export const namesOfPath = (path: string): readonly string[] => path.split(separator);

/** The IDs of the stored records with each path. Level by level, from the top. */
export async function findPaths(yardgraph: Yardgraph, kind: RecordKind, paths: readonly string[]) {
  const found = new Map(paths.map((path): [string, string[]] => [path, []]));
  const levels = paths.map(namesOfPath);
  const beginnings = new Set(
    levels.flatMap((names) => names.slice(1).map((_, at) => names.slice(0, at + 1).join(separator))),
  );
  let above: Map<string, string> | undefined;
  for (let level = 0; above?.size !== 0; level += 1) {
    const names = [...new Set(levels.flatMap((path) => path[level] ?? []))];
    const below = new Map<string, string>();
    const places = readPlaces(yardgraph, kind, names, above && [...above.keys()]);
    for await (const { id = '', name = '', parent = '' } of places) {
      const path = above ? `${above.get(parent)}${separator}${name}` : name;
      found.get(path)?.push(id);
      if (beginnings.has(path)) below.set(id, path);
    }
    above = below;
  }
  return found;
}

/** Half of the most texts in a filter. */
const sliceSize = 250;

/** The records with these names, below these parents if set. */
async function* readPlaces(
  yardgraph: Yardgraph,
  kind: RecordKind,
  names: readonly string[],
  parents: readonly string[] | undefined,
) {
  const field = parentField(kind) ?? '';
  for (const some of parents ? slices(parents, sliceSize) : [undefined]) {
    for (const called of slices(names, sliceSize)) {
      const where = { name: { in: called }, ...(some && { [field]: { in: some } }) };
      yield* readNodes(yardgraph, kind, `id name parent: ${field}`, where);
    }
  }
}
