/** The lookup of keys: the number of statements, and caching. */
import { beforeEach, expect, test, vi } from 'vitest';
import { Keyring } from '../../src/auth/keyring.ts';
import { createKey, revokeKey } from '../../src/auth/keys.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();
/** The number of lookups that were sent. */
let lookups = 0;

beforeEach(() => {
  lookups = 0;
  vi.restoreAllMocks();
});

const createKeyring = () => {
  const read: Run = async (sql, values) => {
    if (sql.includes('from api_keys inner join')) lookups += 1;
    return database.read(sql, values);
  };
  return new Keyring({ ...database, read });
};

const newKey = async () =>
  (await createKey(createKeyStore(database), { workspace: 'acme', user: 'erp', readOnly: false })).text;

const unknown = (index: number) => `yardgraph_acme_${index.toString(16).padStart(8, '0')}_${'x'.repeat(43)}`;

test('a key is looked up once, and not again for two seconds', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1);
  const keyring = createKeyring();
  const key = await newKey();

  await Promise.all(Array.from({ length: 50 }, () => keyring.authenticate(key)));
  await keyring.authenticate(key);
  await expect(keyring.authenticate(unknown(1))).rejects.toThrow('the API key is not valid');
  await expect(keyring.authenticate(unknown(1))).rejects.toThrow('the API key is not valid');
  expect(lookups).toBe(2);

  await revokeKey(createKeyStore(database), key.slice(0, -44));
  clock.mockReturnValue(2_002);
  // The cache reads the clock at most once per millisecond.
  await new Promise((resolve) => setTimeout(resolve, 5));

  await expect(keyring.authenticate(key)).rejects.toThrow('the API key is not valid');
});

test('unknown keys do not evict a valid one from the cache, however many there are', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(1);
  const keyring = createKeyring();
  const key = await newKey();
  await keyring.authenticate(key);

  await Promise.all(Array.from({ length: 10_500 }, (_, index) => keyring.authenticate(unknown(index)).catch(() => {})));
  lookups = 0;
  await keyring.authenticate(key);

  expect(lookups).toBe(0);
});
