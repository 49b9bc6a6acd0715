begin; set local idle_in_transaction_session_timeout = '60s';

select json_build_array(id, name, latitude, longitude, address1, address2, city, state, postal_code, country, external_ids, parent_id, workspace_id, created_at, updated_at) as record
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

select id
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from locations
    where workspace_id = $2 and parent_id = wanted_id limit 10002) as found limit $3;

select id
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from allocations
    where workspace_id = $2 and location_id = wanted_id limit 10002) as found limit $3;

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id::text), 0) + coalesce(octet_length(name::text), 0) + coalesce(octet_length(reference::text), 0) + coalesce(octet_length(notes::text), 0) + coalesce(octet_length(status_id::text), 0) + coalesce(octet_length(company_id::text), 0) + coalesce(octet_length(location_id::text), 0) + coalesce(octet_length(external_ids::text), 0) + coalesce(octet_length(created_by::text), 0) + coalesce(octet_length(updated_by::text), 0) as bytes
    from unnest($1::text[]) as wanted (wanted_id)
    cross join lateral (select *
      from projects
      where workspace_id = $2 and id = wanted_id limit 1) as found) as page;

select json_build_array(id, name, reference, start_date, end_date, notes, status_id, company_id, location_id, external_ids, workspace_id, created_at, updated_at, created_by, updated_by) as record
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from projects
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id::text), 0) + coalesce(octet_length(name::text), 0) + coalesce(octet_length(type_id::text), 0) + coalesce(octet_length(reference::text), 0) + coalesce(octet_length(project_id::text), 0) + coalesce(octet_length(status_id::text), 0) + coalesce(octet_length(location_id::text), 0) + coalesce(octet_length(notes::text), 0) + coalesce(octet_length(external_ids::text), 0) + coalesce(octet_length(asset_id::text), 0) + coalesce(octet_length(created_by::text), 0) + coalesce(octet_length(updated_by::text), 0) as bytes
    from unnest($1::text[]) as wanted (wanted_id)
    cross join lateral (select *
      from work_orders
      where workspace_id = $2 and id = wanted_id limit 1) as found) as page;

select json_build_array(id, name, type_id, reference, project_id, status_id, location_id, start_date, end_date, notes, external_ids, asset_id, workspace_id, created_at, updated_at, created_by, updated_by) as record
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
