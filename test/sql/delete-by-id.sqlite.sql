begin immediate;

select json_array(id, name, iif(latitude is null, null, format('%!.18g', latitude)), iif(longitude is null, null, format('%!.18g', longitude)), address1, address2, city, state, postal_code, country, json(external_ids), parent_id, workspace_id, created_at, updated_at) as record
  from locations
  where workspace_id = ? and locations.id = ?;

select id
  from assets
  where workspace_id = ? and assets.current_location_id = ? limit 10002;

select id
  from work_orders
  where workspace_id = ? and work_orders.location_id = ? limit 10002;

select id
  from projects
  where workspace_id = ? and projects.location_id = ? limit 10002;

select id
  from locations
  where workspace_id = ? and locations.parent_id = ? limit 10002;

select id
  from allocations
  where workspace_id = ? and allocations.location_id = ? limit 10002;

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id), 0) + coalesce(octet_length(name), 0) + coalesce(octet_length(reference), 0) + coalesce(octet_length(notes), 0) + coalesce(octet_length(status_id), 0) + coalesce(octet_length(company_id), 0) + coalesce(octet_length(location_id), 0) + coalesce(octet_length(external_ids), 0) + coalesce(octet_length(created_by), 0) + coalesce(octet_length(updated_by), 0) as bytes
    from projects
    where workspace_id = ? and projects.id in (select value
      from json_each(?))) as page;

select json_array(id, name, reference, start_date, end_date, notes, status_id, company_id, location_id, json(external_ids), workspace_id, created_at, updated_at, created_by, updated_by) as record
  from projects
  where workspace_id = ? and projects.id in (select value
    from json_each(?));

select coalesce(sum(bytes), 0) as bytes
  from (select 0 + coalesce(octet_length(id), 0) + coalesce(octet_length(name), 0) + coalesce(octet_length(type_id), 0) + coalesce(octet_length(reference), 0) + coalesce(octet_length(project_id), 0) + coalesce(octet_length(status_id), 0) + coalesce(octet_length(location_id), 0) + coalesce(octet_length(notes), 0) + coalesce(octet_length(external_ids), 0) + coalesce(octet_length(asset_id), 0) + coalesce(octet_length(created_by), 0) + coalesce(octet_length(updated_by), 0) as bytes
    from work_orders
    where workspace_id = ? and work_orders.id in (select value
      from json_each(?))) as page;

select json_array(id, name, type_id, reference, project_id, status_id, location_id, start_date, end_date, notes, json(external_ids), asset_id, workspace_id, created_at, updated_at, created_by, updated_by) as record
  from work_orders
  where workspace_id = ? and work_orders.id in (select value
    from json_each(?));

update projects set location_id = sent.location_id, updated_at = sent.updated_at
  from (select value ->> 0 as id, ? as location_id, ? as updated_at
    from jsonb_each(?)) as sent
  where workspace_id = ? and projects.id = sent.id;

update work_orders set location_id = sent.location_id, updated_at = sent.updated_at
  from (select value ->> 0 as id, ? as location_id, ? as updated_at
    from jsonb_each(?)) as sent
  where workspace_id = ? and work_orders.id = sent.id;

delete from locations
  where workspace_id = ? and id in (select value
    from json_each(?));

insert into change_numbers (number, workspace_id)
  values (?, ?)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select ? as workspace_id, (value ->> 0) * pow(2, value ->> 1) as number, value ->> 2 as kind, value ->> 3 as action, value ->> 4 as record_id, ? as at, ? as user_id, ? as request_id, ? as message, value ->> 5 as before
  from jsonb_each(?);

commit;
