/**
 * Limits the text that one request may read into memory. A page has a limited number of records, but a single record may have
 * millions of characters: so each read first reserves the most text that its records can have. If less than that is left, the
 * database measures the records, and returns none of them if they are too long.
 */
import type { Knex } from 'knex';
import pLimit from 'p-limit';
import { ResponseTooLarge } from '../errors.ts';
import { textLengthOfAll } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf, type ValueLimits } from '../model/schemas.ts';
import { columnsOf } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Run } from './driver.ts';
import { runQuery } from './query.ts';

export interface ReadLimits extends ValueLimits {
  /** Characters of text in a response. Reads for it may have twice as many, because the database measures text in bytes. */
  readonly maxResponseLength: number;
}

/** A query for at most `maxRows` rows of a table. */
interface Selection {
  readonly table: Table;
  readonly rows: Knex.QueryBuilder;
  readonly maxRows: number;
}

/** For all reads of one request, which share its budget. */
export interface ReadBudget {
  /** Reads records within the budget. Throws ResponseTooLarge. */
  select(run: Run, selection: Selection): Promise<Row[]>;
  /**
   * Runs a read of at most `maxRows` rows that each have the texts of all these tables, unless these texts may be beyond the budget:
   * then nothing is read. `recordsIn` returns all records that were read.
   */
  readIfShort<T>(
    read: () => Promise<T>,
    extent: { readonly tables: readonly Table[]; readonly maxRows: number },
    recordsIn: (result: T) => readonly Row[],
  ): Promise<T> | undefined;
}

export function createReadBudget(dialect: Dialect, limits: ReadLimits): ReadBudget {
  // In characters. A page reads one record more than it shows, to know whether others follow.
  let left = 2 * limits.maxResponseLength + limits.maxRecordLength;
  /** Reads whose reservation was within the budget. Their texts are only counted when another reservation is not. */
  let uncounted: { readonly reserved: number; readonly countTexts: () => Promise<number> }[] = [];
  const oneAtATime = pLimit(1);

  async function returnUnused(): Promise<void> {
    const reads = uncounted;
    uncounted = [];
    for (const { reserved, countTexts } of reads) left += reserved - (await countTexts());
  }

  function readReserved<T>(
    reserved: number,
    read: () => Promise<T>,
    recordsIn: (result: T) => readonly Row[],
  ): Promise<T> {
    left -= reserved;
    const result = read();
    const countTexts = () => result.then((read) => textLengthOfAll(recordsIn(read))).catch(() => 0);
    uncounted.push({ reserved, countTexts });
    return result;
  }

  async function select(run: Run, selection: Selection): Promise<Row[]> {
    const { table, rows, maxRows } = selection;
    const reserved = maxRows * maxTextLength(table, limits);
    const readAll = () =>
      readReserved(
        reserved,
        () => dialect.select(run, table, rows, true),
        (records) => records,
      );
    if (reserved <= left) return readAll();
    return oneAtATime(async () => {
      await returnUnused();
      if (reserved <= left) return readAll();
      // A text has at least as many bytes as characters, so what passes is within the budget.
      const maxBytes = left;
      left = 0;
      let records: Row[] | undefined;
      try {
        records = await selectWithin(dialect, run, selection, maxBytes);
      } finally {
        left = maxBytes - textLengthOfAll(records ?? []);
      }
      if (!records) throw new ResponseTooLarge(limits.maxResponseLength);
      return records;
    });
  }

  return {
    select,
    readIfShort(read, { tables, maxRows }, recordsIn) {
      let reserved = 0;
      for (const table of tables) reserved += maxRows * maxTextLength(table, limits);
      return reserved <= left ? readReserved(reserved, read, recordsIn) : undefined;
    },
  };
}

/** Returns undefined if the texts of the records have more than `maxBytes`. Runs one statement, unless that finds nothing. */
async function selectWithin(
  dialect: Dialect,
  run: Run,
  { table, rows, maxRows }: Selection,
  maxBytes: number,
): Promise<Row[] | undefined> {
  const { builder } = dialect;
  const lengths = textColumnsOf(table).map(({ name }) => `coalesce(${dialect.byteLength(name)}, 0)`);
  const page = rows.clone().select(builder.raw(`${['0', ...lengths].join(' + ')} as bytes`));
  const total = builder.from(page.as('page')).select(builder.raw('coalesce(sum(bytes), 0) as total'));
  const records = await dialect.select(run, table, rows.clone().whereRaw('? <= ?', [total, maxBytes]), true);
  if (records.length > 0) return records;
  const [row] = await runQuery(run, total);
  const bytes = Number(row?.total);
  if (bytes > maxBytes) return undefined;
  // Every record has an ID, so 0 means that there are no records. Otherwise they have become shorter since the first statement.
  return bytes === 0 ? records : selectWithin(dialect, run, { table, rows, maxRows }, maxBytes);
}

const textColumnsOf = (table: Table) =>
  columnsOf(table).filter(({ type }) => !['number', 'boolean', 'dateTime'].includes(type));

/** The most characters that the texts of a record can have. */
function maxTextLength(table: Table, limits: ReadLimits): number {
  let length = 0;
  for (const field of Object.values(table.storedFields)) {
    if (field.type === 'externalIds') length += limits.maxRecordLength;
    else length += field.type === 'text' ? maxLengthOf(field, limits) : maxIdentifierLength;
  }
  return length;
}
