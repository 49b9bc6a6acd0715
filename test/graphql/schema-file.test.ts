/** schema.graphql is printed from the code; `npm run schema` updates it. */
import {
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parseValue,
  printSchema,
  valueFromAST,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { keyType } from '../../src/graphql/schema/write/input-type.ts';
import { required, text } from '../../src/model/fields.ts';
import { recordKind } from '../../src/model/record-kind.ts';

test('schema.graphql is up to date', async () => {
  await expect(`${printSchema(schema)}\n`).toMatchFileSnapshot('../../schema.graphql');
});

type Described = readonly [name: string, description: string | null | undefined];

/** The description of every type, value, field and argument, by its name. */
const descriptions = Object.values(schema.getTypeMap()).flatMap((type): Described[] => {
  if (isIntrospectionType(type) || isSpecifiedScalarType(type)) return [];
  const own: Described[] = [[type.name, type.description]];
  if (isEnumType(type))
    return [...own, ...type.getValues().map((value): Described => [`${type.name}.${value.name}`, value.description])];
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return own;
  const fields = Object.values(type.getFields()).flatMap((field): Described[] => [
    [`${type.name}.${field.name}`, field.description],
    ...('args' in field
      ? field.args.map(
          (arg: GraphQLArgument): Described => [`${type.name}.${field.name}(${arg.name})`, arg.description],
        )
      : []),
  ]);
  return [...own, ...fields];
});

test('every type, field and argument has a description in whole phrases, with a capital and a full stop', () => {
  expect(descriptions.filter(([, description]) => !/^[A-Z].*\.$/s.test(description ?? ''))).toEqual([]);
  expect(descriptions.length).toBeGreaterThan(200);
});

/** The input types of the mutations' arguments, and those inside of them. */
function inputsOfMutations(): Set<GraphQLInputObjectType> {
  const found = new Set<GraphQLInputObjectType>();
  const add = (type: GraphQLType): void => {
    const named = getNamedType(type);
    if (!isInputObjectType(named) || found.has(named)) return;
    found.add(named);
    for (const field of Object.values(named.getFields())) add(field.type);
  };
  for (const { args } of Object.values(schema.getMutationType()?.getFields() ?? {}))
    for (const { type } of args) add(type);
  return found;
}

test('every input of a mutation has an example in its description that the type accepts', () => {
  const inputs = [...inputsOfMutations()];

  const examples = inputs.map((type) => [type, /: `([{].*?[}])`/.exec(type.description ?? '')?.[1]] as const);

  const invalid = examples.filter(([type, text]) => !text || valueFromAST(parseValue(text), type) === undefined);
  expect(invalid.map(([{ name }, text]) => `${name}: ${text}`)).toEqual([]);
  expect(inputs.length).toBeGreaterThan(20);
});

test('an upsert of a kind that has no key is refused', () => {
  const crate = recordKind({
    name: 'Crate',
    plural: 'Crates',
    label: 'crate',
    pluralLabel: 'crates',
    description: 'A box for tools or parts.',
    table: 'crates',
    idPrefix: 'crate',
    fields: { name: required(text('The name of the crate.')) },
    example: { name: 'Shackles' },
    stamps: [],
    unset: 'omitted',
  });

  expect(() => keyType(crate)).toThrow('crates have no key: declare');
});

test('every type of the schema can be reached from an operation', () => {
  const reached = new Set<string>();
  const visit = (type: GraphQLType): void => {
    const named = getNamedType(type);
    if (reached.has(named.name)) return;
    reached.add(named.name);
    if (isInterfaceType(named)) for (const each of schema.getPossibleTypes(named)) visit(each);
    if (!isObjectType(named) && !isInterfaceType(named) && !isInputObjectType(named)) return;
    for (const field of Object.values(named.getFields())) {
      visit(field.type);
      if ('args' in field) for (const { type: arg } of field.args) visit(arg);
    }
  };
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
    if (root) visit(root);

  const types = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
  expect(types.filter((name) => !reached.has(name))).toEqual([]);
});
