/** schema.graphql is printed from the code; `npm run schema` updates it. */
import {
  type GraphQLArgument,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';

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
