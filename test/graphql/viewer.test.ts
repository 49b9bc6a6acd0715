/** The query `viewer`: who asks, whatever others have asked in the same words. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const query = '{ viewer { workspace { id } user { id } mayWrite } }';

describe('the viewer', () => {
  const open = useSharedService();
  const closed = useSharedService({}, { closed: true });

  test('is nobody in particular where no key is needed', async () => {
    expect(await open.data(query)).toEqual({ viewer: { workspace: { id: 'default' }, user: null, mayWrite: true } });
  });

  test('is the user of the key, also when another of the workspace has just asked the same', async () => {
    const [writer, reader, other] = await Promise.all([
      closed.key({ user: 'anna' }),
      closed.key({ user: 'anna', readOnly: true }),
      closed.key({ user: 'ben' }),
    ]);
    const ask = async (key: string) => (await closed.as(key).data(query)).viewer;
    for (let round = 0; round < 3; round += 1) {
      expect(await ask(writer)).toEqual({ workspace: { id: 'acme' }, user: { id: 'anna' }, mayWrite: true });
      expect(await ask(reader)).toMatchObject({ user: { id: 'anna' }, mayWrite: false });
      expect(await ask(other)).toMatchObject({ user: { id: 'ben' }, mayWrite: true });
    }
  });
});
