/** The OpenAPI document: no problems that the usual linters report, and texts that people can read in the reference. */
import { Socket } from 'node:net';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { capitalized } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { routes } from '../../src/rest/routes.ts';

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

test('every operation has one tag, which is described, in the words of people', () => {
  const tags: { name: string; description: string }[] = document.tags;

  expect(tags.map(({ name }) => name)).toEqual([
    ...['Assets', 'Work orders', 'Projects', 'Locations', 'Transport orders', 'Asset categories'],
    ...recordKinds.slice(6).map(({ pluralLabel }) => capitalized(pluralLabel)),
    'Export',
  ]);
  for (const { description } of tags) expect(description).toMatch(/\w/);
  const used = operations.map(({ tags }) => tags);
  expect(used).toEqual(used.map(() => [expect.toSatisfy((name) => tags.some((tag) => tag.name === name))]));
});

test('labels have the right article', () => {
  const words = recordKinds.map(({ label }) => label.split(' ')[0]).join('|');
  const articles = [...source.matchAll(new RegExp(`\\b(an?) (?:${words})\\b`, 'gi'))].map(([text]) => text);

  expect(articles.length).toBeGreaterThan(0);
  expect(articles.filter((text) => /^a [aeiou]|^an [^aeiou]/i.test(text))).toEqual([]);
});

test('every write documents the limit on all texts of a record together', () => {
  const { paths } = JSON.parse(JSON.stringify(openApiDocument(loadConfig({ MAX_RECORD_LENGTH: '123456' }).limits)));

  const writes = Object.values<object>(paths).flatMap((path) =>
    Object.values(path).filter(({ requestBody }) => requestBody !== undefined),
  );
  expect(writes).toHaveLength(routes.filter(({ operation }) => operation !== 'list').length);
  for (const { requestBody } of writes) expect(requestBody.description).toContain('123,456 characters in all texts');
});
