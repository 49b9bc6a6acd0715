/** Texts with a meaning in SQL or JSON are stored exactly, however they reach the database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreateOf, RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import { recordKinds } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createStoreOpener, type WorkspaceStore } from '../../src/store/workspace-store.ts';
import { createDatabase } from '../support/database.ts';
import { change, inSteps, insert, withKey } from '../support/insert.ts';
import { workspaceNamed } from '../support/open-store.ts';

const texts = [
  "'",
  "''); drop table assets; --",
  '?',
  '$1',
  '\\',
  '"',
  '\\u0027',
  ';',
  '/* */ --',
  'begin immediate;',
  'a\u2028b\u2029c',
  '\u{1F3D7}\u{FEFF}',
  '\n\r\t\u0001',
  '%s %d {0}',
].map((text) => `${text} O'Neill? $1; commit; -- ${text}`);

let database: Database;
let remove: () => Promise<void>;
let open: (message: string) => WorkspaceStore;

beforeAll(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
  const openStore = createStoreOpener(database);
  open = (message) => openStore(workspaceNamed('acme'), { author: { userId: message, requestId: message, message } });
});

afterAll(async () => {
  await database.close();
  await remove();
});

let last = 0;

/** Input with the text in every field that can have it. Unique ones differ. */
function inputWith<K extends RecordKind>(kind: K, text: string): CreateOf<K> {
  last += 1;
  const values = Object.entries(kind.fields).flatMap(([name, field]) => {
    if (field.type === 'externalIds') return [[name, { [text]: text, erp: "'" }]];
    if (field.type === 'reference' && field.mustExist) return [];
    const isText = field.type === 'text' || field.type === 'reference' || field.type === 'foreignReference';
    return isText ? [[name, field.type === 'text' && field.unique ? `${text} ${last}` : text]] : [];
  });
  return Object.fromEntries(values) as CreateOf<K>;
}

const found = async (store: WorkspaceStore, kind: RecordKind, id: string) => (await store.find(kind, [id]))[0];

describe.each(recordKinds.map((kind) => [kind.label, kind] as const))(
  'every field of the %s stores and finds',
  (_, kind) => {
    test.each(texts)('%j', async (text) => {
      const store = open(text);
      const key = { operation: text, key: text, requestHash: text };

      const input = inputWith(kind, text);
      const sent: string[] = [];
      const record = ({ sql }: { sql: string }) => sent.push(sql);
      database.knex.on('query', record);
      const [alone] = await insert(withKey(store, { ...key, key: `${kind.name} ${text}` }), kind, [input]);
      database.knex.removeListener('query', record);
      // If it failed, it would be tried in other statements.
      expect(sent).toHaveLength(1);
      const second = inputWith(kind, text);
      const [inTransaction] = await inSteps(store, async (steps) => steps.add(kind, [second, inputWith(kind, text)]));
      const third = inputWith(kind, text);
      await change(store, kind, String(alone?.id), third as Partial<RecordOf<RecordKind>>);

      expect(await found(store, kind, String(alone?.id))).toMatchObject(third);
      expect(await found(store, kind, String(inTransaction?.id))).toMatchObject(second);
      const number = await store.lastChange();
      const [changed] = await store.changes({ after: number - 1, limit: 1, withBefore: true });
      expect(changed).toMatchObject({ userId: text, requestId: text, message: text, before: input });
    });
  },
);
