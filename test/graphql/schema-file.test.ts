/** schema.graphql is printed from the code; `npm run schema` updates it. */
import {
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

test('every type, field and argument has a description', () => {
  const undescribed: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    if (!type.description) undescribed.push(type.name);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!field.description) undescribed.push(`${type.name}.${field.name}`);
      for (const arg of 'args' in field ? field.args : []) {
        if (!arg.description) undescribed.push(`${type.name}.${field.name}(${arg.name})`);
      }
    }
  }

  expect(undescribed).toEqual([]);
});
