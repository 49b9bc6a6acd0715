begin immediate;

select (select string_agg(matching.id, ' ')
    from (select id
      from assets_external_ids
      where workspace_id = ? and key = (sent.value ->> 0) and value = (sent.value ->> 1)
      order by id asc limit ?) as matching) as found
  from json_each(?) as sent;

select json_array(id, name, uid, status_id, asset_type_id, current_location_id, track_utilization, manufactured_at, acquired_at, owner_id, manufacturer_id, purchase_order_id, json(external_ids), category_id, parent_id, workspace_id, created_at, updated_at, updated_by) as record
  from assets
  where workspace_id = ? and assets.id = ?;

insert into assets (name_key, id, name, uid, status_id, asset_type_id, current_location_id, track_utilization, manufactured_at, acquired_at, owner_id, manufacturer_id, purchase_order_id, external_ids, category_id, parent_id, workspace_id, created_at, updated_at, updated_by) select ? as name_key, ? as id, ? as name, ? as uid, ? as status_id, ? as asset_type_id, ? as current_location_id, ? as track_utilization, ? as manufactured_at, ? as acquired_at, ? as owner_id, ? as manufacturer_id, ? as purchase_order_id, ? as external_ids, ? as category_id, ? as parent_id, ? as workspace_id, ? as created_at, ? as updated_at, ? as updated_by
  from jsonb_each(?);

update assets set name_key = sent.name_key, name = sent.name, updated_at = sent.updated_at
  from (select ? as name_key, ? as id, ? as name, ? as updated_at
    from jsonb_each(?)) as sent
  where workspace_id = ? and assets.id = sent.id;

insert into change_numbers (number, workspace_id)
  values (?, ?)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select ? as workspace_id, (value ->> 0) * pow(2, value ->> 1) as number, ? as kind, value ->> 2 as action, value ->> 3 as record_id, ? as at, ? as user_id, ? as request_id, ? as message, value ->> 4 as before
  from jsonb_each(?);

commit;
