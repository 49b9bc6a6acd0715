/** Copies all records of all workspaces from one database to another, and compares what arrived with what was sent. */
import { createHash } from 'node:crypto';
import { StartError } from '../errors.ts';
import type { Table } from '../model/record-kind.ts';
import type { Database } from './database.ts';
import type { Engine, Row, Run } from './engine.ts';
import { parentsFirst } from './parents-first.ts';

/** What of a table was copied. The checksum is over all fields of all records, in the order of workspaces and ids. */
export interface CopiedTable {
  readonly table: Table;
  readonly records: number;
  /** SHA-256, in hexadecimal. */
  readonly checksum: string;
}

interface Progress {
  /** Steps there are, one for each record written and one for each compared. */
  start(total: number): void;
  step(records: number, doing: string): void;
}

/** Few, for each may hold two megabytes. */
const recordsPerPage = 100;

/**
 * Copies one state of the source, whatever is written to it meanwhile, in one transaction: all of it arrives, or
 * nothing. Holds a page of records in memory, and the ids of those that come before their parents. Throws StartError when
 * the target is not empty, or not the same in the end.
 */
export async function copyTables(
  from: Database,
  to: Database,
  tables: readonly Table[],
  progress: Progress,
): Promise<CopiedTable[]> {
  return from.snapshot(async (read) => {
    let total = 0;
    for (const table of tables) total += await count(read, table);

    const fill = async (write: Run) => {
      if (to.engine.prepareCopy) await write(to.engine.prepareCopy);
      for (const table of tables) {
        if ((await count(write, table)) > 0) {
          throw new StartError(`the target is not empty: it has ${table.label} records`);
        }
      }
      progress.start(2 * total);
      const sent: CopiedTable[] = [];
      for (const table of tables) sent.push(await copyTable(from, read, to, write, table, progress));
      for (const expected of sent) await requireSame(to, write, expected, progress);
      return sent;
    };
    return to.transaction(fill, { maxAttempts: 1 });
  });
}

async function copyTable(
  from: Database,
  run: Run,
  to: Database,
  write: Run,
  table: Table,
  progress: Progress,
): Promise<CopiedTable> {
  const digest = createDigest(table);
  async function* read(): AsyncGenerator<readonly Row[]> {
    for await (const page of pages(from.engine, run, table)) {
      digest.add(page);
      yield page;
      progress.step(page.length, `copying ${table.label} records`);
    }
  }
  const find = (workspaceId: string, ids: readonly string[]) => {
    const condition = from.engine.oneOf('id', ids);
    const values = [workspaceId, ...condition.values];
    return from.engine.select(run, table, `where workspace_id = ? and ${condition.sql}`, values);
  };
  for await (const page of parentsFirst(table, read(), find)) {
    for (const { sql, values } of to.engine.inserts(table, page)) await write(sql, values);
  }
  return digest.result();
}

async function requireSame({ engine }: Database, run: Run, expected: CopiedTable, progress: Progress): Promise<void> {
  const { table } = expected;
  const digest = createDigest(table);
  for await (const page of pages(engine, run, table)) {
    digest.add(page);
    progress.step(page.length, `comparing ${table.label} records`);
  }
  const { records, checksum } = digest.result();
  if (records === expected.records && checksum === expected.checksum) return;
  throw new StartError(`the ${table.label} records did not arrive as they were sent, so nothing was kept`);
}

async function count(run: Run, { table }: Table): Promise<number> {
  const [row] = await run(`select count(*) as count from ${table}`);
  return Number(row?.count);
}

/** All records of a table, page by page: each begins behind the last record of the one before. */
async function* pages(engine: Engine, run: Run, table: Table): AsyncGenerator<readonly Row[]> {
  const rest = `where (workspace_id, id) > (?, ?) order by workspace_id, id limit ${recordsPerPage}`;
  let last: Row = { workspaceId: '', id: '' };
  for (;;) {
    const records = await engine.select(run, table, rest, [last.workspaceId, last.id]);
    if (records.length > 0) yield records;
    if (records.length < recordsPerPage) return;
    last = records.at(-1) ?? last;
  }
}

function createDigest(table: Table) {
  const hash = createHash('sha256');
  let records = 0;
  return {
    add(page: readonly Row[]) {
      records += page.length;
      for (const record of page) hash.update(`${JSON.stringify(record)}\n`);
    },
    result: (): CopiedTable => ({ table, records, checksum: hash.digest('hex') }),
  };
}
