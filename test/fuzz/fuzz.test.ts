/**
 * Random requests, from valid ones to noise: none causes a 5xx, ends the service, or gets an error in another form than the documented
 * one; each response has its headers, and no error shows internals or repeats long texts. FUZZ_SEED repeats a run.
 */
import { expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import { recordKinds } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { printedSchema } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';
import { createDocuments, createGenerator } from '../support/random-documents.ts';
import { kinds, restKinds, unknownId } from '../support/records.ts';
import { startForTest } from '../support/service.ts';

const requests = byEffort(isPostgres ? { small: 300, long: 10_000 } : { small: 1_000, long: 100_000 });
const seed = Number(process.env.FUZZ_SEED ?? Date.now());
const random = createRandom(seed);
const { integer, chance } = random;
const pick = <T>(items: readonly T[]): T => random.pick(items) as T;
const some = <T>(max: number, make: () => T): T[] => Array.from({ length: integer(max + 1) }, make);

const usedIds: string[] = [...recordKinds.map(unknownId)];
const fieldNames = [...new Set(recordKinds.flatMap(({ storedFields }) => Object.keys(storedFields)))];

const character = () => pick([...'aZ0 "\\\'\n\0é\ud800𝄞{}[]:,$%\u202e']);
const text = (): string =>
  pick([
    () => some(12, character).join(''),
    () => pick(usedIds),
    () =>
      pick(['2026-03-01', '2026-03-01T07:30:00Z', '2026-02-30', '', 'null', "' or 1=1 --", '__proto__', '../../etc']),
    () => 'x'.repeat(integer(20_000)),
  ])();
const name = () =>
  chance(0.8) ? pick(fieldNames) : pick(['__proto__', 'constructor', 'nmae', '', text().slice(0, 300)]);

function value(depth = 0): unknown {
  const leaf = () => pick<unknown>([null, true, false, 0, -0, 1, -91, 1e308, 5e-324, 2 ** 53, text(), text(), text()]);
  if (depth > 3 || chance(0.6)) return leaf();
  return chance(0.5) ? some(4, () => value(depth + 1)) : Object.fromEntries(some(4, () => [name(), value(depth + 1)]));
}

/** Mostly a record that could be valid. */
function record(): unknown {
  if (chance(0.05)) return value();
  const { kind, smallest } = pick(kinds);
  const fields = some(4, () => [chance(0.8) ? pick(Object.keys(kind.fields)) : name(), chance(0.5) ? text() : value()]);
  return { ...smallest, ...Object.fromEntries(fields) };
}

/** A text with some of it changed, left out or doubled. */
function spoil(whole: string): string {
  if (chance(0.8)) return whole;
  const at = integer(whole.length + 1);
  const rest = whole.slice(at + integer(4));
  return whole.slice(0, at) + pick([character(), '', whole.slice(at, at + 20), '[[[[', '"'.repeat(3)]) + rest;
}

const ids = new Map(recordKinds.map((kind) => [kind.table, [unknownId(kind)]]));
const nextDocument = createDocuments(printedSchema, createGenerator(random, ids), () => pick(usedIds));

/** A document, and the variables that it needs. */
function document(): { query: string; variables?: object } {
  const literal = () => JSON.stringify(value()).replace(/"([a-zA-Z_]\w*)":/g, '$1:');
  const args = () =>
    `(${pick(['first', 'last', 'after', 'before', 'where', 'orderBy', 'nope'])}: ${pick([literal(), '$v', '5', '1e9', JSON.stringify(pick(usedIds))])})`;
  const list = () => `${listField(pick(recordKinds))}${args()} { totalCount nodes { ${name()} ...f } }`;
  return pick([
    nextDocument,
    nextDocument,
    () => ({ query: spoil(nextDocument().query) }),
    () => ({ query: `query ($v: ${pick(['Int', 'String', 'ID!', '[ID!]!', 'AssetFilter', 'Nope'])}) { ${list()} }` }),
    () => ({ query: `{ ${list()} } fragment f on ${pick(recordKinds).name} { id ${name()} ...f }` }),
    () => ({ query: 'mutation ($v: [CreateLocationInput!]!) { createLocations(input: $v) { id } }' }),
    () => ({ query: `mutation { createAssets(input: [${some(3, literal).join(', ')}]) { id } }` }),
    () => ({ query: `mutation { updateProject(id: ${JSON.stringify(pick(usedIds))}, input: ${literal()}) { id } }` }),
    () => ({ query: some(60, character).join('') }),
  ])();
}

const otherTypes = ['application/json; charset=utf-8', 'text/plain', 'multipart/form-data'];

const origin = 'https://app.example.com';

const headers = (): Record<string, string> => ({
  ...(chance(0.9) && { 'content-type': pick([...Array(12).fill('application/json'), ...otherTypes]) }),
  ...(chance(0.2) && {
    accept: pick(['*/*', 'application/problem+json', 'text/html', 'application/graphql-response+json', ';;q=']),
  }),
  ...(chance(0.3) && { origin }),
  ...(chance(0.1) && { prefer: pick(['handling=lenient', 'handling="lenient', ',;=', 'return=minimal']) }),
  ...(chance(0.05) && { 'if-none-match': pick(['*', '"x"', 'W/', '"']) }),
  ...(chance(0.05) && { 'x-request-id': pick(['ok-1', 'x'.repeat(500), '{"a":1}']) }),
});

const paths = [...restKinds.map(({ path }) => path), '/graphql', '/projects/x', '/nowhere', '/healthz'];

function request() {
  const common = headers();
  switch (integer(10)) {
    case 0:
      return {
        method: pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE' as 'GET'] as const),
        url: `${pick(paths)}${pick(['', '/', '?', '?a[b]=c', '%2e', '//', '?query=%7B', ';x=1'])}`,
        headers: common,
        payload: spoil(JSON.stringify(value()) ?? ''),
      };
    case 1:
      return {
        method: 'PATCH' as const,
        url: `/projects/${encodeURIComponent(text().toWellFormed().slice(0, 500))}`,
        headers: common,
        payload: spoil(JSON.stringify(record()) ?? ''),
      };
    case 2:
      return {
        method: 'GET' as const,
        url: `/graphql?query=${encodeURIComponent(document().query.toWellFormed())}${chance(0.3) ? `&variables=${encodeURIComponent(spoil('{"v":1}').toWellFormed())}` : ''}`,
        headers: common,
      };
    case 3:
    case 4:
    case 5:
      return {
        method: 'POST' as const,
        url: '/graphql',
        headers: common,
        payload: spoil(JSON.stringify({ ...(chance(0.4) && { variables: { v: value() } }), ...document() })),
      };
    default:
      return {
        method: 'POST' as const,
        url: pick(restKinds).path,
        headers: common,
        payload: spoil(JSON.stringify(chance(0.9) ? some(4, record) : value()) ?? ''),
      };
  }
}

test(`${requests} random requests get no 5xx, and every error has the documented form`, async () => {
  const service = await startForTest({ CORS_ORIGINS: origin, MAX_BODY_BYTES: '15000' }, { closed: true });
  const authorization = `Bearer ${await service.key()}`;
  const byStatus = new Map<number, number>();

  for (let count = 0; count < requests; count += 1) {
    const sent = request();
    const own: Record<string, string> = { ...sent.headers, ...(chance(0.98) && { authorization }) };
    const { statusCode, headers: received, body } = await service.app.inject({ ...sent, headers: own });
    byStatus.set(statusCode, (byStatus.get(statusCode) ?? 0) + 1);

    const details = () =>
      `request ${count} of seed ${seed}: ${JSON.stringify(sent).slice(0, 2_000)} -> ${statusCode} ${body.slice(0, 500)}`;
    if (statusCode >= 500) throw new Error(details());
    expect(received, details()).toMatchObject({
      'cache-control': expect.stringMatching(/no-cache|no-store/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(own.origin && {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': expect.stringContaining('retry-after'),
        vary: expect.stringContaining('Origin'),
      }),
    });
    for (const name of ['server', 'x-powered-by', ...(own.origin ? [] : ['access-control-allow-origin'])])
      expect(received, details()).not.toHaveProperty(name);
    const isError = statusCode >= 400 && sent.method !== 'OPTIONS';
    if (isError) expect(body, details()).not.toMatch(/\\n +at |insert into|where workspace_id|node_modules|\.ts:\d/i);
    const { data: _, ...error } = /\bjson\b/.test(String(received['content-type'])) && body ? JSON.parse(body) : {};
    if (!isError && !error.errors) continue;
    expect(JSON.stringify(error).includes('x'.repeat(101)), details()).toBe(false);
    if (!isError) continue;
    const isGraphql = /^\/graphql(?:$|\?)/.test(sent.url);
    if (isGraphql && 'errors' in error && !('error' in error)) {
      expect(error.errors.length, details()).toBeGreaterThan(0);
    } else if (String(received['content-type']).startsWith('application/problem+json')) {
      expect(error, details()).toMatchObject({ type: 'about:blank', status: statusCode, detail: expect.any(String) });
    } else if (String(received['content-type']).startsWith('text/html')) {
      // A browser at an address without a route.
      expect([statusCode, sent.method, own.accept], details()).toEqual([
        404,
        'GET',
        expect.stringContaining('text/html'),
      ]);
    } else expect(error, details()).toEqual({ error: expect.any(String), code: String(statusCode) });
  }

  // Some are valid, and most kinds of errors have come up.
  expect(byStatus.get(201)).toBeGreaterThan(requests / 100);
  expect(byStatus.size).toBeGreaterThan(6);
}, 1_800_000);
