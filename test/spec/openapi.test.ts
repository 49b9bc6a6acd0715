/** The OpenAPI document that the service sends, and its page. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { kinds } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

test('GET /openapi.json returns the document that test/rest checks', async () => {
  const { status, body } = await service.get('/openapi.json');

  expect(status).toBe(200);
  expect(body).toEqual(openApiDocument(loadConfig({}).limits));
  expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0']);
});

test.each(kinds)(
  'the document has every field of $kind.name, each described in whole phrases',
  async ({ kind, path }) => {
    const { body } = await service.get('/openapi.json');

    const { schema } = body.paths[path].post.requestBody.content['application/json'];
    const request = body.components.schemas[schema.items.$ref.split('/').at(-1)];
    const response = body.components.schemas[kind.name];
    expect(Object.keys(request.properties)).toEqual(Object.keys(kind.fields));
    expect(Object.keys(response.properties)).toEqual(Object.keys(kind.storedFields));
    const fields = [request, response].flatMap(({ properties }) => Object.values<{ description: string }>(properties));
    for (const { description } of fields) expect(description).toMatch(/^[A-Z].*\.$/);
  },
);

test.each(kinds)(
  'the required fields of $kind.name are those that a request must have and a response always has',
  async ({ kind, path, smallest }) => {
    const { components } = (await service.get('/openapi.json')).body;
    const [record] = await service.create(path, smallest);

    expect(components.schemas[`New${kind.name}`].required ?? []).toEqual(Object.keys(smallest));
    expect(components.schemas[kind.name].required.toSorted()).toEqual(Object.keys(record).toSorted());
  },
);

test('every field in the document lists its types separately, so that client generators find each of them, including null', async () => {
  const { components } = (await service.get('/openapi.json')).body;

  const isSupported = (type: unknown): boolean =>
    Array.isArray(type) ? !type.includes('object') : typeof type === 'string';
  for (const [kind, { properties }] of Object.entries<{ properties: object }>(components.schemas)) {
    for (const [field, { type, anyOf = [{ type }] }] of Object.entries(properties)) {
      for (const option of anyOf) expect(isSupported(option.type), `${kind}.${field}`).toBe(true);
    }
  }
  expect(components.schemas.NewAsset.properties.externalIds.anyOf).toContainEqual({ type: 'null' });
});

test('the document describes one way to send a key, so that the reference asks for it once', async () => {
  const { body } = await service.get('/openapi.json');

  expect(Object.values(body.components.securitySchemes)).toEqual([
    {
      type: 'http',
      scheme: 'bearer',
      description: expect.stringMatching(/`Authorization: KEY` and `X-API-Key: KEY`/),
    },
  ]);
  expect(body.security).toEqual([{ bearer: [] }, {}]);
});

test('the document is not sent again while it is unchanged', async () => {
  const { status, headers } = await service.get('/openapi.json');
  const again = await service.get('/openapi.json', { 'if-none-match': String(headers.etag) });

  expect([status, headers['content-type'], headers.vary]).toEqual([
    200,
    'application/json; charset=utf-8',
    'Accept-Encoding',
  ]);
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
});
