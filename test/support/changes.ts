/** Changes that no REST operation makes. */
import { createSessionOpener } from '../../src/auth/authenticate.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { Database } from '../../src/store/database.ts';
import { inSteps } from './insert.ts';
import { anonymous } from './open-store.ts';

/** Deletes records as a request of the user "operator" would. */
export async function deleteRecords(database: Database, kind: RecordKind, ids: readonly string[]): Promise<void> {
  const identity = { ...anonymous, userId: 'operator' };
  const author = { userId: 'operator', requestId: 'deletion', message: 'sold' };
  const session = createSessionOpener(database)(identity, { author, usage: { statements: 0 } });
  await inSteps({ write: session.writer() }, async (steps) => {
    steps.delete(kind, await steps.findToDelete(kind, ids), new Date().toISOString());
  });
}

/**
 * Writes a creation of so many records to the log, without the records: a workspace with as many changes would take minutes. They come
 * after those that there are.
 */
export async function plantCreations({ run }: Database, kind: RecordKind, records: number): Promise<void> {
  const [row] = await run('select max(number) as number from changes where workspace_id = $1', [1]);
  const number = Number(row?.number ?? 0) + records;
  await run(
    `insert into changes (workspace_id, number, kind, action, first_id, records, at)
     values (1, ${number}, '${kind.name}', 'created', '${kind.idPrefix}_01h455vb4pex5vsknk084sn02q', ${records}, '2026-03-01T00:00:00.000Z')`,
  );
  await run(
    `insert into change_numbers (workspace_id, number) values (1, ${number})
     on conflict (workspace_id) do update set number = excluded.number`,
  );
}
