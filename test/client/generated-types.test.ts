/** The client's types are generated from the schema and from the OpenAPI document; `npm run schema` regenerates them. */
import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { listField } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { routes } from '../../src/rest/routes.ts';

const header = `/** Types of GraphQL inputs and results, and the fields to select. Generated from the schema by \`npm run schema\`; do not edit. */
import type {
${recordKinds
  .flatMap(({ name }) => [name, `New${name}`])
  .toSorted()
  .map((name) => `  ${name},`)
  .join('\n')}
} from './openapi.ts';
`;

const scalars: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  DateTime: 'string',
  ExternalIds: '{ [system: string]: string }',
  FieldValue: 'string | number | boolean | { [system: string]: string }',
  Float: 'number',
  ID: 'string',
  Int: 'number',
  String: 'string',
};

/** The results that the client reads, apart from records, whose types come from the OpenAPI document. */
const results = [
  'ChangePage',
  'Change',
  'FieldChange',
  'ItemIssue',
  'RejectedItem',
  'RevertedChanges',
  'ChangeNotReversed',
];

/** The types of the OpenAPI document that inputs extend, and the fields that these have, by the names of the inputs. */
const bases = new Map(
  recordKinds.flatMap(({ name, fields }) => [
    [`Create${name}Input`, { base: `New${name}`, fields }],
    [`${name}Patch`, { base: `Partial<New${name}>`, fields }],
    [`Upsert${name}Input`, { base: `Partial<New${name}>`, fields }],
  ]),
);

test('client/graphql-types.ts is up to date', async () => {
  const declared = [...inputsOfWrites()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(declaration);
  const read = results.map((name) => resultType(name));
  const text = [header, ...declared, ...read, recordTypes(), listTypes(), selections()].join('\n');
  await expect(text).toMatchFileSnapshot('../../client/graphql-types.ts');
});

/** The types of the arguments of the operations that the client has, and of the enums that it returns. */
function inputsOfWrites(): Set<GraphQLNamedType> {
  const found = new Set<GraphQLNamedType>();
  const add = (type: GraphQLType): void => {
    const named = getNamedType(type);
    if (found.has(named) || named.name in scalars) return;
    found.add(named);
    if (isInputObjectType(named)) for (const field of Object.values(named.getFields())) add(field.type);
  };
  for (const { name, args } of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    if (/^(?:update\w+s|upsert\w+|delete\w+|importRecords)$/.test(name)) for (const { type } of args) add(type);
  }
  for (const name of ['UpsertOutcome', 'RecordKind', 'ChangeAction', 'RevertOutcome']) add(typeNamed(name));
  return found;
}

function typeNamed(name: string): GraphQLNamedType {
  const type = schema.getType(name);
  if (!type) throw new Error(`the schema has no type ${name}`);
  return type;
}

function declaration(type: GraphQLNamedType): string {
  if (isEnumType(type)) {
    const values = type.getValues().map((value) => `'${value.name}'`);
    return `${comment(type)}${either(`export type ${type.name} =`, values)};\n`;
  }
  if (!isInputObjectType(type)) throw new Error(`${type.name} is not an input`);
  if (type.isOneOf) return `${comment(type)}${either(`export type ${type.name} =`, alternatives(type))};\n`;
  const inherited = bases.get(type.name);
  const own = Object.values(type.getFields()).filter(
    ({ name }) => !inherited || !Object.hasOwn(inherited.fields, name),
  );
  const head = `${comment(type)}export interface ${type.name}${inherited ? ` extends ${inherited.base}` : ''}`;
  const isLink = type.name.endsWith('RecordLink');
  return own.length === 0 ? `${head} {}\n` : `${head} {\n${own.map((field) => member(field, isLink)).join('')}}\n`;
}

/** One of the fields, without the others. */
function alternatives(type: GraphQLInputObjectType): string[] {
  const fields = Object.values(type.getFields());
  return fields.map((field) => {
    const others = fields.filter((other) => other !== field).map(({ name }) => `; ${name}?: never`);
    return `{ ${field.name}: ${typescript(field.type)}${others.join('')} }`;
  });
}

function resultType(name: string): string {
  const type = typeNamed(name);
  if (!isObjectType(type)) throw new Error(`${name} is not an object type`);
  const members = Object.values(type.getFields()).filter(isSelected);
  const lines = members.map((field) => {
    const nullable = isNonNullType(field.type) ? '' : ' | null';
    return `${comment(field, '  ')}  ${field.name}: ${resultOf(field.type)}${nullable};\n`;
  });
  return `${comment(type)}export interface ${name} {\n${lines.join('')}}\n`;
}

/** Not the record of a change: its fields differ from kind to kind. */
/** Services of 0.3 do not have `erased`. */
const isSelected = ({ name, type }: { readonly name: string; readonly type: GraphQLType }): boolean => {
  const named = getNamedType(type);
  if (name === 'erased') return false;
  return isLeafType(named) || results.includes(named.name) || isForeign(named);
};

/** Of what is kept in another system, the client reads the ID. */
const isForeign = ({ name }: GraphQLNamedType): boolean => name in foreignTypes;

const resultOf = (type: GraphQLType): string => {
  const named = getNamedType(type);
  return isLeafType(named) || !isForeign(named) ? typescript(type) : '{ id: string }';
};

const selectionOf = (type: GraphQLNamedType): string =>
  isObjectType(type)
    ? Object.values(type.getFields())
        .filter(isSelected)
        .map(({ name, type: inner }) => {
          const named = getNamedType(inner);
          if (isLeafType(named)) return name;
          return `${name} { ${isForeign(named) ? 'id' : selectionOf(named)} }`;
        })
        .join(' ')
    : '';

const member = ({ name, type, description }: GraphQLInputField, isLink: boolean) => {
  // Of the same scalar as what a record has, which has no nulls.
  const hasNulls = name === 'mergeExternalIds' || (isLink && name === 'externalIds');
  const declared = hasNulls ? '{ [system: string]: string | null }' : typescript(type);
  const optional = !isNonNullType(type);
  return `${comment({ description }, '  ')}  ${name}${optional ? '?' : ''}: ${declared}${optional ? ' | null' : ''};\n`;
};

function typescript(type: GraphQLType): string {
  if (isNonNullType(type)) return typescript(type.ofType);
  if (isListType(type)) return `readonly ${typescript(type.ofType)}[]`;
  const { name } = getNamedType(type);
  return scalars[name] ?? name;
}

/** As Biome formats it. */
const either = (start: string, alternatives: readonly string[]): string => {
  const line = `${start} ${alternatives.join(' | ')}`;
  return line.length < 120 ? line : `${start}\n  | ${alternatives.join('\n  | ')}`;
};

const comment = ({ description }: { description?: string | null | undefined }, indentation = ''): string =>
  description ? `${indentation}/** ${description.replaceAll('\n', `\n${indentation} * `)} */\n` : '';

/** For each kind, the types of what is sent and returned. A kind without a key has no upsert. */
function recordTypes(): string {
  const orNever = (name: string) => (schema.getType(name) ? name : 'never');
  const lines = recordKinds.map(
    ({ name }) =>
      `  ${name}: {\n    stored: ${name};\n    new: New${name};\n    patch: ${name}Patch;\n    upsert: ${orNever(`Upsert${name}Input`)};\n    key: ${orNever(`${name}Key`)};\n  };\n`,
  );
  return `/** The types of each kind. */\nexport interface RecordTypes {\n${lines.join('')}}\n`;
}

/** The lists of an import, by their names. */
function listTypes(): string {
  const lines = recordKinds.map((kind) => `  ${listField(kind)}: ${kind.name}[];\n`);
  return `/** The imported records of each kind, in the order sent. */\nexport interface ImportedRecords {\n${lines.join('')}}\n`;
}

function selections(): string {
  const kinds = recordKinds.map((kind) => {
    const type = typeNamed(kind.name);
    const isLeaf = (field: string) => isObjectType(type) && isLeafType(getNamedType(type.getFields()[field]?.type));
    const selected = Object.keys(kind.storedFields).map((field) => (isLeaf(field) ? field : `${field} { id }`));
    const path = routes.find((route) => route.operation === 'create' && route.kind === kind)?.path;
    const nullable = Object.entries(kind.storedFields).flatMap(([name, field]) =>
      field.required || kind.omittedFields.includes(name) ? [] : [name],
    );
    const printed = (names: readonly string[]) => `${names.length < 10 ? ' ' : '\n      '}'${names.join(' ')}'`;
    return `  ${kind.name}: {\n    plural: '${kind.plural}',\n    list: '${listField(kind)}',\n    path: ${path ? `'${path}'` : 'null'},\n    nullable:${printed(nullable)},\n    fields:${printed(selected)},\n  },\n`;
  });
  return `/** The names of each kind, its fields, the path to create its records over REST, and the fields that REST returns as null while they are unset. */
export const kinds = {\n${kinds.join('')}} as const;

/** The fields of a page of changes. */
export const changePageFields =\n  '${selectionOf(typeNamed('ChangePage'))}';

/** The fields of what becomes of changes that are reversed. */
export const revertedChangesFields = '${selectionOf(typeNamed('RevertedChanges'))}';
`;
}

const openApiHeader = `/** Types of requests, responses and errors. Generated from the OpenAPI document by \`npm run schema\`; do not edit. */\n`;

const options = {
  bannerComment: '',
  additionalProperties: false,
  style: { singleQuote: true, printWidth: 120 },
};

test('client/openapi.ts is up to date', async () => {
  const { components } = openApiDocument(loadConfig({}).limits, recordKinds) as {
    components: { schemas: Record<string, JSONSchema> };
  };
  const types: string[] = [];
  for (const [name, schema] of Object.entries(components.schemas)) {
    const type = await compile(schema, name, options);
    types.push(type.replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */'));
  }

  await expect([openApiHeader, ...types].join('\n')).toMatchFileSnapshot('../../client/openapi.ts');
});
