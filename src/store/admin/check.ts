/** Verifies what writes rely on, by statements that find faults, and sort on disk: a log of any length fits. */
import type { RecordKind } from '../../model/record-kind.ts';
import type { Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { columnName } from '../query/columns.ts';
import { computedColumns } from '../query/computed.ts';
import type { Dialect } from '../query/dialect.ts';
import { literally, requireWhole, runQuery } from '../query/rows.ts';

const maxProblems = 20;

/** Returns a line for each problem. Changes of a workspace up to its horizon may be missing. */
export async function checkDatabase(
  { driver, dialect, read, longSnapshot }: Database,
  kinds: readonly RecordKind[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  let found = 0;
  const add = (...parts: unknown[]) => {
    found += 1;
    if (found <= maxProblems) problems.push(parts.join(': ').replace(/\p{Cc}+/gu, ' '));
  };
  const find = async (run: Run, workspace: unknown, faults: Iterable<string>) => {
    for (const sql of faults) {
      const all = `select *, count(*) over () as total from (${sql}) as faults where problem is not null`;
      const rows = await run(`${all} limit ${maxProblems}`);
      for (const { kind, id, problem } of rows) add(workspace, `${kind} ${id}`, problem);
      found += Number(rows[0]?.total ?? 0) - rows.length;
    }
  };
  const isSqlite = driver.name === 'SQLite';
  const rows = isSqlite ? await read(`pragma integrity_check(${maxProblems})`) : [];
  for (const { integrity_check: problem } of rows) if (problem !== 'ok') add('file', problem);
  if (found > 0) return problems;
  await longSnapshot(0, (run) => find(run, 'workspaces', strayRows(kinds)));
  for (const { number, name } of await read('select number, name from workspaces where name is not null')) {
    await longSnapshot(Number(number), async (run) => {
      const [log] = await run(`select horizon from change_numbers where workspace_id = ${number}`);
      await find(run, name, logFaults(kinds, isSqlite, Number(number), Number(log?.horizon ?? 0)));
      for (const kind of kinds) {
        await find(run, name, recordFaults(kinds, kind, isSqlite, Number(number)));
        for await (const { id, problem } of computedFaults(run, dialect, kind, Number(number)))
          add(name, `${kind.name} ${id}`, problem);
      }
    });
  }
  return found > problems.length ? [...problems, `and ${found - problems.length} more`] : problems;
}

/** A deleted workspace leaves only its numbers. */
function* strayRows(kinds: readonly RecordKind[]) {
  for (const table of [...kinds.map((kind) => kind.table), 'changes', 'import_runs', 'idempotency_keys', 'api_keys'])
    yield `select distinct 'number' as kind, workspace_id as id, 'it does not exist, and has rows in ${table}' as problem
      from ${table} where workspace_id not in (select number from workspaces where name is not null)`;
}

/** A record is the state that its last change left, and ends their chain. `p_` is the row before, `n_` the next. */
const chainProblems = `
  when action not in ('created', 'updated', 'deleted', 'stored') then 'change ' || number || ' has an unknown action'
  when kind <> p_kind then 'it is of another kind than in change ' || p_number
  when action = 'created' and before_id is not null then 'change ' || number || ' creates it, and has a state before'
  when action <> 'created' and before_id is distinct from record_id and not is_erased then 'change ' || number || ' lacks its state before'
  when action = 'created' and p_action <> 'deleted' then 'change ' || number || ' creates it again after change ' || p_number
  when action = 'stored' and p_action = 'deleted' then 'it exists, although its last change, ' || p_number || ', deleted it'
  when action <> 'created' and p_action = 'deleted' then 'change ' || number || ' follows its deletion by ' || p_number
  when action = 'stored' and p_action is null and is_whole then 'it has no change in the log'
  when action <> 'created' and p_action is null and is_whole then 'its first change, ' || number || ', does not create it'
  when action = 'stored' and state_at <> p_at then 'its updatedAt is ' || state_at || ', its last change, ' || p_number || ', was at ' || p_at
  when action <> 'created' and p_action is not null and state_at is distinct from p_at and not is_erased
    then 'the state before change ' || number || ' is not the one that change ' || p_number || ' left'
  when created_at <> p_created_at then 'its createdAt is another one after change ' || p_number
  when action <> 'stored' and at <= p_at then 'change ' || number || ' is not later than change ' || p_number
  when action in ('created', 'updated') and n_action is null then 'it does not exist, and change ' || number || ' did not delete it'`;

function* logFaults(kinds: readonly RecordKind[], isSqlite: boolean, workspaceId: number, horizon: number) {
  const changes = `from changes where workspace_id = ${workspaceId} and number > ${requireWhole(horizon)}`;
  const time = (column: string) =>
    isSqlite ? column : `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const before = isSqlite ? "iif(json_valid(before) = 0, '{}', before)" : 'before';
  const stored = kinds.map(
    ({ name, table }) => `union all
      select '${name}', id, ${Number.MAX_SAFE_INTEGER}, 'stored', ${time('updated_at')}, id, ${time('updated_at')},
        ${time('created_at')} from ${table} where workspace_id = ${workspaceId}`,
  );
  yield `select kind, record_id as id, case ${chainProblems} end as problem from (
    select *, ${horizon} = 0 as is_whole, lag(kind) over chain as p_kind, lag(number) over chain as p_number,
      lag(action) over chain as p_action, lag(at) over chain as p_at, lag(created_at) over chain as p_created_at,
      lead(action) over chain as n_action, coalesce(before_id, lag(before_id) over chain, lead(before_id) over chain) is null as is_erased
    from (select kind, record_id, number, action, ${time('at')} as at, ${before} ->> 'id' as before_id,
      ${before} ->> 'updatedAt' as state_at, ${before} ->> 'createdAt' as created_at ${changes} ${stored.join(' ')}) as states
    window chain as (partition by record_id order by number)) as chains`;
  yield `select 'change' as kind, number as id, 'the one before it is ' || previous as problem
    from (select number, lag(number, 1, ${horizon}) over (order by number) as previous ${changes}) as numbers
    where number <> previous + 1`;
  const last = `coalesce((select number from change_numbers where workspace_id = ${workspaceId}), 0)`;
  const logged = `coalesce((select max(number) ${changes}), ${horizon})`;
  yield `select 'change' as kind, ${logged} as id, 'it is the last one, and the last number is ' || ${last} as problem
    where ${logged} <> ${last}`;
  yield `select 'import run' as kind, id, 'it counts ' || (created + updated + deleted) || ' of the changes ' || first_change
    || ' to ' || last_change || ', and the last number is ' || ${last} as problem from import_runs
    where workspace_id = ${workspaceId} and (first_change < 1 or last_change > ${last}
      or created + updated + deleted not between 1 and last_change - first_change + 1)`;
}

function* recordFaults(kinds: readonly RecordKind[], kind: RecordKind, isSqlite: boolean, workspaceId: number) {
  const { name, table, fields } = kind;
  const rowsOf = (other: string) => `${other} where ${other}.workspace_id = ${workspaceId}`;
  for (const [field, declared] of Object.entries(fields)) {
    const column = `${table}.${columnName(field)}`;
    const select = (problem: string, id = `${table}.id`) =>
      `select '${name}' as kind, ${id} as id, '${field}: ' || ${problem} as problem from`;
    if (declared.unique)
      yield `${select("'the same as of ' || min(id)", 'max(id)')} ${rowsOf(table)} group by ${column} having count(${column}) > 1`;
    const target = declared.type === 'reference' && kinds.find((other) => other.name === declared.target);
    if (target) {
      const [start, digit] = [`${target.idPrefix}_[0-7]`, '[0-9a-hjkmnp-tv-z]'];
      const isOwnId = isSqlite ? `glob '${start}${digit.repeat(25)}'` : `~ '^${start}${digit}{25}$'`;
      const isReference = 'mustExist' in declared ? 'is not null' : isOwnId;
      yield `${select(`'there is no ' || ${column}`)} ${rowsOf(table)} and ${column} ${isReference}
        and not exists (select 1 from ${target.table} as target where target.workspace_id = ${workspaceId} and target.id = ${column})`;
    }
    if (declared.type === 'externalIds' && isSqlite) {
      const index = `${table}_${columnName(field)}`;
      const both = `${index}.key = sent.key and ${index}.value = sent.value and ${index}.id = ${table}.id`;
      const sent = `json_each(${column}) as sent, ${rowsOf(table)}`;
      yield `${select("'the index lacks ' || sent.key")} ${sent} and not exists (select 1 from ${rowsOf(index)} and ${both})`;
      yield `${select("'the index has another ' || key", `${index}.id`)} ${rowsOf(index)} and not exists (select 1 from ${sent} and ${both})`;
    }
  }
}

const rowsPerPage = 1_000;

/** An earlier version that still runs does not write these columns. */
async function* computedFaults(run: Run, { builder }: Dialect, kind: RecordKind, workspaceId: number) {
  const columns = computedColumns(kind);
  const names = ['id', ...new Set(columns.flatMap(({ name, from }) => [name, ...from.map(columnName)]))];
  let last: unknown = columns.length > 0 ? '' : undefined;
  while (last !== undefined) {
    const after = builder(kind.table).where('workspace_id', workspaceId).where('id', '>', last).orderBy('id');
    const rows = await runQuery(run, after.limit(rowsPerPage, literally).select(names));
    for (const row of rows)
      for (const { name, from, compute } of columns) {
        const computed = compute(Object.fromEntries(from.map((field) => [field, row[columnName(field)]])));
        // Versions of Node may differ in the last bits of a sine.
        const isNear = typeof computed === 'number' && Math.abs(computed - Number(row[name] ?? Number.NaN)) < 1e-9;
        if (!isNear && computed !== row[name])
          yield { id: row.id, problem: `${name}: it is not computed from ${from.join(', ')}` };
      }
    last = rows.at(-1)?.id;
  }
}
