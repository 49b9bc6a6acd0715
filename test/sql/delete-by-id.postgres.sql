begin; set local idle_in_transaction_session_timeout = '60s';

select id as c0, name as c1, latitude as c2, longitude as c3, address1 as c4, address2 as c5, city as c6, state as c7, postal_code as c8, country as c9, external_ids as c10, workspace_id as c11, created_at as c12, updated_at as c13
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from locations
    where workspace_id = $2 and id = wanted_id limit 1) as found for update;

select id
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from assets
    where workspace_id = $2 and current_location_id = wanted_id limit 10002) as found limit $3;

select id
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from work_orders
    where workspace_id = $2 and location_id = wanted_id limit 10002) as found limit $3;

select id
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and location_id = wanted_id limit 10002) as found limit $3;

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id::text), 0) + coalesce(octet_length(name::text), 0) + coalesce(octet_length(reference::text), 0) + coalesce(octet_length(notes::text), 0) + coalesce(octet_length(status_id::text), 0) + coalesce(octet_length(company_id::text), 0) + coalesce(octet_length(location_id::text), 0) + coalesce(octet_length(external_ids::text), 0) + coalesce(octet_length(created_by::text), 0) + coalesce(octet_length(updated_by::text), 0) as bytes
    from unnest($1::text[]) as wanted (wanted_id)
    cross join lateral (select *
      from projects
      where workspace_id = $2 and id = wanted_id limit 1) as found) as page;

select id as c0, name as c1, reference as c2, start_date as c3, end_date as c4, notes as c5, status_id as c6, company_id as c7, location_id as c8, external_ids as c9, workspace_id as c10, created_at as c11, updated_at as c12, created_by as c13, updated_by as c14
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id::text), 0) + coalesce(octet_length(name::text), 0) + coalesce(octet_length(type_id::text), 0) + coalesce(octet_length(reference::text), 0) + coalesce(octet_length(project_id::text), 0) + coalesce(octet_length(status_id::text), 0) + coalesce(octet_length(location_id::text), 0) + coalesce(octet_length(notes::text), 0) + coalesce(octet_length(external_ids::text), 0) + coalesce(octet_length(created_by::text), 0) + coalesce(octet_length(updated_by::text), 0) as bytes
    from unnest($1::text[]) as wanted (wanted_id)
    cross join lateral (select *
      from work_orders
      where workspace_id = $2 and id = wanted_id limit 1) as found) as page;

select id as c0, name as c1, type_id as c2, reference as c3, project_id as c4, status_id as c5, location_id as c6, start_date as c7, end_date as c8, notes as c9, external_ids as c10, workspace_id as c11, created_at as c12, updated_at as c13, created_by as c14, updated_by as c15
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from work_orders
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

update projects set location_id = sent."locationId", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "locationId" text, "updatedAt" timestamptz)
  cross join lateral (select ctid as place
    from projects
    where workspace_id = $2 and id = sent.id limit 1) as found
  where workspace_id = $2 and ctid = found.place;

update work_orders set location_id = sent."locationId", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "locationId" text, "updatedAt" timestamptz)
  cross join lateral (select ctid as place
    from work_orders
    where workspace_id = $2 and id = sent.id limit 1) as found
  where workspace_id = $2 and ctid = found.place;

delete from locations using unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select ctid as place
    from locations
    where workspace_id = $2 and id = wanted_id limit 1) as found
  where workspace_id = $2 and ctid = found.place;

insert into change_numbers (number, workspace_id)
  values ($1, $2)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select "workspaceId", "number", "kind", "action", "recordId", "at", "userId", "requestId", "message", "before"
  from json_to_recordset($1) as sent ("workspaceId" bigint, "number" double precision, "kind" text, "action" text, "recordId" text, "at" timestamptz, "userId" text, "requestId" text, "message" text, "before" json);

commit;
