/** The same requests to both databases get the same answers, byte for byte; only ids and times differ. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RecordKind } from '../../../src/model/record-kind.ts';
import { project, recordKinds } from '../../../src/records/index.ts';
import { anyRecord, kinds, unknownId } from '../../support/records.ts';
import { startService, type TestResponse } from '../../support/service.ts';

type Service = Awaited<ReturnType<typeof startService>>;

/** A request; what it refers to is a place in the list of records made so far, for the ids are not known before. */
type Operation =
  | { type: 'create'; kind: RecordKind; path: string; records: Record<string, unknown>[] }
  | { type: 'change'; target: Target; changes: Record<string, unknown> }
  | { type: 'list' }
  | { type: 'page'; kind: RecordKind; size: number; fromEnd: boolean; cursor: Target | null }
  | { type: 'graph'; size: number }
  | { type: 'node'; target: Target };

/** A record made earlier, or none, or something that is not stored here. */
type Target = { place: number } | { id: string };

const target = fc.oneof(
  { weight: 6, arbitrary: fc.record({ place: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ id: fc.constantFrom(...recordKinds.map(unknownId)) }) },
  { weight: 1, arbitrary: fc.record({ id: fc.string({ unit: 'binary' }) }) },
);

/** Mostly valid, with references, uids that meet again, and now and then something that is refused. */
const recordToSend = (kind: RecordKind) =>
  fc
    .tuple(
      anyRecord(kind),
      fc.dictionary(
        fc.constantFrom(...Object.keys(kind.fields), 'nmae', 'id'),
        fc.oneof(
          { weight: 3, arbitrary: target.map((it) => ({ target: it })) },
          { weight: 1, arbitrary: fc.constantFrom<unknown>('', '\0', '\ud800', 0, 91, true, [], 'soon', '2026-02-30') },
        ),
        { maxKeys: 2 },
      ),
      fc.option(fc.integer({ min: 0, max: 30 }), { freq: 3 }),
    )
    .map(([record, replaced, uid]) => ({
      ...record,
      ...(uid !== null && 'uid' in kind.fields && { uid: `UID-${uid}` }),
      ...(Math.abs(Object.keys(replaced).length) > 0 && replaced),
    }));

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(...kinds)
      .chain(({ kind, path }) =>
        fc
          .array(recordToSend(kind), { maxLength: 5 })
          .map((records): Operation => ({ type: 'create', kind, path, records })),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(target, recordToSend(project))
      .map(([it, changes]): Operation => ({ type: 'change', target: it, changes })),
  },
  { weight: 1, arbitrary: fc.constant<Operation>({ type: 'list' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('page' as const),
      kind: fc.constantFrom(...recordKinds),
      size: fc.integer({ min: 0, max: 8 }),
      fromEnd: fc.boolean(),
      cursor: fc.option(target),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('graph' as const), size: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('node' as const), target }) },
);

const ids = new RegExp(`\\b(?:${recordKinds.map(({ idPrefix }) => idPrefix).join('|')})_[0-9a-z]{26}\\b`, 'g');

/** A service that remembers what it made, and tells its answers without ids and times. */
async function startTeller(settings: Record<string, string>) {
  const service: Service = await startService(settings);
  const made: string[] = [];

  const idOf = (it: Target): string => ('id' in it ? it.id : (made[it.place % made.length] ?? 'none'));
  const filledIn = (record: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        value !== null && typeof value === 'object' && 'target' in value ? idOf(value.target as Target) : value,
      ]),
    );

  function send(it: Operation): Promise<TestResponse> {
    switch (it.type) {
      case 'create':
        return service.post(it.path, it.records.map(filledIn));
      case 'change':
        return service.patch(`/projects/${encodeURIComponent(idOf(it.target).toWellFormed())}`, filledIn(it.changes));
      case 'list':
        return service.get('/asset-categories');
      case 'page': {
        const name = it.kind.plural.charAt(0).toLowerCase() + it.kind.plural.slice(1);
        const [size, cursor] = it.fromEnd ? ['last', 'before'] : ['first', 'after'];
        return service.graphql(
          `query ($cursor: String) { page: ${name}(${size}: ${it.size}, ${cursor}: $cursor) {
            totalCount nodes { id createdAt } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
          { cursor: it.cursor && idOf(it.cursor) },
        );
      }
      case 'graph':
        return service.graphql(`{ workOrders(last: ${it.size}) { nodes { id name notes startDate externalIds
          project { id name location { id latitude longitude } } location { id city } } }
          assets(first: ${it.size}) { nodes { id uid trackUtilization acquiredAt externalIds currentLocation { id } } } }`);
      case 'node':
        return service.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', { id: idOf(it.target) });
    }
  }

  return {
    async tell(it: Operation): Promise<string> {
      const { status, headers, text } = await send(it);
      for (const [id] of text.matchAll(ids)) if (!made.includes(id)) made.push(id);
      const plain = text
        .replaceAll(ids, (id) => `#${made.indexOf(id)}`)
        .replaceAll(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"now"')
        .replaceAll(/request [0-9a-f-]{36}/g, 'request');
      return `${status} ${headers['content-type']} ${headers['retry-after']} ${plain}`;
    },
    stop: () => service.stop(),
  };
}

test('random requests are answered alike', async () => {
  let succeeded = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
      const onPostgres = await startTeller({});
      const onSqlite = await startTeller({ DATABASE_URL: 'sqlite::memory:' });
      try {
        for (const it of operations) {
          const [answer, other] = [await onPostgres.tell(it), await onSqlite.tell(it)];
          expect(answer).toBe(other);
          expect(answer).not.toMatch(/^5/);
          if (/^2/.test(answer)) succeeded += 1;
          else refused += 1;
        }
      } finally {
        await onPostgres.stop();
        await onSqlite.stop();
      }
    }),
    { numRuns: 60 },
  );
  // Both have been tried.
  expect(Math.min(succeeded, refused)).toBeGreaterThan(100);
}, 180_000);
