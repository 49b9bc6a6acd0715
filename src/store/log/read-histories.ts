/** Reads the histories of many records of one workspace, with two statements however many there are. */
import { placeAfter } from '../../model/ids.ts';
import { requireWhole } from '../query/rows.ts';
import { rowsQuery, runQuery } from '../query/run-query.ts';
import { changes as table } from '../query/tables.ts';
import { readRows, type Scope } from '../records/read-records.ts';
import { type Change, type ChangesRow, expanded, fieldsOfChanges, rowsIn } from './read-changes.ts';

export interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
  readonly withBefore: boolean;
}

export interface HistoryReads {
  /** Returns the changes of each of the records with these IDs, of any kinds, the latest first, in the order of the IDs. */
  histories(ids: readonly string[], query: HistoryQuery): Promise<Change[][]>;
}

export function createHistoryReads(scope: Scope): HistoryReads {
  const { dialect, run, workspaceId } = scope;
  const { builder, jsonElements, jsonArrayOf } = dialect;

  /** Returns, for each record, the numbers of the rows with its changes, and of the row that may have its creation. */
  async function rowNumbers(ids: readonly string[], { before = Number.MAX_SAFE_INTEGER, limit }: HistoryQuery) {
    const rows = await runQuery(
      run,
      builder.raw(
        `select (
          select ${jsonArrayOf}(number) from (
            select number from changes where workspace_id = ? and first_id = sent.value ->> 0 and action <> 'created'
              and number < ? order by number desc limit ?
          ) as later
        ) as later, (
          select number from changes where workspace_id = ? and first_id <= sent.value ->> 0 and action = 'created'
            order by first_id desc limit 1
        ) as creation from ${jsonElements}(?) as sent`,
        [workspaceId, requireWhole(before), requireWhole(limit), workspaceId, JSON.stringify(ids.map((id) => [id]))],
      ),
    );
    return rows.map(({ later, creation }) => ({
      // Postgres aggregates no rows to null.
      later: (JSON.parse(String(later)) ?? []) as number[],
      creation: creation === null ? [] : [Number(creation)],
    }));
  }

  return {
    async histories(ids, query) {
      const { before = Number.POSITIVE_INFINITY, limit } = query;
      if (ids.length === 0) return [];
      const numbers = await rowNumbers(ids, query);
      const wanted = [...new Set(numbers.flatMap(({ later, creation }) => [...later, ...creation]))];
      if (wanted.length === 0) return ids.map(() => []);
      const rows = rowsQuery(dialect, table, workspaceId, { where: { field: 'number', in: wanted } });
      const found = rowsIn(
        await readRows(scope, table, rows, { fields: fieldsOfChanges(query), limit: wanted.length }),
      );
      const byNumber = new Map(found.map((row) => [row.number, row]));
      const rowsWith = (these: readonly number[]) => these.flatMap((number) => byNumber.get(number) ?? []);
      return ids.map((id, index) => {
        const { later = [], creation = [] } = numbers[index] ?? {};
        const changes = rowsWith(later.toSorted((a, b) => b - a)).flatMap((row) => expanded(row));
        const created = rowsWith(creation).flatMap((row) => creationIn(row, id));
        return [...changes, ...created.filter(({ number }) => number < before)].slice(0, limit);
      });
    },
  };
}

/** None if the row has only other records, because this one is older than the log. */
function creationIn(row: ChangesRow, id: string): Change[] {
  const place = placeAfter(row.firstId, id);
  return place !== undefined && place < row.records ? expanded(row, { skipped: place, limit: 1 }) : [];
}
