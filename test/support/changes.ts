/** Changes of one workspace of a service. */
import type { RecordKind } from '../../src/model/record-kind.ts';
import { numberOf } from './open-store.ts';
import type { useWorkspaces } from './service.ts';

type Service = ReturnType<typeof useWorkspaces>;

/**
 * Writes creations of so many records to the log, without the records: a workspace with as many changes would take minutes. They come
 * after those that there are.
 */
export async function plantCreations(service: Service, kind: RecordKind, records: number): Promise<void> {
  const { run } = service.database;
  const workspace = numberOf(service.workspace);
  const [row] = await run('select max(number) as number from changes where workspace_id = $1', [workspace]);
  const before = Number(row?.number ?? 0);
  await run(
    `insert into changes (workspace_id, number, kind, action, record_id, at)
     with recursive place (number) as (select 1 union all select number + 1 from place where number < ${records})
     select ${workspace}, ${before} + number, '${kind.name}', 'created', '${kind.idPrefix}_01h455vb4pex5vsknk084sn02q', '2026-03-01T00:00:00.000Z'
     from place`,
  );
  await run(
    `insert into change_numbers (workspace_id, number) values (${workspace}, ${before + records})
     on conflict (workspace_id) do update set number = excluded.number`,
  );
}
