/** Copies all records of all workspaces from one database to another, and compares what arrived with what was sent. */
import { createHash } from 'node:crypto';
import { StartError } from '../errors.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { columnList, recordOf } from './columns.ts';
import type { Run } from './connections.ts';
import type { Database } from './database.ts';
import type { Row } from './engine.ts';

/** What of a kind was copied. The checksum is over all fields of all records, in the order of workspaces and ids. */
export interface CopiedKind {
  readonly kind: RecordKind;
  readonly records: number;
  /** SHA-256, in hexadecimal. */
  readonly checksum: string;
}

interface Progress {
  /** Steps there are, one for each record written and one for each compared. */
  start(total: number): void;
  step(records: number, doing: string): void;
}

const recordsPerPage = 2_000;

/**
 * Copies one state of the source, whatever is written to it meanwhile, in one transaction: all of it arrives, or
 * nothing. Holds a page of records in memory. Throws StartError when the target is not empty, or not the same in the end.
 */
export async function copyRecords(
  from: Database,
  to: Database,
  kinds: readonly RecordKind[],
  progress: Progress,
): Promise<CopiedKind[]> {
  return from.snapshot((read) =>
    to.transaction(async (write) => {
      for (const kind of kinds) {
        if ((await count(write, kind)) > 0)
          throw new StartError(`the target is not empty: it has ${kind.label} records`);
      }
      let total = 0;
      for (const kind of kinds) total += await count(read, kind);
      progress.start(2 * total);

      await write(to.engine.deferForeignKeys);
      const sent: CopiedKind[] = [];
      for (const kind of kinds) sent.push(await copyKind(read, write, to, kind, progress));
      for (const expected of sent) await requireSame(write, expected, progress);
      return sent;
    }),
  );
}

async function copyKind(
  read: Run,
  write: Run,
  to: Database,
  kind: RecordKind,
  progress: Progress,
): Promise<CopiedKind> {
  const digest = createDigest(kind);
  for await (const page of pages(read, kind)) {
    for (const { sql, values } of to.engine.inserts(kind, page)) await write(sql, values);
    digest.add(page);
    progress.step(page.length, `copying ${kind.label} records`);
  }
  return digest.result();
}

async function requireSame(run: Run, expected: CopiedKind, progress: Progress): Promise<void> {
  const { kind } = expected;
  const digest = createDigest(kind);
  for await (const page of pages(run, kind)) {
    digest.add(page);
    progress.step(page.length, `comparing ${kind.label} records`);
  }
  const { records, checksum } = digest.result();
  if (records === expected.records && checksum === expected.checksum) return;
  throw new StartError(`the ${kind.label} records did not arrive as they were sent, so nothing was kept`);
}

async function count(run: Run, { table }: RecordKind): Promise<number> {
  const [row] = await run(`select count(*) as count from ${table}`);
  return Number(row?.count);
}

/** All records of a kind, page by page: each begins behind the last record of the one before. */
async function* pages(run: Run, kind: RecordKind): AsyncGenerator<readonly Row[]> {
  const sql = `select ${columnList(kind)} from ${kind.table} where (workspace_id, id) > (?, ?)
    order by workspace_id, id limit ${recordsPerPage}`;
  let last: Row = { workspaceId: '', id: '' };
  for (;;) {
    const records: Row[] = (await run(sql, [last.workspaceId, last.id])).map((row) => recordOf(kind, row));
    if (records.length > 0) yield records;
    if (records.length < recordsPerPage) return;
    last = records.at(-1) ?? last;
  }
}

function createDigest(kind: RecordKind) {
  const hash = createHash('sha256');
  let records = 0;
  return {
    add(page: readonly Row[]) {
      records += page.length;
      for (const record of page) hash.update(`${JSON.stringify(record)}\n`);
    },
    result: (): CopiedKind => ({ kind, records, checksum: hash.digest('hex') }),
  };
}
