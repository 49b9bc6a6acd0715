/** Finds the records of one workspace that have given values: thousands of values in one statement, each looked up in an index. */
import type { Knex } from 'knex';
import type { ExternalId } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { columnName } from '../query/columns.ts';
import { rowsQuery, runQuery } from '../query/run-query.ts';
import type { Scope } from '../records/read-records.ts';

/** The most records that are found for one value: a caller that looks for one needs no more to see that there are several. */
export const maxMatches = 4;

type Matches = readonly (readonly string[])[];

export interface RecordMatches {
  findByText(kind: RecordKind, field: string, texts: readonly string[]): Promise<Matches>;
  findByExternalId(kind: RecordKind, externalIds: readonly ExternalId[]): Promise<Matches>;
}

export function createRecordMatches({ dialect, run, workspaceId }: Scope): RecordMatches {
  const { builder, jsonElements, filters } = dialect;

  /** `ids` is a subquery for the IDs of the records that have the parts `sent.value ->> 0`, `1`, …. */
  async function select(wanted: readonly (readonly string[])[], ids: Knex.QueryBuilder): Promise<Matches> {
    if (wanted.length === 0) return [];
    const rows = await runQuery(
      run,
      builder.raw(
        `select (select string_agg(matching.id, ' ') from ? as matching) as ids from ${jsonElements}(?) as sent`,
        [ids, JSON.stringify(wanted)],
      ),
    );
    return rows.map(({ ids }) => (ids === null ? [] : String(ids).split(' ')));
  }

  return {
    findByText(kind, field, texts) {
      const ids = rowsQuery(dialect, kind, workspaceId)
        .whereRaw(`${columnName(field)} = (sent.value ->> 0)`)
        .orderBy('id')
        .limit(maxMatches)
        .select('id');
      return select(
        texts.map((text) => [text]),
        ids,
      );
    },

    async findByExternalId(kind, externalIds) {
      if (externalIds.length === 0) return [];
      if (dialect.prepareExternalIds) await run(dialect.prepareExternalIds);
      const records = { workspaceId, table: kind.table, column: columnName('externalIds') };
      const ids = filters.idsWithExternalId(records, 'sent.value ->> 0', 'sent.value ->> 1', maxMatches);
      return select(
        externalIds.map(({ key, value }) => [key, value]),
        ids,
      );
    },
  };
}
