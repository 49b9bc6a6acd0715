/** Creating records of any kind: what is returned is what is stored. */
import { expect, test } from 'vitest';
import { createSessionOpener } from '../../src/auth/authenticate.ts';
import { createRecords } from '../../src/services/create-records.ts';
import { anonymous, nobody } from '../support/open-store.ts';
import { fullRecord, kinds } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();

test.each(kinds)('a new record is stored exactly as it was returned: $kind.label', async ({ kind, smallest }) => {
  const session = { ...createSessionOpener(service.database)(anonymous, { author: nobody }), userId: 'user-7' };

  const created = await createRecords(session, kind, [
    { value: fullRecord(kind) as never },
    { value: smallest as never },
  ]);

  expect(await session.store.list(kind)).toStrictEqual(created);
});

test.each(kinds)(
  'a create stores its user in createdBy and updatedBy, if the kind has them: $kind.label',
  async ({ kind, smallest }) => {
    const session = { ...createSessionOpener(service.database)(anonymous, { author: nobody }), userId: 'user-7' };

    const [record] = await createRecords(session, kind, [{ value: smallest as never }]);

    const users = Object.entries(record ?? {}).filter(([, value]) => value === 'user-7');
    expect(users.map(([name]) => name)).toEqual(kind.stamps);
  },
);
