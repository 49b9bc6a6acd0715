/**
 * Limits the text that one request may read into memory. A page has a limited number of records, but a single record may have hundreds of thousands of characters: so each read first
 * reserves the most text that its records can have. If less than that is left, a statement of its own measures the records, which are read
 * only if they are not too long. Between these two statements others may write longer records, or delete those before them on the page. That
 * takes a write at this very moment, the records remain as few, each of limited length, and they count like all others: what exceeds the
 * budget is missing to the next read.
 */
import type { Knex } from 'knex';
import pLimit, { type LimitFunction } from 'p-limit';
import { ResponseTooLarge } from '../../errors.ts';
import { textLengthOfAll } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf, type ValueLimits } from '../../model/schemas.ts';
import type { Run } from '../connections/driver.ts';
import { tableColumns } from '../query/columns.ts';
import type { Dialect } from '../query/dialect.ts';
import { runQuery } from '../query/rows.ts';

export interface ReadLimits extends ValueLimits {
  /** Characters of text in a response. Reads for it may have twice as many, because the database measures text in bytes. */
  readonly maxResponseLength: number;
}

export interface BoundedRead<T> {
  readonly table: Table;
  /** What is read together with the rows, unless its texts may be too long: a record counts once for each row that links to it. */
  readonly linked?: readonly Table[];
  readonly maxRows: number;
  read(withLinked: boolean): Promise<ReadResult<T>>;
  /** Returns the bytes of the texts that `read` would read without what is linked: at least as many as they have characters. */
  measure(): Promise<number>;
}

export interface ReadBudget {
  /** Reads within the budget. Throws ResponseTooLarge. */
  read<T>(read: BoundedRead<T>): Promise<T>;
}

/** What statements on one workspace need. */
export interface WorkspaceScope {
  readonly dialect: Dialect;
  readonly run: Run;
  readonly workspaceId: number;
  /** The name of the workspace, which records have as its ID. */
  readonly workspaceName: string;
  readonly budget?: ReadBudget | undefined;
}

export const readBounded = async <T>({ budget }: WorkspaceScope, bounded: BoundedRead<T>): Promise<T> =>
  budget ? budget.read(bounded) : (await bounded.read(false)).result;

export interface ReadResult<T> {
  readonly result: T;
  readonly length: number;
}

export const withLength = <T extends readonly object[]>(rows: T): ReadResult<T> => ({
  result: rows,
  length: textLengthOfAll(rows),
});

/** What may read more than a page of 50 records can have with all their external IDs takes a turn, unless others have it and it `isNeeded` not. */
export interface Turn {
  begin(isNeeded: () => Promise<boolean>): Promise<void>;
  end(): void;
}

/** The part of a response's text that linked records may have to be read with their rows: enough for a page of 1,000 with a name each. */
const linkedPart = 0.4;

/** `hold` gets the length of all that it reads, and 0 before each read, which does not begin if it throws. */
export function createReadBudget(limits: ReadLimits, hold = (_length: number) => {}, turn?: Turn): ReadBudget {
  // In characters. A page reads one record more than it shows, to know whether others follow.
  let left = 2 * limits.maxResponseLength + limits.maxRecordLength;
  const longAt = left - 10_000_000;
  /** Reads whose reservation was within the budget, and which may still give back a part of it. */
  const running = new Set<Promise<unknown>>();
  /** Made when it is first needed: most responses never need it. */
  let oneAtATime: LimitFunction | undefined;

  /** Runs a read for which `reserved` is taken from the budget, and gives back what it does not need. */
  async function readWith<T>(reserved: number, { read, measure }: BoundedRead<T>, ofLinked = 0): Promise<T> {
    left -= reserved;
    let used = 0;
    try {
      if (left < longAt) await turn?.begin(async () => left + reserved - ofLinked - (await measure()) < longAt);
      hold(0);
      const { result, length } = await read(ofLinked > 0);
      used = length;
      hold(length);
      return result;
    } finally {
      left += reserved - used;
      if (left >= longAt) turn?.end();
    }
  }

  function readReserved<T>(reserved: number, bounded: BoundedRead<T>, ofLinked?: number): Promise<T> | undefined {
    if (reserved > left) return undefined;
    const result = readWith(reserved, bounded, ofLinked);
    const ended = result.catch(() => undefined).finally(() => running.delete(ended));
    running.add(ended);
    return result;
  }

  return {
    async read({ linked = [], ...bounded }) {
      const most = bounded.maxRows * maxTextLength(bounded.table, limits);
      const ofLinked = linked.reduce((sum, other) => sum + bounded.maxRows * maxTextLength(other, limits), 0);
      const isShort = linked.length > 0 && ofLinked <= linkedPart * limits.maxResponseLength;
      const unmeasured = (isShort && readReserved(most + ofLinked, bounded, ofLinked)) || readReserved(most, bounded);
      if (unmeasured) return unmeasured;
      oneAtATime ??= pLimit(1);
      return oneAtATime(async () => {
        await Promise.all(running);
        const all = left;
        const read = async () => {
          if ((await bounded.measure()) > all) throw new ResponseTooLarge(limits.maxResponseLength);
          return bounded.read(false);
        };
        return readReserved(most, bounded) ?? readWith(all, { ...bounded, read });
      });
    },
  };
}

/** Returns the bytes of the texts of rows, which are not read. */
export async function measureRows(dialect: Dialect, run: Run, table: Table, rows: Knex.QueryBuilder): Promise<number> {
  const { builder } = dialect;
  const measured = rows.clone().select(builder.raw(`${bytesSql(dialect, table)} as bytes`));
  const [row] = await runQuery(run, builder.from(measured.as('page')).select(builder.raw(sumOfBytes)));
  return Number(row?.bytes);
}

export const sumOfBytes = 'coalesce(sum(bytes), 0) as bytes';

function maxTextLength(table: Table, limits: ReadLimits, { maxRecordLength, maxExternalIds } = limits): number {
  let length = 0;
  for (const field of Object.values(table.storedFields)) {
    if (field.type === 'json') length += maxRecordLength;
    else if (field.type === 'externalIds')
      length += Math.min(maxRecordLength, 2 * maxExternalIds * maxLengthOf(field, limits));
    else length += field.type === 'text' ? maxLengthOf(field, limits) : maxIdentifierLength;
  }
  return length;
}

export const bytesSql = (dialect: Pick<Dialect, 'byteLength'>, table: Table): string =>
  ['0', ...textColumnsOf(table).map(({ name }) => `coalesce(${dialect.byteLength(name)}, 0)`)].join(' + ');

const textColumnsOf = (table: Table) =>
  tableColumns(table).filter(({ type }) => !['number', 'boolean', 'dateTime', 'workspace'].includes(type));
