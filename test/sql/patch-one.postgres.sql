begin; set local idle_in_transaction_session_timeout = '60s';

select id as c0, name as c1, reference as c2, start_date as c3, end_date as c4, notes as c5, status_id as c6, company_id as c7, location_id as c8, external_ids as c9, workspace_id as c10, created_at as c11, updated_at as c12, created_by as c13, updated_by as c14
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

update projects set name = sent."name", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "name" text, "updatedAt" timestamptz)
  cross join lateral (select ctid as place
    from projects
    where workspace_id = $2 and id = sent.id limit 1) as found
  where workspace_id = $2 and ctid = found.place;

insert into change_numbers (number, workspace_id)
  values ($1, $2)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select "workspaceId", "number", "kind", "action", "recordId", "at", "userId", "requestId", "message", "before"
  from json_to_recordset($1) as sent ("workspaceId" bigint, "number" double precision, "kind" text, "action" text, "recordId" text, "at" timestamptz, "userId" text, "requestId" text, "message" text, "before" json);

commit;
