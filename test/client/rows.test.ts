/** The client's imports of rows from any source, and its exports. */
import { beforeEach, describe, expect, test } from 'vitest';
import { ConnectionError, type ImportOptions, type ImportRow, Yardgraph } from '../../client/index.ts';
import { describeInChromium, usePages } from '../support/browser.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { useScriptedServer } from '../support/scripted-server.ts';
import { useSharedService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service, { apiKeyAuth: await service.key() });
});

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

describe('import', () => {
  const importAll = async (rows: Iterable<ImportRow> | AsyncIterable<ImportRow>, options?: ImportOptions) =>
    (await all(yardgraph.import(rows, options))).map(({ outcome }) => outcome);

  const asset = (name: string, erp?: string): ImportRow => ({
    kind: 'Asset',
    record: { name, ...(erp !== undefined && { externalIds: { erp } }) },
  });
  const invalid = { kind: 'Asset', record: {} } as const;

  test('says of each row of an async iterable what became of it, with its ID or its issues; rows of a part may be linked', async () => {
    const project = { kind: 'Project', record: { name: 'Wall', location: { ref: 'yard' } } } as const;
    const location = { kind: 'Location', record: { ref: 'yard', name: 'North' } } as const;
    async function* rows() {
      yield project;
      yield invalid;
      yield location;
    }

    expect(await all(yardgraph.import(rows()))).toEqual([
      { row: project, outcome: 'CREATED', id: expect.stringMatching(/^project_/) },
      {
        row: invalid,
        outcome: 'REJECTED',
        issues: [{ path: ['name'], message: 'required: the name of the asset', code: 'required', other: null }],
      },
      { row: location, outcome: 'CREATED', id: expect.stringMatching(/^location_/) },
    ]);
    expect(await service.data('{ projects { nodes { location { name } } } }')).toEqual({
      projects: { nodes: [{ location: { name: 'North' } }] },
    });
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

  test('stores nothing in a dry run, and with a key of its own only what is missing', async () => {
    expect(await importAll([asset('Crane'), invalid], { dryRun: true })).toEqual(['CREATED', 'REJECTED']);
    expect(await yardgraph.changeCursor()).toBe('0');

    const rows = ['A', 'B', 'C', 'D'].map((name) => asset(name));
    const options = { idempotencyKey: 'nightly', partSize: 2 };
    for await (const _ of yardgraph.import(rows, options)) break;
    expect(await importAll(rows, options)).toEqual(rows.map(() => 'CREATED'));
    expect(await yardgraph.changeCursor()).toBe('4');
  });
});

describe('export', () => {
  test('yields the records of a kind that match, or of all kinds, and exportFile opens them as a file with their number', async () => {
    await yardgraph.assets.create([{ name: 'Crane', externalIds: { erp: '1' } }, { name: '=Pump' }]);
    await yardgraph.workOrders.create([{ name: 'Set up' }]);

    const options = { where: { name: { eq: 'Crane' } }, externalIds: ['erp'] };
    expect(await all(yardgraph.export('assets', options))).toMatchObject([
      { kind: 'ASSET', name: 'Crane', 'externalIds.erp': '1' },
    ]);
    expect(await all(yardgraph.export('workOrders'))).toMatchObject([{ kind: 'WORK_ORDER', name: 'Set up' }]);
    expect(await all(yardgraph.export('all'))).toHaveLength(3);
    const { count, body } = await yardgraph.exportFile('assets', 'csv', { excel: true });
    expect([count, await new Response(body).text()]).toEqual([2, expect.stringContaining(",'=Pump,")]);
  });

  const script = useScriptedServer();
  const row = '{"kind":"ASSET","id":"asset_1"}\n';

  test('closes its connection when it is not read to its end', async () => {
    const closed = new Promise((resolve) => {
      script.replies = [(response) => void response.once('close', resolve).writeHead(200).write(row)];
    });
    for await (const _ of new Yardgraph({ serverURL: script.url }).export('assets')) break;
    await closed;
  });

  test.each([
    ['in the middle of the file', 1_000],
    ['at the end of a row, so that the response seems whole', undefined],
  ])('throws if it is cut off %s', async (_, length) => {
    script.replies = [
      (response) => {
        const headers = { 'export-count': '2', ...(length !== undefined && { 'content-length': length }) };
        response.writeHead(200, headers).write(row, () => (length === undefined ? response.end() : response.destroy()));
      },
    ];
    const rows = new Yardgraph({ serverURL: script.url, retries: 0 }).export('assets');

    expect((await errorOf(ConnectionError, all(rows))).code).toBe('CUT_OFF');
  });
});

describeInChromium('in Chromium', () => {
  const service = useSharedService();
  const newPage = usePages();

  test('it follows no redirect, and sends a write that may be stored again with its key', async () => {
    const { page, origin } = await newPage(service);
    // The service rejects requests from pages of other origins, so the test page is served from its own origin.
    await page.route(`${origin}/page/**`, async (route) => {
      const name = new URL(route.request().url()).pathname.replace('/page/', '');
      if (name === '') await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page</title>' });
      else await route.fulfill({ path: `client/dist/esm/${name}` });
    });
    await page.goto(`${origin}/page/`);
    /** Runs the body of an async function on the page. */
    const run = (code: string): Promise<unknown> =>
      page.evaluate(`(async () => {
        const { Yardgraph } = await import('/page/index.js');
        const yardgraph = new Yardgraph({ serverURL: '/', apiKeyAuth: 'key' });
        ${code}
      })()`);

    const keys: unknown[] = [];
    await page.route(`${origin}/locations`, async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.abort('connectionrefused');
    });
    await page.route(`${origin}/assets`, (route) => route.fulfill({ status: 302, headers: { location: '/healthz' } }));
    expect(
      await run(`
        const caught = (error) => error.name + ' ' + error.mayBeStored;
        const { assets, locations } = yardgraph;
        return [await locations.create([{}]).catch(caught), await assets.create([{ name: 'a' }]).catch(caught)];`),
    ).toEqual(['ConnectionError true', 'UnexpectedResponseError false']);
    expect(keys).toEqual(Array(4).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys).size).toBe(1);
  });
});
