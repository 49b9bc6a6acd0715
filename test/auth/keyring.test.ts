/** The lookup of keys: the number of statements, and caching. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKey, createKeyring, revokeKey } from '../../src/auth/keys.ts';
import type { ServiceError } from '../../src/errors.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import type { Database } from '../../src/store/database.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;
/** The values of each lookup that was sent. */
let lookups: string[];
/** The number of lookups that run now, and the most that have run at once. */
let concurrent: { now: number; most: number };

beforeEach(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  lookups = [];
  concurrent = { now: 0, most: 0 };
  return own.close;
});

afterEach(async () => {
  vi.restoreAllMocks();
});

/** A keyring on the database that notes its lookups. */
const keyring = () => {
  const read: Run = async (sql, values) => {
    if (!sql.startsWith('select') || !sql.includes('from api_keys inner join')) return database.read(sql, values);
    lookups.push(JSON.stringify(values));
    concurrent.now += 1;
    concurrent.most = Math.max(concurrent.most, concurrent.now);
    try {
      return await database.read(sql, values);
    } finally {
      concurrent.now -= 1;
    }
  };
  return createKeyring({ ...database, read });
};

const newKey = async (workspace = 'acme') =>
  (await createKey(createKeyStore(database), { workspace, user: 'erp', readOnly: false })).text;

const unknown = (index: number, workspace = 'acme') =>
  `yardgraph_${workspace}_${index.toString(16).padStart(8, '0')}_${'x'.repeat(43)}`;

/** The number of keys that a lookup requests. */
const sizeOf = (lookup: string) => lookup.match(/yardgraph_/g)?.length;

const outcomeOf = (login: Promise<{ workspace: { name: string } }>) =>
  login.then(
    ({ workspace }) => workspace.name,
    (error: ServiceError) => error.status,
  );

test('a key is looked up once, and not again for two seconds', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1);
  const { identify } = keyring();
  const key = await newKey();

  await Promise.all(Array.from({ length: 50 }, () => identify(key)));
  await identify(key);
  await expect(identify(unknown(1))).rejects.toThrow('the API key is not valid');
  await expect(identify(unknown(1))).rejects.toThrow('the API key is not valid');
  expect(lookups.map(sizeOf)).toEqual([1, 1]);

  await revokeKey(createKeyStore(database), key.slice(0, -44));
  clock.mockReturnValue(2_002);
  // The cache reads the clock at most once per millisecond.
  await new Promise((resolve) => setTimeout(resolve, 5));

  await expect(identify(key)).rejects.toThrow('the API key is not valid');
});

test('unknown keys do not evict a valid one from the cache, however many there are', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(1);
  const { identify } = keyring();
  const key = await newKey();
  await identify(key);

  await Promise.all(Array.from({ length: 10_500 }, (_, index) => outcomeOf(identify(unknown(index)))));
  lookups = [];
  await identify(key);

  expect(lookups).toEqual([]);
});
