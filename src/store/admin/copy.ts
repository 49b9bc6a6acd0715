/** Copies all records of all workspaces, and their log, from one database to another, and compares the copies with the originals. */

import { createHash } from 'node:crypto';
import { StartError } from '../../errors.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row, Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { columnName } from '../query/columns.ts';
import { type Dialect, selectRecords } from '../query/dialect.ts';
import { literally, rowsQuery, runQuery } from '../query/run-query.ts';
import { workspaceNames } from '../query/tables.ts';
import { parentsFirst } from './parents-first.ts';

/** The result for one table. The checksum covers all fields of all records, ordered by what identifies them. */
interface CopiedTable {
  readonly table: Table;
  readonly records: number;
  /** SHA-256, in hexadecimal. */
  readonly checksum: string;
}

interface Progress {
  /** `total` counts each record twice: once when it is written, and once when it is compared. */
  start(total: number): void;
  step(records: number, doing: string): void;
}

/** One of the two databases, in a transaction. */
interface Side {
  readonly dialect: Dialect;
  readonly run: Run;
}

/** Few, because a single record may have hundreds of thousands of characters. */
const recordsPerPage = 100;

/**
 * Copies a consistent snapshot of the source in one transaction: the target receives all of it, or nothing. Holds one page
 * of records in memory, and the IDs of records that precede their parents. Throws StartError if the target is not empty, or
 * if its records differ from the source's in the end.
 */
export async function copyTables(
  from: Database,
  to: Database,
  tables: readonly Table[],
  progress: Progress,
): Promise<CopiedTable[]> {
  return from.snapshot(async (read) => {
    const source: Side = { dialect: from.dialect, run: read };
    let total = 0;
    for (const table of tables) total += await count(source, table);

    const fill = async (write: Run) => {
      const target: Side = { dialect: to.dialect, run: write };
      if (to.dialect.prepareCopy) await write(to.dialect.prepareCopy);
      for (const table of tables) {
        // If all other tables are empty, so are the target's workspaces, which are replaced.
        if (table !== workspaceNames && (await count(target, table)) > 0) {
          throw new StartError(`the target is not empty: it has ${table.label} records`);
        }
      }
      await runQuery(write, to.dialect.builder(workspaceNames.table).delete());
      progress.start(2 * total);
      const copied: CopiedTable[] = [];
      for (const table of tables) copied.push(await copyTable(source, target, table, progress));
      for (const expected of copied) await requireSame(target, expected, progress);
      if (to.dialect.finishCopy) await write(to.dialect.finishCopy);
      return copied;
    };
    return to.transaction(fill, 1);
  });
}

async function copyTable(source: Side, target: Side, table: Table, progress: Progress): Promise<CopiedTable> {
  const digest = createDigest(table);
  async function* read(): AsyncGenerator<readonly Row[]> {
    for await (const page of pages(source, table)) {
      digest.add(page);
      yield page;
      progress.step(page.length, `copying ${table.label} records`);
    }
  }
  const find = (workspaceId: number, ids: readonly string[]) => {
    const rows = rowsQuery(source.dialect, table, workspaceId, { where: { field: 'id', in: ids } });
    return selectRecords(source.dialect, source.run, table, rows);
  };
  for await (const page of parentsFirst(table, read(), find)) {
    for (const { sql, values } of target.dialect.inserts(table, page)) await target.run(sql, values);
  }
  return digest.result();
}

async function requireSame(target: Side, expected: CopiedTable, progress: Progress): Promise<void> {
  const { table } = expected;
  const digest = createDigest(table);
  for await (const page of pages(target, table)) {
    digest.add(page);
    progress.step(page.length, `comparing ${table.label} records`);
  }
  const { records, checksum } = digest.result();
  if (records === expected.records && checksum === expected.checksum) return;
  throw new StartError(`the ${table.label} records differ from the originals after the copy: nothing was kept`);
}

async function count({ dialect, run }: Side, { table }: Table): Promise<number> {
  const [row] = await runQuery(run, dialect.builder(table).count({ count: '*' }));
  return Number(row?.count);
}

/** Yields all records of a table, page by page. Each page begins after the last record of the previous one. */
async function* pages({ dialect, run }: Side, table: Table): AsyncGenerator<readonly Row[]> {
  const key = table.key ?? ['workspaceId', 'id'];
  const columns = key.map(columnName);
  let last: Row | undefined;
  for (;;) {
    const rows = dialect.builder(table.table).orderBy(columns).limit(recordsPerPage, literally);
    if (last) {
      const position = key.map((field) => last?.[field] as string | number);
      rows.whereRaw(`(${columns.join(', ')}) > (${key.map(() => '?').join(', ')})`, position);
    }
    const records: readonly Row[] = await selectRecords(dialect, run, table, rows);
    if (records.length > 0) yield records;
    if (records.length < recordsPerPage) return;
    last = records.at(-1);
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
