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

/** The result for one table. The checksum covers all fields of all records, ordered by what identifies them. */
interface CopiedTable {
  readonly table: Table;
  readonly records: number;
  readonly checksum: string;
}

interface Progress {
  /** `total` counts each record twice: once when it is written, and once when it is compared. */
  start(total: number): void;
  step(records: number, doing: string): void;
}

interface Side {
  readonly dialect: Dialect;
  readonly run: Run;
}

/** Few, because a single record may have hundreds of thousands of characters. */
const recordsPerPage = 100;

/** Copies one snapshot, all of it or nothing, a page at a time. Throws StartError if the target is not empty, or differs in the end. */
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

type Page = readonly Row[];

const textOf = ({ workspaceId, id }: Row): string => `${workspaceId} ${id}`;

/**
 * Yields the records of these pages, which are ordered by workspace and ID, with each parent before its children: databases check foreign keys
 * at each statement, and not all of them can defer the check to the end of the transaction. A parent has the greater ID if a category was
 * moved below a newer one, or if processes with different clocks created the two. A child that comes before its parent is deferred, and read
 * again after it. Only its ID is held until then: a million of them take about 400 MB.
 */
async function* parentsFirst(
  table: Table,
  pages: AsyncIterable<Page>,
  find: (workspaceId: number, ids: readonly string[]) => Promise<Page>,
): AsyncGenerator<Page> {
  const field = parentField(table);
  const deferred = new Set<string>();
  const childrenOf = new Map<string, Row[]>();

  /** Defers a record whose parent comes later, or is itself deferred. Returns whether it did. */
  function deferIfEarly({ workspaceId, id, [field ?? '']: parentId }: Row): boolean {
    if (typeof parentId !== 'string') return false;
    const [key, parent] = [{ workspaceId, id }, textOf({ workspaceId, id: parentId })];
    if (parentId <= String(id) && !deferred.has(parent)) return false;
    deferred.add(textOf(key));
    const siblings = childrenOf.get(parent);
    if (siblings) siblings.push(key);
    else childrenOf.set(parent, [key]);
    return true;
  }

  function release(records: readonly Row[]): Row[] {
    const parents: Row[] = [...records];
    for (const parent of parents) {
      const children = childrenOf.get(textOf(parent)) ?? [];
      childrenOf.delete(textOf(parent));
      for (const child of children) deferred.delete(textOf(child));
      for (const child of children) parents.push(child);
    }
    return parents.slice(records.length);
  }

  for await (const page of pages) {
    const ready = page.filter((record) => !deferIfEarly(record));
    if (ready.length > 0) yield ready;
    const released = release(ready);
    for (let start = 0, end = 0; start < released.length; start = end) {
      const workspaceId = Number(released[start]?.workspaceId);
      while (end - start < recordsPerPage && released[end]?.workspaceId === workspaceId) end += 1;
      const ids = released.slice(start, end).map(({ id }) => String(id));
      const records = new Map((await find(workspaceId, ids)).map((record) => [record.id, record]));
      yield ids.map((id) => records.get(id)).filter((record) => record !== undefined);
    }
  }
  const [first, ...others] = [...childrenOf.values()]
    .flatMap((children) => children.map(({ id }) => String(id)))
    .toSorted();
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  throw new StartError(`${table.label} records that are their own ancestors cannot be copied: ${first}${more}`);
}

const parentField = (table: Table): string | undefined =>
  Object.entries(table.storedFields).find(
    ([, field]) => field.type === 'reference' && field.mustExist && 'name' in table && field.target === table.name,
  )?.[0];
