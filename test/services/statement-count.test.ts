/** The log line of a request counts the statements that ran for it, except those that begin and end transactions. */
import { expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService({ LOG_LEVEL: 'info' });

/** A script begins and ends its transaction itself. */
const frames = /^(?:begin(?! immediate;)|commit|rollback)/;

async function countsOf(request: () => Promise<unknown>) {
  const statements = await service.statements(request);
  const { statements: logged } = JSON.parse(service.logs.at(-1) ?? '{}');
  return { logged, run: statements.filter((sql) => !frames.test(sql)).length };
}

const assets = (count: number) => Array.from({ length: count }, (_, n) => ({ name: 'Crane', uid: `EX-${n}` }));

test('a batch of 10,000 assets counts each of its inserts, and the two statements that log it', async () => {
  const { logged, run } = await countsOf(() => service.create('/assets', ...assets(10_000)));

  expect(logged).toBe(run);
  expect(run).toBeGreaterThan(1);
});

test('a single asset counts its insert, which logs it too, or with a lookup, two more that log it', async () => {
  const [{ id }] = await service.create('/locations', {});

  expect(await countsOf(() => service.create('/assets', { name: 'Crane' }))).toEqual({ logged: 1, run: 1 });
  expect(await countsOf(() => service.create('/assets', { name: 'Crane', currentLocationId: id }))).toEqual({
    logged: 4,
    run: 4,
  });
});

test('a rejected batch counts the statements that ran before it was rejected', async () => {
  await service.create('/assets', ...assets(1));

  expect(await countsOf(() => service.post('/assets', [{ name: 5 }]))).toEqual({ logged: 0, run: 0 });
  // The database rejects the insert because of the uid, which is then looked up.
  expect(await countsOf(() => service.post('/assets', assets(1)))).toEqual({ logged: 2, run: 2 });
});

test('a change counts the read that locks the record, the update, and the two statements that log it', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Bridge' });

  expect(await countsOf(() => service.patch(`/projects/${id}`, { name: 'Tunnel' }))).toEqual({ logged: 4, run: 4 });
});
