/** The same requests get the same responses from both databases, byte for byte, except IDs and times. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listField } from '../../../src/model/labels.ts';
import type { RecordKind } from '../../../src/model/record-kind.ts';
import { project, recordKinds } from '../../../src/records/index.ts';
import { createFile } from '../../support/database.ts';
import { byEffort } from '../../support/effort.ts';
import { anyRecord, kinds, unknownId } from '../../support/records.ts';
import { startService, type TestResponse } from '../../support/service.ts';

type Service = Awaited<ReturnType<typeof startService>>;

/** A request. It refers to records by their position among those created so far: their IDs are not known in advance. */
type Operation =
  | { type: 'create'; kind: RecordKind; path: string; records: Record<string, unknown>[] }
  | { type: 'change'; target: Target; changes: Record<string, unknown> }
  | { type: 'list' }
  | { type: 'page'; kind: RecordKind; size: number; fromEnd: boolean; cursor: Target | null }
  | { type: 'graph'; size: number }
  | { type: 'node'; target: Target };

/** A record created earlier, or an ID that is not stored. */
type Target = { position: number } | { id: string };

const target = fc.oneof(
  { weight: 6, arbitrary: fc.record({ position: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ id: fc.constantFrom(...recordKinds.map(unknownId)) }) },
  { weight: 1, arbitrary: fc.record({ id: fc.string({ unit: 'binary' }) }) },
);

/** Mostly valid records, with references, repeated uids and occasional invalid values. */
const recordToSend = (kind: RecordKind) =>
  fc
    .tuple(
      anyRecord(kind),
      fc.dictionary(
        fc.constantFrom(...Object.keys(kind.fields), 'nmae', 'id'),
        fc.oneof(
          { weight: 3, arbitrary: target.map((target) => ({ target })) },
          { weight: 1, arbitrary: fc.constantFrom<unknown>('', '\0', '\ud800', 0, 91, true, [], 'soon', '2026-02-30') },
        ),
        { maxKeys: 2 },
      ),
      fc.option(fc.integer({ min: 0, max: 30 }), { freq: 3 }),
    )
    .map(([record, replaced, uid]) => ({
      ...record,
      ...(uid !== null && 'uid' in kind.fields && { uid: `UID-${uid}` }),
      ...replaced,
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
      .map(([target, changes]): Operation => ({ type: 'change', target, changes })),
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

/** Starts a service that returns its responses with IDs and times replaced. */
async function startComparable(settings: Record<string, string>) {
  const service: Service = await startService(settings);
  const created: string[] = [];

  const idOf = (target: Target): string =>
    'id' in target ? target.id : (created[target.position % created.length] ?? 'none');
  const withIds = (record: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        value !== null && typeof value === 'object' && 'target' in value ? idOf(value.target as Target) : value,
      ]),
    );

  function send(operation: Operation): Promise<TestResponse> {
    switch (operation.type) {
      case 'create':
        return service.post(operation.path, operation.records.map(withIds));
      case 'change':
        return service.patch(
          `/projects/${encodeURIComponent(idOf(operation.target).toWellFormed())}`,
          withIds(operation.changes),
        );
      case 'list':
        return service.get('/asset-categories');
      case 'page': {
        const name = listField(operation.kind);
        const [size, cursor] = operation.fromEnd ? ['last', 'before'] : ['first', 'after'];
        return service.graphql(
          `query ($cursor: String) { page: ${name}(${size}: ${operation.size}, ${cursor}: $cursor) {
            totalCount nodes { id createdAt } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
          { cursor: operation.cursor && idOf(operation.cursor) },
        );
      }
      case 'graph':
        return service.graphql(`{ workOrders(last: ${operation.size}) { nodes { id name notes startDate externalIds
          project { id name location { id latitude longitude } } location { id city } } }
          assets(first: ${operation.size}) { nodes { id uid trackUtilization acquiredAt externalIds currentLocation { id } } } }`);
      case 'node':
        return service.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', { id: idOf(operation.target) });
    }
  }

  return {
    async send(operation: Operation): Promise<string> {
      const { status, headers, text } = await send(operation);
      for (const [id] of text.matchAll(ids)) if (!created.includes(id)) created.push(id);
      const comparable = text
        .replaceAll(ids, (id) => `#${created.indexOf(id)}`)
        .replaceAll(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"now"')
        .replaceAll(/request [0-9a-f-]{36}/g, 'request');
      return `${status} ${headers['content-type']} ${headers['retry-after']} ${comparable}`;
    },
    stop: () => service.stop(),
  };
}

const runs = byEffort({ small: 12, long: 300 });

test('random requests get the same responses', async () => {
  let succeeded = 0;
  let rejected = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
      const file = await createFile();
      const onPostgres = await startComparable({});
      const onSqlite = await startComparable({ DATABASE_URL: file.url });
      try {
        for (const operation of operations) {
          const [response, other] = [await onPostgres.send(operation), await onSqlite.send(operation)];
          expect(response).toBe(other);
          expect(response).not.toMatch(/^5/);
          if (/^2/.test(response)) succeeded += 1;
          else rejected += 1;
        }
      } finally {
        await onPostgres.stop();
        await onSqlite.stop();
        await file.remove();
      }
    }),
    { numRuns: runs },
  );
  // The random requests must include enough of both.
  expect(Math.min(succeeded, rejected)).toBeGreaterThan((10 * runs) / 3);
}, 600_000);
