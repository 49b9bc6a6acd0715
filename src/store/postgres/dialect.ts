/**
 * The SQL of Postgres. Nothing here changes a session beyond its transaction, so that connections may come through a pooler in
 * transaction mode.
 */
import { knex } from 'knex';
import type { Row } from '../connections/driver.ts';
import { columnList, columnName } from '../query/columns.ts';
import type { Dialect } from '../query/dialect.ts';
import { requireWhole } from '../query/rows.ts';
import { runQuery } from '../query/run-query.ts';
import { createFilters } from './filters.ts';
import { selectPages, selectPagesWithin } from './pages.ts';
import { deletions, inserts, updates, withChanges } from './writes.ts';

/** Runs a statement of the service itself. */
type Read = (sql: string) => Promise<readonly Row[]>;

/** Reads the server's settings, and returns the dialect for it. Throws an error with the reason if the server cannot be used. */
export async function openPostgresDialect(read: Read): Promise<Dialect> {
  const [row] = await read("select exists (select from pg_extension where extname = 'citus') as is_citus");
  const problem = await problemOf(read);
  if (problem !== undefined) throw new Error(problem);
  return createPostgresDialect({ isCitus: row?.is_citus === true });
}

export function createPostgresDialect({ isCitus }: { readonly isCitus: boolean }): Dialect {
  // Names of tables and columns need no quotes.
  const builder = knex({ client: 'pg', wrapIdentifier: (name) => name });
  const selectValues: Dialect['selectValues'] = async (run, columns, query) => {
    const names = columns.map((_, index) => `c${index}`);
    const selected = columns.map(({ name }, index) => `${name} as c${index}`).join(', ');
    const rows = await runQuery(run, query.select(builder.raw(selected)));
    return rows.map((row) => names.map((name) => row[name]));
  };
  // With `= any(…)`, a server without statistics would read all of the workspace in another index.
  const rowsWith: Dialect['rowsReferring'] = ({ table, field }, workspaceId, ids, limitPerId) =>
    builder.from(
      builder.raw(
        `unnest(?::text[]) as wanted (wanted_id) cross join lateral (select * from ${table.table}
          where workspace_id = ? and ${columnName(field)} = wanted_id limit ${requireWhole(limitPerId)}) as found`,
        [ids as string[], workspaceId],
      ),
    );
  return {
    builder,
    // If a process stops responding in the middle of a transaction, its connection is closed and its locks are released.
    begin: "begin; set local idle_in_transaction_session_timeout = '60s'",
    beginSnapshot: 'begin isolation level repeatable read read only',
    jsonElements: 'json_array_elements',
    jsonArrayOf: 'json_agg',
    jsonObject: 'json_build_object',
    prepareCopy: 'set local idle_in_transaction_session_timeout = 0',
    finishCopy: "select setval(pg_get_serial_sequence('workspaces', 'number'), max(number)) from workspaces",
    // At a higher isolation level it would not see what others did while it waited for the lock.
    lockMaintenance:
      "set transaction isolation level read committed; select pg_advisory_xact_lock(hashtext('yardgraph maintenance'))",
    // An advisory lock would only hold on the node of a cluster to which this process is connected.
    lock: `insert into locks (workspace_id, name) values ($1, $2)
      on conflict (workspace_id, name) do update set name = excluded.name`,
    // Each lookup would read all that is not sorted into the index yet, which only the owner can sort. Without the setting, a small table
    // would be read from end to end for each of them, because comparing JSON counts as cheap. Neither would reach Citus's other machines:
    // docs/several-processes.md turns off what is not sorted.
    prepareExternalIds: isCitus
      ? undefined
      : `select set_config('enable_seqscan', 'off', true),
        case when pg_has_role(relowner, 'usage') then gin_clean_pending_list(oid) end from pg_class where oid = $1::regclass`,
    // What others add during the lookups is not sorted either: about every hundredth of them sorts it. (By chance, because an expression
    // cannot tell which of the lookups it belongs to.)
    amongExternalIds: isCitus
      ? undefined
      : `case when random() < 0.01 and (select pg_has_role(relowner, 'usage') from pg_class where oid = ?::regclass)
        then gin_clean_pending_list(?::regclass) end`,
    filters: createFilters(builder, isCitus),
    async runCounted(run, query) {
      const changed = query.returning(builder.raw('1'));
      const [row] = await runQuery(run, builder.with('changed', changed).from('changed').count({ count: '*' }));
      return Number(row?.count);
    },
    byteLength: (column) => `octet_length(${column}::text)`,
    inserts: (table, records) => inserts(table, records, isCitus),
    withChanges: (kind, additions) => (isCitus ? undefined : withChanges(kind, additions)),
    updates,
    deletions,
    selectPages: (run, pages) => selectPages(builder, run, pages),
    selectPagesWithin: (run, pages, maxBytes) => selectPagesWithin(builder, run, pages, maxBytes),
    month: (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM')`,
    rowsById: (table, workspaceId, ids) => rowsWith({ table, field: 'id' }, workspaceId, ids, 1),
    rowsReferring: (from, workspaceId, ids, limit) => rowsWith(from, workspaceId, ids, limit).limit(limit),
    // Without `lateral` and a limit, a server without statistics would read the whole table for a page of a hundred records.
    joinById: (query, { table, alias }, { workspaceId, reference }) =>
      query.joinRaw(
        `left join lateral (select ${columnList(table)} from ${table.table}
          where workspace_id = ? and id = ${reference} limit 1) ${alias} on true`,
        [workspaceId],
      ),
    selectValues,
  };
}

/** Returns what is wrong with the server's settings, with which some values would be returned differently than they were sent. */
async function problemOf(read: Read): Promise<string | undefined> {
  const [settings] = await read(
    `select current_setting('server_encoding') as encoding, current_setting('DateStyle') as date_style,
      current_setting('extra_float_digits') as digits`,
  );
  if (settings?.encoding !== 'UTF8') return `expected its encoding to be UTF8, it is ${settings?.encoding}`;
  if (!String(settings.date_style).startsWith('ISO')) {
    return `expected its DateStyle to be ISO, it is ${settings.date_style}`;
  }
  if (Number(settings.digits) < 1) return `expected extra_float_digits of at least 1, it is ${settings.digits}`;
  return undefined;
}
