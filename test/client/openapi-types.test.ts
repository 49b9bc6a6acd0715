/** The client's types are generated from the OpenAPI document; `npm run schema` regenerates them. */
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';

const header = `/** Types of requests, responses and errors. Generated from the OpenAPI document by \`npm run schema\`; do not edit. */\n`;

const options = {
  bannerComment: '',
  additionalProperties: false,
  style: { singleQuote: true, printWidth: 120 },
};

test('client/openapi.ts is up to date', async () => {
  const { components } = openApiDocument(loadConfig({}).limits) as {
    components: { schemas: Record<string, JSONSchema> };
  };
  const types: string[] = [];
  for (const [name, schema] of Object.entries(components.schemas)) {
    const type = await compile(schema, name, options);
    types.push(type.replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */'));
  }

  await expect([header, ...types].join('\n')).toMatchFileSnapshot('../../client/openapi.ts');
});
