/** Random queries find on both databases what a plain model finds, and nothing of another workspace. */
import { describe, expect, test } from 'vitest';
import type { CreateOf, RecordKind } from '../../src/model/record-kind.ts';
import { assetCategory, location, recordKinds } from '../../src/records/index.ts';
import type { Condition, RecordQuery } from '../../src/store/query/record-query.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { byEffort } from '../support/effort.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedDatabase } from '../support/own-database.ts';
import { createModel, type PlainRecord } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';
import { createGenerator, texts } from '../support/random-queries.ts';

const worlds = byEffort({ small: 2, long: 20 });
const queriesPerWorld = byEffort({ small: 150, long: 1_050 });

/** Reserves more than the budget for almost every page, so that the database measures them. */
const tight = { maxTextLength: 10_000, maxExternalIds: 100, maxRecordLength: 100_000, maxResponseLength: 30_000 };

const database = useSharedDatabase();

/** Fills our workspace, and another one with records like ours that share references with them. */
async function createWorld(seed: number) {
  const random = createRandom(seed);
  const ids = new Map<string, string[]>(recordKinds.map(({ table }) => [table, []]));
  const generator = createGenerator(random, ids);
  const world = new Map<string, PlainRecord[]>(recordKinds.map(({ table }) => [table, []]));
  const openStore = storeOpener(database);
  const ours = openStore(`ours-${seed}`);

  async function add(store: WorkspaceStore, kind: RecordKind): Promise<readonly PlainRecord[]> {
    const inputs = Array.from({ length: 1 + random.integer(12) }, () => generator.record(kind));
    const stamps = {
      createdAt: generator.pick(['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z']),
      updatedAt: '2026-03-01T00:00:00.000Z',
      ...(kind.stamps.includes('createdBy') && { createdBy: generator.pick(['x', 'X', null]) }),
      ...(kind.stamps.includes('updatedBy') && { updatedBy: generator.pick(['x', 'ß', null]) }),
    };
    // The casts are safe: the inputs are made from the kind's fields.
    return (await insert(store, kind, inputs as CreateOf<RecordKind>[], stamps)) as readonly object[] as PlainRecord[];
  }

  for (let round = 0; round < 4; round += 1) {
    for (const kind of recordKinds) {
      // A category's parent must be in its own workspace; all other references may lead anywhere.
      const records = await add(ours, kind);
      world.get(kind.table)?.push(...records);
      const theirs = kind === assetCategory ? [] : await add(openStore(`theirs-${seed}`), kind);
      ids.get(kind.table)?.push(...[...records, ...theirs].map(({ id }) => id));
    }
  }
  return { ours, generator, model: createModel(world), seed };
}

const worldsMade: Promise<Awaited<ReturnType<typeof createWorld>>>[] = [];
const worldOf = (index: number) => (worldsMade[index] ??= createWorld(index + 1));

/** A query in a message: kinds by their name only. */
const described = (query: object): string =>
  JSON.stringify(query, (_, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'storedFields' in value && 'name' in value) return value.name;
    return value instanceof Set ? [...value] : value;
  });

/** Without the values of linked records that the order has added. */
const shown = (records: readonly object[], fields?: ReadonlySet<string>) =>
  records.map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => (fields ? fields.has(name) : !name.includes('.')))),
  );

describe.each(Array.from({ length: worlds }, (_, index) => index))('in world %d', (index) => {
  test('lists are filtered, ordered and counted as in the model', async () => {
    const { ours, generator, model } = await worldOf(index);
    const { chance, integer, pick } = generator;
    for (let time = 0; time < queriesPerWorld; time += 1) {
      const kind = pick(recordKinds);
      const where = chance(0.8) ? generator.condition(kind) : undefined;
      const orderBy = generator.orderBy(kind);
      const place = () => (chance(0.4) ? model.positionOf(orderBy, pick(model.list(kind, {}))) : undefined);
      const limit = chance(0.9) ? 1 + integer(8) : undefined;
      const query: RecordQuery = {
        where,
        orderBy,
        fromEnd: chance(0.4),
        after: place(),
        before: place(),
        fields: generator.fields(kind),
        ...(limit !== undefined && { limit }),
      };
      const name = `${kind.name} ${described(query)}`;
      expect(shown(await ours.list(kind, query)), name).toEqual(shown(model.list(kind, query), query.fields));
      if (where && chance(0.2))
        expect(await ours.count(kind, { where }), name).toBe(model.list(kind, { where }).length);
    }
  });

  test('pages after each other, in either direction, hold every record once', async () => {
    const { ours, generator, model } = await worldOf(index);
    const { chance, integer, pick } = generator;
    for (let time = 0; time < queriesPerWorld / 10; time += 1) {
      const kind = pick(recordKinds);
      const orderBy = generator.orderBy(kind);
      const query = { where: chance(0.5) ? generator.condition(kind, 1) : undefined, orderBy };
      const fromEnd = chance(0.5);
      const limit = 1 + integer(6);
      const found: PlainRecord[] = [];
      for (;;) {
        const last = found.at(-1);
        const place = last && model.positionOf(orderBy, last);
        const page = await ours.list(kind, { ...query, fromEnd, limit, [fromEnd ? 'before' : 'after']: place });
        found.push(...(page as readonly object[] as PlainRecord[]));
        if (page.length < limit) break;
      }
      expect(shown(found), described({ kind, query, fromEnd, limit })).toEqual(
        shown(model.list(kind, { ...query, fromEnd })),
      );
    }
  });

  test('reverse links lead to the pages and counts of the model', async () => {
    const { ours, generator, model } = await worldOf(index);
    const { chance, integer, pick } = generator;
    for (let time = 0; time < queriesPerWorld / 2; time += 1) {
      const { link, parentIds } = generator.reverseLink();
      const orderBy = generator.orderBy(link.kind);
      const place = () => (chance(0.2) ? model.positionOf(orderBy, pick(model.list(link.kind, {}))) : undefined);
      const query = {
        where: chance(0.6) ? generator.condition(link.kind, 2) : undefined,
        orderBy,
        fromEnd: chance(0.4),
        after: place(),
        before: place(),
        fields: generator.fields(link.kind),
        ...(chance(0.8) && { limit: 1 + integer(5) }),
        withCount: chance(0.5),
      };
      const name = `${link.target}.${link.name} of ${parentIds}: ${described(query)}`;
      const pages = await (chance(0.5) ? ours : ours.within(tight)).pages(link, parentIds, query);
      expect([...pages.keys()].toSorted(), name).toEqual([...new Set(parentIds)].toSorted());
      for (const [parentId, { records, count }] of pages) {
        const expected = model.page(link, parentId, query);
        expect({ records: shown(records), count }, `${parentId} in ${name}`).toEqual({
          records: shown(expected.records, query.fields),
          count: expected.count,
        });
      }
    }
  });

  test('summaries have the groups of the model', async () => {
    const { ours, generator, model } = await worldOf(index);
    const { chance, integer, pick } = generator;
    for (let time = 0; time < queriesPerWorld / 4; time += 1) {
      const kind = pick(recordKinds);
      const where = chance(0.6) ? generator.condition(kind, 2) : undefined;
      const query = {
        where,
        groupBy: generator.groupings(kind),
        timeZone: pick([undefined, 'UTC', 'Europe/Berlin', 'America/New_York']),
        limit: integer(20),
        min: generator.bounded(kind),
        max: generator.bounded(kind),
      };
      expect(await ours.summarize(kind, query), described({ kind, ...query })).toEqual(model.summary(kind, query));
    }
  });
});

test('each text is compared with all others as in the model', async () => {
  const ours = storeOpener(database)('texts');
  const records = await insert(ours, location, [...texts.map((name) => ({ name })), {}]);
  const model = createModel(new Map([[location.table, records as readonly object[] as PlainRecord[]]]));
  for (const value of createRandom(Date.now())
    .shuffle([...texts])
    .slice(0, byEffort({ small: 25, long: texts.length }))) {
    const conditions = [true, false].flatMap((ignoreCase): Condition[] => [
      { field: 'name', in: [value], ignoreCase },
      { field: 'name', in: [value, 'x'], ignoreCase },
      ...(['contains', 'startsWith', 'endsWith'] as const).map((text) => ({ field: 'name', text, value, ignoreCase })),
      ...(['gt', 'gte', 'lt', 'lte'] as const).map((compare) => ({ field: 'name', compare, value })),
    ]);
    await Promise.all(
      conditions.map(async (where) => {
        const query = { where, orderBy: [{ field: 'name', direction: 'asc' }] } as const;
        const names = (await ours.list(location, query)).map(({ name }) => name);
        expect(names, described(where)).toEqual(model.list(location, query).map(({ name }) => name));
      }),
    );
  }
});
