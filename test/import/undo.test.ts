/** `yardgraph undo`: a range of changes, such as those of an import, reversed in a running service. */
import { expect, test } from 'vitest';
import { Yardgraph } from '../../client/index.ts';
import { revertInParts } from '../../src/import/made-changes.ts';
import { useShortDelays } from '../support/client.ts';
import { useImports } from '../support/import.ts';

/** At most three changes can be reversed at a time: five are sent as three and two. */
const imports = useImports({ MAX_BATCH: '3' });
useShortDelays();

const undo = (from: number, to: number, ...options: readonly string[]) =>
  imports.command('undo', '--from', String(from), '--to', String(to), '--yes', ...options);

const lastLine = (text: string) => text.split('\n').at(-1);

const locations = () => imports.records('locations', 'name city');
const locationNames = async () => (await locations()).map(({ name }: { name: string }) => name).toSorted();

test('is a run in the list of imports with its message, by which it names only its own changes, also if others have the same message', async () => {
  const { locations } = imports.client();
  await locations.create([{ name: 'North' }]);
  const createOther = ({ sql }: { sql: string }) => {
    if (!/^delete from locations/.test(sql)) return;
    imports.service.database.knex.removeListener('query', createOther);
    void locations.create([{ name: 'South' }], { changeMessage: 'mistake' });
  };
  imports.service.database.knex.on('query', createOther);

  const { out } = await undo(1, 1, '--message', ' mistake ');

  const { changes } = await imports.service.data('{ changes(after: "1") { nodes { cursor action message } } }');
  const deleted = changes.nodes.find(({ action }: { action: string }) => action === 'DELETED');
  expect(deleted.message).toMatch(/^mistake \([0-9a-f]{8}\)$/);
  expect(out.at(-1)).toBe(`Its changes: 2 to 3, those with the message "${deleted.message}".`);
  const { importRuns } = await imports.service.data('{ importRuns { nodes { message deleted } } }');
  expect(importRuns.nodes).toEqual([{ message: deleted.message, deleted: 1 }]);

  // The location that it deleted comes back, and that of the other one stays.
  await undo(2, 3, '--only', deleted.message);
  expect(await locationNames()).toEqual(['North', 'South']);
});

test('ends with 3 if the connection breaks, and says what is still to be reversed', async () => {
  for (const name of ['North', 'South', 'West', 'East']) await imports.service.create('/locations', { name });
  const stop = ({ sql }: { sql: string }) => {
    if (!/^delete from locations/.test(sql)) return;
    imports.service.app.server.close();
    imports.service.app.server.closeAllConnections();
  };
  imports.service.database.knex.on('query', stop);

  const { code, err } = await undo(1, 4);
  imports.service.database.knex.removeListener('query', stop);
  // For the tests after it.
  imports.service.app.server.listen(Number(new URL(imports.url()).port), '127.0.0.1');

  expect(code).toBe(3);
  expect(lastLine(err)).toMatch(
    /^no response from the service: \w+ \(http:\/\/127\.0\.0\.1:\d+\)\. To continue, run the same command again\.$/,
  );
});

test('reverses the others, lists those that cannot be with their reasons, and ends with 2, or with 1 if there are only these', async () => {
  await imports.service.create('/locations', { name: 'North' }, { name: 'South' }, { name: 'West' });
  const [, south, west] = await imports.records('locations', 'id');
  await imports.service.create('/projects', { name: 'Wall', locationId: south.id });
  await imports.service.graphql(`mutation { updateLocations(input: [{ id: "${west.id}", city: "Bremen" }]) { id } }`);
  const reasons = [
    expect.stringMatching(/^ {2}change 3, location_\w+: this location has changed since, last by change 5$/),
    expect.stringMatching(/^ {2}change 2, location_\w+: this location is referenced by 1 project: project_\w+$/),
  ];
  const preview = ['1 to reverse, 1 to keep, 1 that cannot be reversed', ...reasons];
  expect(await undo(1, 3, '--dry-run')).toMatchObject({ code: 2, out: preview });
  expect(await locations()).toHaveLength(3);

  const { code, out } = await undo(1, 3);

  expect([code, ...out]).toEqual([2, ...preview, '1 reversed, 1 kept, 1 failed', ...reasons, 'Its changes: 6.']);
  expect(await locations()).toEqual([
    { name: 'South', city: null },
    { name: 'West', city: 'Bremen' },
  ]);
  const again = await undo(2, 3);
  expect([again.code, again.out.at(-1)]).toEqual([1, 'It made no changes.']);
});

test('a long range is reversed in parts, the latest first, and goes on after an interruption, which lets a part end', async () => {
  await imports.service.create('/locations', { name: 'North' }, { name: 'South' }, { name: 'West' });
  const [, south] = await imports.records('locations', 'id');
  await imports.service.create('/projects', { name: 'Wall', locationId: south.id }, { name: 'Quay' });
  const interrupt = ({ sql }: { sql: string }) => {
    // As Ctrl-C would, but for the listeners of the tests themselves.
    if (/^delete from projects/.test(sql)) process.listeners('SIGINT').at(-1)?.('SIGINT');
  };
  imports.service.database.knex.on('query', interrupt);
  const { code, out, err } = await undo(1, 5);
  imports.service.database.knex.removeListener('query', interrupt);

  expect([code, ...out]).toEqual([
    3,
    '4 to reverse, 0 to keep, 0 that cannot be reversed',
    '1 more can be checked only when later ones are reversed: others may depend on them',
    '3 reversed, 0 kept, 0 failed',
    'Its changes: 6 to 8.',
  ]);
  expect(lastLine(err)).toBe('Interrupted. To continue, run it again with --to 2.');
  expect(await locations()).toHaveLength(2);

  expect(await undo(1, 2)).toMatchObject({ code: 0 });
  expect(await locations()).toEqual([]);
});

test.each([
  [['--from', '0', '--to', '1'], '--from: expected a whole number from 1, received "0"'],
  [['--from', '2', '--to', '1'], '--to: expected the number of a change from 2, received 1'],
  [['--from', '1', '--to', '9'], '--to: there is no change 9, the last one is 1'],
  [['--from', '1'], "error: required option '--to <number>' not specified"],
  [['--from', '1', '--to', '1'], 'not confirmed: in a script, confirm with --yes'],
])('reverses nothing, and ends with 1, for %j', async (options, message) => {
  await imports.service.create('/locations', { name: 'North' });

  const { code, err } = await imports.command('undo', ...options);
  expect([code, lastLine(err)]).toEqual([1, message]);
  expect(await locations()).toHaveLength(1);
});

test('an import between whose changes others have written names its range and its message', async () => {
  await imports.service.create('/locations', { name: 'Before' });
  const createOther = ({ sql }: { sql: string }) => {
    if (!/insert into (new_)?assets/.test(sql)) return;
    imports.service.database.knex.removeListener('query', createOther);
    void imports.service.create('/locations', { name: 'Other' });
  };
  imports.service.database.knex.on('query', createOther);

  const { out } = await imports.import({ 'assets.csv': 'name\nA\nB\nC\nD\n' }, '--batch', '1', '--no-preview');
  await imports.service.create('/locations', { name: 'After' });

  const runs = '{ importRuns { nodes { id message created after upTo } } }';
  const { importRuns } = await imports.service.data(runs);
  const { message } = importRuns.nodes[0];
  expect(importRuns.nodes).toEqual([
    {
      id: expect.any(String),
      message: expect.stringMatching(/^import of assets\.csv \([0-9a-f]{8}\)$/),
      created: 4,
      after: '1',
      upTo: '6',
    },
  ]);
  expect(out.at(-1)).toBe(`Its changes: 2 to 6, those with the message "${message}".`);

  const client = new Yardgraph({
    serverURL: imports.url(),
    apiKeyAuth: imports.key(),
    importRun: importRuns.nodes[0].id,
  });
  const { signal } = new AbortController();
  for await (const _ of revertInParts(client, { first: 2, last: 6, message }, { signal }));
  expect(await imports.records('assets', 'name')).toEqual([]);
  // An undo does not belong to the import.
  expect(await imports.service.data(runs)).toEqual({ importRuns });
  expect(await locationNames()).toEqual(['After', 'Before', 'Other']);
});
