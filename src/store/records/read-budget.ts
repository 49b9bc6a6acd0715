/**
 * Limits the text that a request reads into memory: each record of a page may have hundreds of thousands of characters.
 * A read first reserves the most text that its records can have. If less is left, a statement measures the records, and
 * they are read only if they fit. If a write then makes them longer, the excess is deducted from the next read.
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
  /** In characters. Reads may have twice as many, because databases measure bytes. */
  readonly maxResponseLength: number;
}

export interface BoundedRead<T> {
  readonly table: Table;
  /** Linked records are read, too, unless their texts may be too long. They count for each row. */
  readonly linked?: readonly Table[];
  readonly maxRows: number;
  read(withLinked: boolean): Promise<ReadResult<T>>;
  /** In bytes, without linked records: at least the number of characters. */
  measure(): Promise<number>;
}

export interface ReadBudget {
  read<T>(read: BoundedRead<T>): Promise<T>;
}

export interface WorkspaceScope {
  readonly dialect: Dialect;
  readonly run: Run;
  readonly workspaceId: number;
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

/** Long reads take turns. `isNeeded` is false if a read is not long after all. */
export interface Turn {
  begin(isNeeded: () => Promise<boolean>): Promise<void>;
  end(): void;
}

/** In a response: enough for 1,000 linked records with a name each. */
const linkedShare = 0.4;

/** Calls `reserveResponse` with 0 before each read and the length after it. If it throws, the read fails. */
export function createReadBudget(
  limits: ReadLimits,
  reserveResponse = (_length: number) => {},
  turn?: Turn,
): ReadBudget {
  // Includes the record after a page, which shows that a next page exists.
  let left = 2 * limits.maxResponseLength + limits.maxRecordLength;
  // Reads of up to 10 million characters are short, such as 50 records with all their external IDs.
  const leftByShortReads = left - 10_000_000;
  const running = new Set<Promise<unknown>>();
  let oneAtATime: LimitFunction | undefined;

  async function readWith<T>(reserved: number, { read, measure }: BoundedRead<T>, forLinked = 0): Promise<T> {
    left -= reserved;
    let used = 0;
    try {
      if (left < leftByShortReads)
        await turn?.begin(async () => left + reserved - forLinked - (await measure()) < leftByShortReads);
      reserveResponse(0);
      const { result, length } = await read(forLinked > 0);
      used = length;
      reserveResponse(length);
      return result;
    } finally {
      left += reserved - used;
      if (left >= leftByShortReads) turn?.end();
    }
  }

  function readReserved<T>(reserved: number, bounded: BoundedRead<T>, forLinked?: number): Promise<T> | undefined {
    if (reserved > left) return undefined;
    const result = readWith(reserved, bounded, forLinked);
    const ended = result.catch(() => undefined).finally(() => running.delete(ended));
    running.add(ended);
    return result;
  }

  return {
    async read({ linked = [], ...bounded }) {
      const forRows = bounded.maxRows * maxTextLength(bounded.table, limits);
      const forLinked = linked.reduce((sum, table) => sum + bounded.maxRows * maxTextLength(table, limits), 0);
      const mayReadLinked = linked.length > 0 && forLinked <= linkedShare * limits.maxResponseLength;
      const withLinked = mayReadLinked && readReserved(forRows + forLinked, bounded, forLinked);
      const unmeasured = withLinked || readReserved(forRows, bounded);
      if (unmeasured) return unmeasured;
      oneAtATime ??= pLimit(1);
      return oneAtATime(async () => {
        await Promise.all(running);
        const rest = left;
        const read = async () => {
          if ((await bounded.measure()) > rest) throw new ResponseTooLarge(limits.maxResponseLength);
          return bounded.read(false);
        };
        return readReserved(forRows, bounded) ?? readWith(rest, { ...bounded, read });
      });
    },
  };
}

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
