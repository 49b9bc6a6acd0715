/** What the error of a rejected batch says of all its issues, listed or not. */
import { expect, test } from 'vitest';
import type { ValidationIssue } from '../../src/model/issues.ts';
import { asset } from '../../src/records/index.ts';
import { createItem } from '../../src/services/item.ts';
import { createSession, write } from '../../src/services/write.ts';
import { storeOpener } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();

const taken: ValidationIssue = { path: ['uid'], code: 'taken', kind: 'asset', by: { field: 'uid' }, text: 'C-7' };
const readOnly: ValidationIssue = { path: ['id'], code: 'read-only' };

test.each([
  [409, 'all issues are conflicts', taken],
  [400, 'one issue is none', readOnly],
])('a batch of more issues than are listed gets %d if %s', async (status, _, last) => {
  const items = Array.from({ length: 10_001 }, (_, index) => createItem('create', asset, [index], { value: {} }));
  for (const { issues } of items) issues.push(taken);
  items.at(-1)?.issues.push(last);
  const written = write(createSession(storeOpener(database)('ours'), { userId: null, mayWrite: true }), items);
  await expect(written).rejects.toMatchObject({ status, message: expect.stringMatching(/; and 9992 more$/) });
});
