/**
 * Random documents return on both databases what a plain model returns, and nothing of another workspace: by graphql-js the first time, by
 * graphql-jit the second time, and from the cache the third time.
 */
import { expect, test } from 'vitest';
import { maxErrors } from '../../src/graphql/errors.ts';
import type { CreateOf, RecordKind } from '../../src/model/record-kind.ts';
import { location, recordKinds } from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { createModel, type PlainRecord, printedSchema, type SentFilter } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';
import { createDocuments, createGenerator, texts } from '../support/random-documents.ts';
import { startForTest } from '../support/service.ts';

const worlds = byEffort({ small: 2, long: 80 });
const documentsPerWorld = byEffort({ small: isPostgres ? 45 : 70, long: 250 });

const unlimited = {
  MAX_QUERY_DEPTH: '200',
  MAX_QUERY_COST: '1000000000',
  MAX_QUERY_ALIASES: '10000',
  MAX_QUERY_TOKENS: '100000',
  MAX_QUERY_LENGTH: '1000000',
  MAX_NESTING: '200',
};

/** Records that may be so long reserve more than a response may have, so that the database measures each page. */
const measured = { MAX_RECORD_LENGTH: '100000000' };

/** A service with our workspace, and another one with records like ours that share references with them. */
async function createWorld(seed: number) {
  const random = createRandom(seed);
  const [ids, ours] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const { table } of recordKinds) for (const map of [ids, ours]) map.set(table, []);
  const generator = createGenerator(random, ids, ours);
  const world: [RecordKind, PlainRecord][] = [];
  const service = await startForTest({ ...unlimited, ...(seed % 2 === 0 && measured) }, { closed: true });
  const workspace = `ours-${seed}`;
  const { graphql } = service.as(await service.key({ workspace, user: 'x' }));
  const openStore = storeOpener(service.database);

  async function add(name: string, kind: RecordKind): Promise<readonly PlainRecord[]> {
    // A parent must be in the workspace of its child; all other references may lead anywhere.
    const inputs = Array.from({ length: 1 + random.integer(12) }, () => ({
      ...generator.record(kind),
      ...(name !== workspace && kind.fields.parentId && { parentId: null }),
    }));
    const stamps = {
      createdAt: generator.pick(['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z']),
      updatedAt: '2026-03-01T00:00:00.000Z',
      ...(kind.stamps.includes('createdBy') && { createdBy: generator.pick(['x', 'X', null]) }),
      ...(kind.stamps.includes('updatedBy') && { updatedBy: generator.pick(['x', 'ß', null]) }),
    };
    // The casts are safe: the inputs are made from the kind's fields.
    const records = await insert(openStore(name), kind, inputs as CreateOf<RecordKind>[], stamps);
    return records as readonly object[] as PlainRecord[];
  }

  for (let round = 0; round < 4; round += 1) {
    for (const kind of recordKinds) {
      const records = await add(workspace, kind);
      world.push(...records.map((record): [RecordKind, PlainRecord] => [kind, record]));
      ours.get(kind.table)?.push(...records.map(({ id }) => id));
      const theirs = await add(`theirs-${seed}`, kind);
      ids.get(kind.table)?.push(...[...records, ...theirs].map(({ id }) => id));
    }
  }
  const model = createModel(world, { workspace, user: 'x' });
  const nextDocument = createDocuments(printedSchema, generator, (kind, orderBy) => {
    const ours = world.flatMap(([of, record]) => (of === kind ? [record] : []));
    return model.cursorOf(kind, orderBy, generator.pick(ours));
  });
  return { graphql, model, nextDocument };
}

/** The documents of all worlds, by what they return. */
const seen = { whole: 0, partial: 0, failed: 0 };

const seeds = Array.from({ length: worlds }, (_, index) => index + 1);

test.each(seeds)(
  'in world %d, documents return what the model returns, by either executor',
  async (seed) => {
    const { graphql, model, nextDocument } = await createWorld(seed);
    for (let time = 0; time < documentsPerWorld; time += 1) {
      const { query, variables } = nextDocument();
      const { data, errors, failed } = await model.respond(query, variables);
      const sent = [await graphql(query, variables), await graphql(query, variables), await graphql(query, variables)];
      const name = `${query} ${JSON.stringify(variables)}`;
      seen[!errors ? 'whole' : data ? 'partial' : 'failed'] += 1;
      // Where several fields have failed, a response may list any of those that make the same place null.
      if (failed.length < 2) {
        const [first] = sent;
        const expected = errors ? first?.text : JSON.stringify({ data });
        for (const { status, text } of sent) requireSame(`${status} ${text}`, `200 ${expected}`, name);
      }
      const failedAt = new Map<string, unknown>(failed.map((path) => [JSON.stringify(path), undefined]));
      for (const { body } of errors ? sent : []) {
        expect(body.data, name).toEqual(JSON.parse(JSON.stringify(data)));
        for (const error of body.errors.slice(0, maxErrors)) {
          const path = JSON.stringify(error.path);
          expect([...failedAt.keys()], name).toContain(path);
          // Whoever lists it, it is the same error.
          expect(error, name).toEqual(failedAt.get(path) ?? error);
          failedAt.set(path, error);
        }
        const places = new Set(body.errors.map(({ path }: { path: string[] }) => nullAt(data, path ?? [])));
        if (body.errors.length <= maxErrors)
          expect(places, name).toEqual(new Set(failed.map((path) => nullAt(data, path))));
      }
    }
    if (seed === worlds) expect(Object.values(seen)).not.toContain(0);
  },
  600_000,
);

test('each text is compared with all others as in the model', async () => {
  const service = await startForTest({}, { closed: true });
  const { graphql } = service.as(await service.key({ workspace: 'texts' }));
  const records = await insert(storeOpener(service.database)('texts'), location, [
    ...texts.map((name) => ({ name })),
    {},
  ]);
  const model = createModel((records as readonly object[] as PlainRecord[]).map((record) => [location, record]));
  const query = `query ($where: LocationFilter, $after: String) {
    locations(where: $where, after: $after, orderBy: [{ name: ASC }], first: 1000) { nodes { name } }
  }`;
  const operators = ['eq', 'ne', 'contains', 'startsWith', 'endsWith'];
  const alike = ['alike', 'startsAlike', 'containsAlike'];
  const seed = Date.now();
  const some = createRandom(seed).shuffle([...texts]);
  for (const name of some.slice(0, byEffort({ small: 12, long: texts.length }))) {
    // With these, which SQLite takes for one, no service ignores case.
    const comparisons = [false, ...(/[\ufffd-\uffff]/.test(name) ? [] : [true])].flatMap((ignoreCase) =>
      [
        ...(ignoreCase ? [...operators, ...alike] : operators).map((operator) => ({ [operator]: name })),
        { in: [name, 'x'] },
      ].map((it) => ({
        ...it,
        ignoreCase,
      })),
    );
    const [record] = records.filter((record) => record.name === name);
    const cursor = model.cursorOf(location, [{ name: 'ASC' }], record as object as PlainRecord);
    const sent = [...comparisons.map((it) => ({ where: { name: it } as SentFilter })), { after: cursor }];
    await Promise.all(
      sent.map(async (variables) => {
        const { data } = await model.respond(query, variables);
        requireSame(
          (await graphql(query, variables)).text,
          JSON.stringify({ data }),
          `${JSON.stringify(variables)}, seed ${seed}`,
        );
      }),
    );
  }
  // Its key has no length of the number any more, and nothing comes after it.
  const long = '\u{10ffff}'.repeat(376);
  await insert(storeOpener(service.database)('texts'), location, [{ name: `${long}12` }]);
  const { body } = await graphql(query, { where: { name: { startsWith: `${long}1` } } });
  expect(body.data.locations.nodes).toEqual([{ name: `${long}12` }]);
});

/** Where in the data an error at this path has left null. */
function nullAt(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  const depth = path.findIndex((name) => {
    if (value === null) return true;
    value = (value as Readonly<Record<string | number, unknown>>)[name];
    return false;
  });
  return JSON.stringify(depth < 0 ? path : path.slice(0, depth));
}

/** Throws with the part that differs: the responses are long. */
function requireSame(received: string, expected: string, name: string): void {
  if (received === expected) return;
  const at = [...expected].findIndex((_, index) => received[index] !== expected[index]);
  const [got, wanted] = [received, expected].map((text) => text.slice(Math.max(0, at - 200), at + 200));
  throw new Error(`received: ${got}\nexpected: ${wanted}\nto: ${name}`);
}
