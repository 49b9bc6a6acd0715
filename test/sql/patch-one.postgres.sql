begin; set local idle_in_transaction_session_timeout = '60s';

select json_build_array(id, name, reference, start_date, end_date, notes, status_id, company_id, location_id, external_ids, workspace_id, created_at, updated_at, created_by, updated_by) as record
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

update projects set name_key = sent."nameKey", name = sent."name", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "nameKey" text, "name" text, "updatedAt" timestamptz)
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
