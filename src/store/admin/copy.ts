import { createHash } from 'node:crypto';
import { StartError } from '../../errors.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row, Run, Statement } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { columnName } from '../query/columns.ts';
import { withComputed } from '../query/computed.ts';
import type { Dialect } from '../query/dialect.ts';
import { literally, runQuery, selectRecords } from '../query/rows.ts';
import { changeNumbers, changes, idempotencyResults, importRuns, workspaceNames } from '../query/tables.ts';
import { apiKeys } from './api-keys.ts';

/** Without idempotency keys, a request repeated on the copy would run twice. */
export const tablesToCopy = (recordKinds: readonly Table[]): readonly Table[] => [
  workspaceNames,
  ...recordKinds,
  apiKeys,
  changes,
  changeNumbers,
  importRuns,
  idempotencyResults,
];

interface CopiedTable {
  readonly table: Table;
  readonly records: number;
  readonly checksum: string;
}

interface CopyProgress {
  /** `total` counts each record twice: it is written and compared. */
  start(total: number): void;
  step(records: number, doing: string): void;
}

interface Side {
  readonly dialect: Dialect;
  readonly run: Run;
}

/** Few: a record may have hundreds of thousands of characters. */
const recordsPerPage = 100;

/** Copies one snapshot, all or nothing. Throws StartError if the target is not empty, or differs in the end. */
export async function copyTables(
  from: Database,
  to: Database,
  tables: readonly Table[],
  progress: CopyProgress,
): Promise<CopiedTable[]> {
  return from.snapshot(async (read) => {
    const source: Side = { dialect: from.dialect, run: read };
    let total = 0;
    for (const table of tables) total += await countRows(source, table);

    const fill = async (write: Run) => {
      const target: Side = { dialect: to.dialect, run: write };
      if (to.dialect.prepareCopy) await write(to.dialect.prepareCopy);
      for (const table of tables) {
        // If all others are empty, workspaces have nothing, and are replaced.
        if (table !== workspaceNames && (await countRows(target, table)) > 0) {
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
    return to.transaction(fill, { maxAttempts: 1 });
  });
}

/** Sets parents at the end: foreign keys are checked by statement, and a parent may follow its children. */
async function copyTable(source: Side, target: Side, table: Table, progress: CopyProgress): Promise<CopiedTable> {
  const parent = parentColumn(table);
  const copied = await readAll(source, table, async (page) => {
    const records = parent === undefined ? page : page.map((record) => ({ ...record, [parent]: null }));
    await runAll(target, target.dialect.inserts(table, withComputed(table, records)));
    progress.step(page.length, `copying ${table.label} records`);
  });
  if (parent !== undefined) await readAll(source, table, (page) => setParents(target, table, parent, page));
  return copied;
}

async function setParents(target: Side, table: Table, parent: string, page: readonly Row[]): Promise<void> {
  const children = page.filter((record) => record[parent] !== null);
  for (const workspaceId of new Set(children.map((record) => Number(record.workspaceId)))) {
    const ofWorkspace = children.filter((record) => record.workspaceId === workspaceId);
    await runAll(target, target.dialect.updates(table, workspaceId, ofWorkspace, new Set([parent])));
  }
}

async function requireSame(target: Side, expected: CopiedTable, progress: CopyProgress): Promise<void> {
  const { label } = expected.table;
  const { records, checksum } = await readAll(target, expected.table, async (page) =>
    progress.step(page.length, `comparing ${label} records`),
  );
  if (records === expected.records && checksum === expected.checksum) return;
  throw new StartError(`the ${label} records differ from the originals after the copy: nothing was kept`);
}

async function countRows({ dialect, run }: Side, { table }: Table): Promise<number> {
  const [row] = await runQuery(run, dialect.builder(table).count({ count: '*' }));
  return Number(row?.count);
}

async function runAll({ run }: Side, statements: Iterable<Statement>): Promise<void> {
  for (const { sql, values } of statements) await run(sql, values);
}

async function readAll(
  { dialect, run }: Side,
  table: Table,
  use: (page: readonly Row[]) => Promise<void>,
): Promise<CopiedTable> {
  const key = table.key ?? ['workspaceId', 'id'];
  const columns = key.map(columnName);
  const hash = createHash('sha256');
  let records = 0;
  let last: Row | undefined;
  for (;;) {
    const rows = dialect.builder(table.table).orderBy(columns).limit(recordsPerPage, literally);
    if (last) {
      const position = key.map((field) => last?.[field] as string | number);
      rows.whereRaw(`(${columns.join(', ')}) > (${key.map(() => '?').join(', ')})`, position);
    }
    const page: readonly Row[] = await selectRecords({ dialect, run }, table, rows);
    for (const record of page) hash.update(`${JSON.stringify(record)}\n`);
    records += page.length;
    if (page.length > 0) await use(page);
    if (page.length < recordsPerPage) return { table, records, checksum: hash.digest('hex') };
    last = page.at(-1);
  }
}

const parentColumn = (table: Table): string | undefined =>
  Object.entries(table.storedFields).find(
    ([, field]) => field.type === 'reference' && field.mustExist && 'name' in table && field.target === table.name,
  )?.[0];
