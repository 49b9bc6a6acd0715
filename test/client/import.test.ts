/** The client's import of rows from any source. */
import { beforeEach, expect, test } from 'vitest';
import type { ImportOptions, ImportRow, Yardgraph } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { useService } from '../support/service.ts';

const service = useService();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service);
});

async function importAll(rows: Iterable<ImportRow> | AsyncIterable<ImportRow>, options?: ImportOptions) {
  const outcomes: string[] = [];
  for await (const { outcome } of yardgraph.import(rows, options)) outcomes.push(outcome);
  return outcomes;
}

const asset = (name: string, erp?: string): ImportRow => ({
  kind: 'Asset',
  record: { name, ...(erp !== undefined && { externalIds: { erp } }) },
});
const invalid = { kind: 'Asset', record: {} } as const;

test('says of each row of an async iterable what became of it, with its ID or its issues', async () => {
  async function* rows() {
    yield asset('Crane');
    yield invalid;
    yield { kind: 'Location', record: { name: 'North' } } as const;
  }
  const results = [];
  for await (const result of yardgraph.import(rows())) results.push(result);

  expect(results).toEqual([
    { row: asset('Crane'), outcome: 'CREATED', id: expect.stringMatching(/^asset_/) },
    { row: invalid, outcome: 'REJECTED', issues: [{ path: ['name'], message: 'required: the name of the asset' }] },
    {
      row: { kind: 'Location', record: { name: 'North' } },
      outcome: 'CREATED',
      id: expect.stringMatching(/^location_/),
    },
  ]);
});

test('creates rows of several kinds in one part, which refer to each other', async () => {
  await importAll([
    { kind: 'Project', record: { name: 'Wall', location: { ref: 'yard' } } },
    { kind: 'Location', record: { ref: 'yard', name: 'North' } },
  ]);

  expect(await service.data('{ projects { nodes { location { name } } } }')).toEqual({
    projects: { nodes: [{ location: { name: 'North' } }] },
  });
});

test('upserts the kinds that have a key, and creates the others', async () => {
  const rows = (name: string) => [
    asset('Crane', '1'),
    asset(name, '2'),
    { kind: 'Location', record: { name } } as const,
  ];
  const options = { upsertBy: { Asset: { externalId: 'erp' } } } as const;

  expect(await importAll(rows('Pump'), options)).toEqual(['CREATED', 'CREATED', 'CREATED']);
  expect(await importAll(rows('Drill'), options)).toEqual(['UNCHANGED', 'UPDATED', 'CREATED']);
});

test('asks for no more rows than it sends, and stores a part before it asks for the next ones', async () => {
  const stored: number[] = [];
  async function* rows() {
    for (let n = 0; n < 6; n += 1) {
      stored.push(Number(await yardgraph.changeCursor()));
      yield asset('Crane');
    }
  }
  await importAll(rows(), { partSize: 2 });

  // A part is sent when the row after it is there.
  expect(stored).toEqual([0, 0, 0, 2, 2, 4]);
});

test('stores nothing in a dry run', async () => {
  expect(await importAll([asset('Crane'), invalid], { dryRun: true })).toEqual(['CREATED', 'REJECTED']);
  expect(await yardgraph.changeCursor()).toBe('0');
});

test('with a key of its own, the same call stores only what is missing', async () => {
  const rows = ['A', 'B', 'C', 'D'].map((name) => asset(name));
  const options = { idempotencyKey: 'nightly', partSize: 2 };
  for await (const _ of yardgraph.import(rows, options)) break;

  expect(await importAll(rows, options)).toEqual(['CREATED', 'CREATED', 'CREATED', 'CREATED']);
  expect(await yardgraph.changeCursor()).toBe('4');
});

test('rejects a part size that is none', async () => {
  expect((await errorOf(TypeError, importAll([], { partSize: 0 }))).message).toContain(
    'import: expected partSize to be',
  );
});

test('rejects options that it does not know: a misspelt dryRun would store the rows', async () => {
  const { message } = await errorOf(TypeError, importAll([asset('Crane')], { dryrun: true } as object));

  expect(message).toBe('import: unknown option dryrun');
  expect(await yardgraph.changeCursor()).toBe('0');
});
