/**
 * The path `Yard / Shed` leads to the Shed whose parent is the Yard. It is found among stored records: rows share no
 * part with rows that have a name of their paths.
 */
import type { Yardgraph } from '../../client/index.ts';

import { listField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { LinkCell } from './row.ts';

const separator = ' / ';
const maxLevels = 10;

const parentLink = (kind: RecordKind): string | undefined =>
  linkFields(kind).find(([, , { target }]) => target === kind.name)?.[0];

/** The names of a path from its top, none for another cell. */
export function pathNames({ by, target, value }: LinkCell): readonly string[] {
  const names = value?.split(separator) ?? [];
  const isPath = names.length > 1 && names.length <= maxLevels && ['any', 'name'].includes(by);
  return isPath && parentLink(target) !== undefined ? names : [];
}

/** The most texts in a filter. */
const maxListed = 500;

/** Returns the IDs of the stored records with each path, by path. */
export async function findPaths(
  yardgraph: Yardgraph,
  kind: RecordKind,
  paths: Iterable<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map([...paths].map((path): [string, string[]] => [path, []]));
  for (let levels = 2; levels <= maxLevels; levels += 1) {
    const searched = [...found.keys()].map((path) => path.split(separator)).filter(({ length }) => length === levels);
    const number = Math.floor(maxListed / levels);
    for (let start = 0; start < searched.length; start += number) {
      for await (const { id, path } of readPaths(yardgraph, kind, searched.slice(start, start + number))) {
        found.get(path)?.push(id);
      }
    }
  }
  return found;
}

/** Reads the records whose names and whose parents' names are in the columns of `paths`, which are of one length. */
async function* readPaths(yardgraph: Yardgraph, kind: RecordKind, paths: readonly (readonly string[])[]) {
  const list = listField(kind);
  const parent = parentLink(kind) ?? '';
  const levels = paths[0]?.map((_, level) => [...new Set(paths.map((names) => names[level]))]) ?? [];
  let where: object | undefined;
  for (const names of levels) where = { name: { in: names }, ...(where && { [parent]: where }) };
  const names = levels.reduce((above) => `name ${above && `${parent} { ${above} }`}`, '');
  const query = `query ($where: ${kind.name}Filter, $after: String) {
    ${list}(after: $after, where: $where) { nodes { id ${names} } pageInfo { hasNextPage endCursor } }
  }`;
  for (let page = { hasNextPage: true, endCursor: undefined }; page.hasNextPage; ) {
    const data = await yardgraph.graphql(query, { where, after: page.endCursor });
    for (const { id, ...record } of data[list].nodes) {
      const path: string[] = [];
      for (let above = record; above; above = above[parent]) path.unshift(above.name);
      yield { id: String(id), path: path.join(separator) };
    }
    page = data[list].pageInfo;
  }
}
