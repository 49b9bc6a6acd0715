begin; set local idle_in_transaction_session_timeout = '60s';

select id as c0, name as c1, uid as c2, status_id as c3, asset_type_id as c4, current_location_id as c5, track_utilization as c6, manufactured_at as c7, acquired_at as c8, owner_id as c9, manufacturer_id as c10, purchase_order_id as c11, external_ids as c12, workspace_id as c13, created_at as c14, updated_at as c15, updated_by as c16
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from assets
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

update assets set name = sent."name", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "name" text, "updatedAt" timestamptz)
  cross join lateral (select ctid as place
    from assets
    where workspace_id = $2 and id = sent.id limit 1) as found
  where workspace_id = $2 and ctid = found.place;

insert into change_numbers (number, workspace_id)
  values ($1, $2)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select "workspaceId", "number", "kind", "action", "recordId", "at", "userId", "requestId", "message", "before"
  from json_to_recordset($1) as sent ("workspaceId" bigint, "number" double precision, "kind" text, "action" text, "recordId" text, "at" timestamptz, "userId" text, "requestId" text, "message" text, "before" json);

commit;
