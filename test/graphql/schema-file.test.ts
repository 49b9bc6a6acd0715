/** schema.graphql is printed from the code; `npm run schema` updates it. */
import {
  type GraphQLArgument,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createGraphqlSchema } from '../../src/graphql/schema/schema.ts';

const schema = createGraphqlSchema(loadConfig({}).limits);

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

test('descriptions call records what people call them: work orders, not work order records', () => {
  expect(
    descriptions.filter(([, description]) =>
      /(?:asset|order|project|location|category) records?\b/.test(description ?? ''),
    ),
  ).toEqual([]);
});
