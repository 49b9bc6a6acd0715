/** Changing records by the service itself, for what is not visible over REST. */
import { afterEach, expect, test, vi } from 'vitest';
import { createSessionOpener } from '../../src/auth/authenticate.ts';
import { asset } from '../../src/records/index.ts';
import { updateRecord } from '../../src/services/update-records.ts';
import { anonymous, nobody } from '../support/open-store.ts';
import { useService } from '../support/service.ts';

const service = useService();
afterEach(() => void vi.useRealTimers());

test('a record may keep its own unique value, and may not take that of another record', async () => {
  const [{ id }] = await service.create('/assets', { name: 'a', uid: 'EX-1' }, { name: 'b', uid: 'EX-2' });
  const session = createSessionOpener(service.database)(anonymous, { author: nobody });

  const kept = await updateRecord(session, asset, id, { value: { name: 'c', uid: 'EX-1' } });

  expect(kept).toMatchObject({ name: 'c', uid: 'EX-1' });
  await expect(updateRecord(session, asset, id, { value: { uid: 'EX-2' } })).rejects.toMatchObject({
    status: 409,
    message: 'uid: another asset has the uid "EX-2"',
  });
});

test('updatedBy is the user of the session', async () => {
  const [{ id }] = await service.create('/assets', { name: 'a' });
  const session = { ...createSessionOpener(service.database)(anonymous, { author: nobody }), userId: 'user-7' };

  expect(await updateRecord(session, asset, id, { value: { name: 'b' } })).toMatchObject({ updatedBy: 'user-7' });
});

test('updatedAt of a changed record is always later than before, even if the clock goes back', async () => {
  const setClock = (time: string) => vi.useFakeTimers({ toFake: ['Date'], now: new Date(time) });
  setClock('2026-03-01T12:00:00.000Z');
  const [{ id }] = await service.create('/assets', { name: 'a' });
  const session = createSessionOpener(service.database)(anonymous, { author: nobody });
  const change = async (clock: string) => {
    setClock(clock);
    return (await updateRecord(session, asset, id, { value: { name: clock } })).updatedAt;
  };

  expect(await change('2026-03-01T11:00:00.000Z')).toBe('2026-03-01T12:00:00.001Z');
  expect(await change('2026-03-01T13:00:00.000Z')).toBe('2026-03-01T13:00:00.000Z');
  expect(await change('2026-03-01T12:30:00.000Z')).toBe('2026-03-01T13:00:00.001Z');
});
