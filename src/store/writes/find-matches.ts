/** Finds the records of one workspace that have given values: thousands of values in one statement, each looked up in an index. */
import type { Knex } from 'knex';
import type { ExternalId } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { columnName } from '../query/columns.ts';
import { keySql } from '../query/comparisons.ts';
import type { Dialect } from '../query/dialect.ts';
import { rowsQuery, runQuery } from '../query/run-query.ts';
import type { Scope } from '../records/read-records.ts';

/** The most records that are found for one value: a caller that looks for one needs no more to see that there are several. */
export const maxMatches = 4;

/** The IDs of the records that have each of the values, in the order of the values: the oldest few. */
type Matches = readonly (readonly string[])[];

export interface RecordMatches {
  findByText(kind: RecordKind, field: string, texts: readonly string[]): Promise<Matches>;
  /** Finds the records with each external ID in the kind's field `externalIds`. */
  findByExternalId(kind: RecordKind, externalIds: readonly ExternalId[]): Promise<Matches>;
}

export function createRecordMatches({ dialect, run, workspaceId }: Scope): RecordMatches {
  const { builder, jsonElements, filters } = dialect;

  /** `ids` is a subquery for the IDs of the records that have the parts `sent.value ->> 0`, `1`, …; `others` is selected, too. */
  async function select(
    wanted: readonly (readonly string[])[],
    ids: ReturnType<typeof rowsQuery>,
    others: readonly Knex.Raw[] = [],
  ): Promise<Matches> {
    if (wanted.length === 0) return [];
    const selected = ["(select string_agg(matching.id, ' ') from ? as matching) as ids", ...others.map(() => '?')];
    const rows = await runQuery(
      run,
      builder.raw(`select ${selected.join(', ')} from ${jsonElements}(?) as sent`, [
        ids,
        ...others,
        JSON.stringify(wanted),
      ]),
    );
    return rows.map(({ ids }) => (ids === null ? [] : String(ids).split(' ')));
  }

  return {
    async findByText(kind, field, texts) {
      const column = columnName(field);
      const keyOf = (text: string) => keySql(dialect, 'text', text);
      const rows = rowsQuery(dialect, kind, workspaceId);
      const together = textsWithSameKey(dialect, texts);
      const alone = texts.filter((text) => !together.has(text));
      const ids = rows
        .clone()
        .whereRaw(`${keyOf(column)} = ${keyOf('(sent.value ->> 0)')} and ${column} = (sent.value ->> 0)`)
        .orderBy('id')
        .limit(maxMatches)
        .select('id');
      const found = await select(
        alone.map((text) => [text]),
        ids,
      );
      if (!dialect.textKey || together.size === 0) return found;
      const wanted = [...together];
      const others = await runQuery(run, dialect.textKey.idsWithTexts(rows, column, wanted, maxMatches));
      const idsByText = new Map(alone.map((text, index) => [text, found[index] ?? []]));
      for (const { place, ids } of others) idsByText.set(wanted[Number(place) - 1] ?? '', String(ids).split(' '));
      return texts.map((text) => idsByText.get(text) ?? []);
    },

    async findByExternalId(kind, externalIds) {
      if (externalIds.length === 0) return [];
      const { prepareExternalIds, amongExternalIds } = dialect;
      const index = `${kind.table}_external_ids`;
      if (prepareExternalIds) await run(prepareExternalIds, [index]);
      const records = { workspaceId, table: kind.table, column: columnName('externalIds') };
      const ids = filters.idsWithExternalId(records, 'sent.value ->> 0', 'sent.value ->> 1', maxMatches);
      return select(
        externalIds.map(({ key, value }) => [key, value]),
        ids,
        amongExternalIds ? [builder.raw(amongExternalIds, [index, index])] : [],
      );
    },
  };
}

/** Returns the texts that share an index key with another one: looked up one by one, each would read the rows of all the others. */
function textsWithSameKey({ textKey }: Dialect, texts: readonly string[]): ReadonlySet<string> {
  if (!textKey) return new Set();
  const byKey = new Map<string, Set<string>>();
  for (const text of texts) {
    const key = textKey.of(text);
    const others = byKey.get(key);
    if (others) others.add(text);
    else byKey.set(key, new Set([text]));
  }
  return new Set([...byKey.values()].flatMap((same) => (same.size > 1 ? [...same] : [])));
}
