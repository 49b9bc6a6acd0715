/** The texts of the OpenAPI document, which people read in the reference. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { recordKinds } from '../../src/records/index.ts';
import { openApiDocument } from '../../src/rest/openapi/document.ts';
import { routes } from '../../src/rest/routes.ts';

const textOf = (settings: Record<string, string> = {}) => JSON.stringify(openApiDocument(loadConfig(settings).limits));

test('labels have the right article', () => {
  const words = recordKinds.map(({ label }) => label.split(' ')[0]).join('|');
  const articles = [...textOf().matchAll(new RegExp(`\\b(an?) (?:${words})\\b`, 'gi'))].map(([text]) => text);

  expect(articles.length).toBeGreaterThan(0);
  expect(articles.filter((text) => /^a [aeiou]|^an [^aeiou]/i.test(text))).toEqual([]);
});

test('every write documents the limit on all texts of a record together', () => {
  const { paths } = JSON.parse(textOf({ MAX_RECORD_LENGTH: '123456' }));

  const writes = Object.values<object>(paths).flatMap((path) =>
    Object.values(path).filter(({ requestBody }) => requestBody !== undefined),
  );
  expect(writes).toHaveLength(routes.filter(({ operation }) => operation !== 'list').length);
  for (const { requestBody } of writes) expect(requestBody.description).toContain('123,456 characters in all texts');
});

test('the example of an ID has the prefix of its kind', () => {
  const { schemas } = JSON.parse(textOf()).components;

  for (const { name, idPrefix } of recordKinds) {
    expect(schemas[name].properties.id.examples).toEqual([expect.stringMatching(`^${idPrefix}_[0-9a-z]{26}$`)]);
  }
});
