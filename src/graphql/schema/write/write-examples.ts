/** Examples of writes, for the descriptions of mutations and of their inputs. */

import { constantCase } from '../../../model/labels.ts';
import { matchableFields, type RecordKind } from '../../../model/record-kind.ts';

/** Returns every field of the kind's example. */
export const exampleFields = ({ example }: RecordKind): string => code(literal(example));

/** `{ name: "Crane" }` */
export const exampleChange = (kind: RecordKind): string => code(literal(changeOf(kind)));

/** `{ id: "asset_…", name: "Crane" }` */
export const examplePatch = (kind: RecordKind): string => code(literal(patchOf(kind)));

/** Returns `createAssets(input: [{ name: "Crane" }]) { id }` */
export const exampleCreate = (kind: RecordKind): string =>
  mutation(`create${kind.plural}`, { input: [changeOf(kind)] });

export const exampleUpdate = (kind: RecordKind): string => mutation(`update${kind.plural}`, { input: [patchOf(kind)] });

export const exampleUpdateOne = (kind: RecordKind): string =>
  mutation(`update${kind.name}`, { id: exampleId(kind), input: changeOf(kind) });

/** `{ externalId: "erp" }`, or `{ field: REFERENCE }` for a kind without external IDs. */
export const exampleKey = (kind: RecordKind): string => code(keyOf(kind));

/** Returns `upsertAssets(by: { externalId: "erp" }, input: [{ externalIds: { erp: "4711" }, name: "Crane" }]) { outcome }` */
export function exampleUpsert(kind: RecordKind): string {
  const { fields, example } = kind;
  const [field = ''] = matchableFields(kind);
  const item = fields.externalIds
    ? { externalIds: { erp: '4711' }, ...changeOf(kind) }
    : { [field]: (example as Readonly<Record<string, unknown>>)[field], ...changeOf(kind) };
  return code(`upsert${kind.plural}(by: ${keyOf(kind)}, input: ${literal([item])}) { outcome }`);
}

const keyOf = (kind: RecordKind): string =>
  kind.fields.externalIds ? '{ externalId: "erp" }' : `{ field: ${constantCase(matchableFields(kind)[0] ?? '')} }`;

/** Returns a link to a record of the kind: by an external ID, or by a `ref` if it has none. */
export const exampleLink = ({ fields }: RecordKind): string =>
  code(literal(fields.externalIds ? { externalId: { key: 'erp', value: '4711' } } : { ref: 'parent' }));

const imported = literal({
  locations: [{ ref: 'yard', name: 'North yard' }],
  projects: [{ name: 'Harbour wall', location: { ref: 'yard' } }],
});

export const exampleImportInput = code(imported);

export const exampleImport = code(`importRecords(input: ${imported}) { projects { id } }`);

export const exampleDelete = (kind: RecordKind): string => mutation(`delete${kind.plural}`, { ids: [exampleId(kind)] });

const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_…`;

const changeOf = ({ example }: RecordKind) => ({ name: example.name });

const patchOf = (kind: RecordKind) => ({ id: exampleId(kind), ...changeOf(kind) });

const mutation = (name: string, args: object): string => code(`${name}(${entries(args)}) { id }`);

function code(text: string): string {
  return `\`${text}\``;
}

function entries(object: object): string {
  return Object.entries(object)
    .map(([name, value]) => `${name}: ${literal(value)}`)
    .join(', ');
}

/** Returns a value as GraphQL writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return typeof value === 'object' && value !== null ? `{ ${entries(value)} }` : JSON.stringify(value);
}
