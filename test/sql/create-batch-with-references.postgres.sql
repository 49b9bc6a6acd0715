begin; set local idle_in_transaction_session_timeout = '60s';

select id as value
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and id = wanted_id limit 1) as found for key share;

select id as value
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from locations
    where workspace_id = $2 and id = wanted_id limit 1) as found for key share;

insert into work_orders (id, name, type_id, reference, project_id, status_id, location_id, start_date, end_date, notes, external_ids, workspace_id, created_at, updated_at, created_by, updated_by) select "id", "name", "typeId", "reference", "projectId", "statusId", "locationId", "startDate", "endDate", "notes", "externalIds", "workspaceId", "createdAt", "updatedAt", "createdBy", "updatedBy"
  from json_to_recordset($1) as sent ("id" text, "name" text, "typeId" text, "reference" text, "projectId" text, "statusId" text, "locationId" text, "startDate" timestamptz, "endDate" timestamptz, "notes" text, "externalIds" json, "workspaceId" bigint, "createdAt" timestamptz, "updatedAt" timestamptz, "createdBy" text, "updatedBy" text);

insert into change_numbers (number, workspace_id)
  values ($1, $2)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning workspace_id, number;

insert into changes (workspace_id, number, kind, action, first_id, records, at, user_id, request_id, message, before) select "workspaceId", "number", "kind", "action", "firstId", "records", "at", "userId", "requestId", "message", "before"
  from json_to_recordset($1) as sent ("workspaceId" bigint, "number" double precision, "kind" text, "action" text, "firstId" text, "records" double precision, "at" timestamptz, "userId" text, "requestId" text, "message" text, "before" json);

commit;
