/** The registry of record kinds, in the interface's order. Each kind is declared in its own file. */
import { idPrefixOf } from '../model/ids.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { asset } from './asset.ts';
import { assetCategory } from './asset-category.ts';
import { location } from './location.ts';
import { project } from './project.ts';
import { transportOrder } from './transport-order.ts';
import { workOrder } from './work-order.ts';

export { asset, assetCategory, location, project, transportOrder, workOrder };

export const recordKinds: readonly RecordKind[] = [asset, workOrder, project, location, transportOrder, assetCategory];

const kindsByName = new Map(recordKinds.map((kind) => [kind.name, kind]));
const kindsByIdPrefix = new Map(recordKinds.map((kind) => [kind.idPrefix, kind]));

export function kindNamed(name: string): RecordKind {
  const kind = kindsByName.get(name);
  if (!kind) throw new Error(`unknown record kind ${name}`);
  return kind;
}

/** Returns the kind of a record ID; undefined for any other text, which is a foreign identifier. */
export function kindOfId(id: string): RecordKind | undefined {
  const prefix = idPrefixOf(id);
  return prefix === undefined ? undefined : kindsByIdPrefix.get(prefix);
}
