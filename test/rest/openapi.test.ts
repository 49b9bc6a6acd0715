/** The OpenAPI document: what it describes, no problems that the usual linters report, and texts that people can read in the reference. */
import { Socket } from 'node:net';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { kinds } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const source = JSON.stringify(openApiDocument(loadConfig({}).limits));
const document = JSON.parse(source);

const operations: Record<string, unknown>[] = Object.values<object>(document.paths).flatMap((path) =>
  Object.values(path),
);

test("Redocly's recommended rules find no problem, and send no request", async () => {
  const connect = vi.spyOn(Socket.prototype, 'connect');
  const config = await createConfig({ extends: ['recommended'] });

  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });

  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  expect(connect).not.toHaveBeenCalled();
  connect.mockRestore();
});

// The rules of Spectral (spectral:oas) that earlier versions of the document broke. Spectral itself reports its installations.
test.each(operations)('$operationId has a description, and so has each of its parameters', (operation) => {
  const { description, parameters } = operation as { description: string; parameters: { $ref?: string }[] };
  const resolved = parameters.map((parameter) =>
    parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] : parameter,
  );

  expect(description).toMatch(/^[A-Z].*\.$/s);
  for (const parameter of resolved) expect(parameter.description).toMatch(/\w/);
});

test.each(kinds)('the document has every field of $kind.name, each described in whole phrases', ({ kind, path }) => {
  const { schema } = document.paths[path].post.requestBody.content['application/json'];
  const request = document.components.schemas[schema.items.$ref.split('/').at(-1)];
  const response = document.components.schemas[kind.name];
  expect(Object.keys(request.properties)).toEqual(Object.keys(kind.fields));
  expect(Object.keys(response.properties)).toEqual(Object.keys(kind.storedFields));
  const fields = [request, response].flatMap(({ properties }) => Object.values<{ description: string }>(properties));
  for (const { description } of fields) expect(description).toMatch(/^[A-Z].*\.$/);
});

test.each(kinds)(
  'the required fields of $kind.name are those that a request must have and a response always has',
  async ({ kind, path, smallest }) => {
    const [record] = await service.create(path, smallest);

    expect(document.components.schemas[`New${kind.name}`].required ?? []).toEqual(Object.keys(smallest));
    expect(document.components.schemas[kind.name].required.toSorted()).toEqual(Object.keys(record).toSorted());
  },
);

test('every field in the document lists its types separately, so that client generators find each of them, including null', () => {
  const isSupported = (type: unknown): boolean =>
    Array.isArray(type) ? !type.includes('object') : typeof type === 'string';
  for (const [kind, { properties }] of Object.entries<{ properties: object }>(document.components.schemas)) {
    for (const [field, { type, anyOf = [{ type }] }] of Object.entries(properties)) {
      for (const option of anyOf) expect(isSupported(option.type), `${kind}.${field}`).toBe(true);
    }
  }
  expect(document.components.schemas.NewAsset.properties.externalIds.anyOf).toContainEqual({ type: 'null' });
});

test('the document says which lists are of one moment, and how many exports a workspace can have', () => {
  const { description: list } = document.paths['/asset-categories'].get;
  const { description: exported, responses } = document.paths['/export/{file}'].get;

  expect(list).toContain(
    'Up to 1,000 and a million characters are of one moment; longer lists are read while they are sent.',
  );
  expect(exported).toContain('A workspace can have two exports at a time: a third gets 429.');
  expect(Object.keys(responses)).toContain('429');
});

test('the server of the document is where the document itself is, also below the path of a proxy', () => {
  const [{ url }] = document.servers;
  // As generators join them: the URL of the server, and the path of an operation.
  for (const base of ['https://example.com/', 'https://example.com/yard/'])
    expect(new URL(`${url}/assets`, `${base}openapi.json`).href).toBe(`${base}assets`);
});

test('GET /openapi.json returns the document, and not again while it is unchanged', async () => {
  const { status, headers, body } = await service.get('/openapi.json');
  const again = await service.get('/openapi.json', { 'if-none-match': String(headers.etag) });

  expect([status, headers['content-type'], headers.vary]).toEqual([
    200,
    'application/json; charset=utf-8',
    'Accept-Encoding',
  ]);
  expect(body).toEqual(document);
  expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0']);
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
});
