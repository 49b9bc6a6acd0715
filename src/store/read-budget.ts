/**
 * How much text one request may bring into memory. A page has at most so many records, but a single one of them may hold
 * millions of characters: what a read can bring at most is reserved first, and one that there may be no room for is left to
 * the database, which finds nothing where there would be too much.
 */
import pLimit from 'p-limit';
import { ResponseTooLarge } from '../errors.ts';
import { textLength } from '../model/fields.ts';
import type { Table } from '../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf, type ValueLimits } from '../model/schemas.ts';
import { columnsOf } from './columns.ts';
import type { Engine, Row, Run } from './engine.ts';

export interface ReadLimits extends ValueLimits {
  /** Characters of text in a response. What is read for it may have twice as many bytes: some languages need them. */
  readonly maxResponseLength: number;
}

/** `rest` follows the table's name, and finds no more than `most` records. */
interface Selection {
  readonly table: Table;
  readonly rest: string;
  readonly values: readonly unknown[];
  readonly most: number;
}

/** Throws ResponseTooLarge. */
export type BudgetedSelect = (run: Run, selection: Selection) => Promise<Row[]>;

/** The selects of one request. */
export function createReadBudget(engine: Engine, limits: ReadLimits): BudgetedSelect {
  // A page reads one record more than it shows, to know whether others follow.
  let left = 2 * limits.maxResponseLength + limits.maxRecordLength;
  /** Reads with room for all they could bring; what they did bring is only counted when there is not enough left. */
  let uncounted: { readonly reserved: number; readonly rows: Promise<readonly Row[]> }[] = [];
  const oneAtATime = pLimit(1);

  async function returnUnused(): Promise<void> {
    const reads = uncounted;
    uncounted = [];
    for (const { reserved, rows } of reads) left += reserved - lengthOf(await rows.catch(() => []));
  }

  return async (run, selection) => {
    const { table, rest, values, most } = selection;
    const reserved = most * maxTextLength(table, limits);
    const readAll = () => {
      left -= reserved;
      const rows = engine.select(run, table, rest, values, true);
      uncounted.push({ reserved, rows });
      return rows;
    };
    if (reserved <= left) return readAll();
    return oneAtATime(async () => {
      await returnUnused();
      if (reserved <= left) return readAll();
      const maxBytes = left;
      left = 0;
      let rows: Row[] | undefined;
      try {
        rows = await selectWithin(engine, run, selection, maxBytes);
      } finally {
        left = maxBytes - lengthOf(rows ?? []);
      }
      if (!rows) throw new ResponseTooLarge(limits.maxResponseLength);
      return rows;
    });
  };
}

/** Undefined when the texts of the records have more bytes than that. One statement, unless it finds nothing. */
async function selectWithin(
  engine: Engine,
  run: Run,
  { table, rest, values, most }: Selection,
  maxBytes: number,
): Promise<Row[] | undefined> {
  const bytesOfRow = ['0', ...textColumnsOf(table).map(({ name }) => `coalesce(${engine.byteLength(name)}, 0)`)].join(
    ' + ',
  );
  const total = `select coalesce(sum(bytes), 0) as total from (select ${bytesOfRow} as bytes from ${table.table} ${rest}) as page`;
  const rows = await engine.select(
    run,
    table,
    `where (${total}) <= ? and ${rest.replace(/^where /, '')}`,
    [...values, maxBytes, ...values],
    true,
  );
  if (rows.length > 0) return rows;
  const [row] = await run(total, values);
  const bytes = Number(row?.total);
  if (bytes > maxBytes) return undefined;
  // Every record has an ID. Where there are some now, they have become shorter since the first statement.
  return bytes === 0 ? rows : selectWithin(engine, run, { table, rest, values, most }, maxBytes);
}

const textColumnsOf = (table: Table) =>
  columnsOf(table).filter(({ type }) => !['number', 'boolean', 'dateTime'].includes(type));

/** Characters that the texts of a record can have. */
function maxTextLength(table: Table, limits: ReadLimits): number {
  let length = 0;
  for (const field of Object.values(table.storedFields)) {
    if (field.type === 'externalIds') length += limits.maxRecordLength;
    else length += field.type === 'text' ? maxLengthOf(field, limits) : maxIdentifierLength;
  }
  return length;
}

function lengthOf(rows: readonly Row[]): number {
  let length = 0;
  for (const row of rows) for (const value of Object.values(row)) length += textLength(value);
  return length;
}
