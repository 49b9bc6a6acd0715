begin; set local idle_in_transaction_session_timeout = '60s';

insert into locks (workspace_id, name)
  values ($1, $2)
  on conflict (workspace_id, name) do update set name = excluded.name;

select set_config('enable_seqscan', 'off', true);

select (select string_agg(matching.id, ' ')
    from (select found.id
      from assets as found
      where found.workspace_id + 0 = $1 and jsonb_set('{}', array[found.workspace_id::text], found.external_ids::jsonb) @> jsonb_build_object($2::text, jsonb_build_object((sent.value ->> 0), (sent.value ->> 1))) and jsonb_set('{}', array[found.workspace_id::text], found.external_ids::jsonb) @> jsonb_build_object($3::text, jsonb_build_object((sent.value ->> 0), (sent.value ->> 1)))
      order by found.id asc limit $4) as matching) as found
  from json_array_elements($5) as sent;

select json_build_array(id, name, uid, status_id, asset_type_id, current_location_id, track_utilization, manufactured_at, acquired_at, owner_id, manufacturer_id, purchase_order_id, external_ids, category_id, parent_id, workspace_id, created_at, updated_at, updated_by) as record
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from assets
    where workspace_id = $2 and id = wanted_id limit 1) as found for no key update;

insert into assets (name_key, id, name, uid, status_id, asset_type_id, current_location_id, track_utilization, manufactured_at, acquired_at, owner_id, manufacturer_id, purchase_order_id, external_ids, category_id, parent_id, workspace_id, created_at, updated_at, updated_by) select "nameKey", "id", "name", "uid", "statusId", "assetTypeId", "currentLocationId", "trackUtilization", "manufacturedAt", "acquiredAt", "ownerId", "manufacturerId", "purchaseOrderId", "externalIds", "categoryId", "parentId", "workspaceId", "createdAt", "updatedAt", "updatedBy"
  from json_to_recordset($1) as sent ("nameKey" text, "id" text, "name" text, "uid" text, "statusId" text, "assetTypeId" text, "currentLocationId" text, "trackUtilization" boolean, "manufacturedAt" timestamptz, "acquiredAt" timestamptz, "ownerId" text, "manufacturerId" text, "purchaseOrderId" text, "externalIds" json, "categoryId" text, "parentId" text, "workspaceId" bigint, "createdAt" timestamptz, "updatedAt" timestamptz, "updatedBy" text);

update assets set name_key = sent."nameKey", name = sent."name", updated_at = sent."updatedAt"
  from json_to_recordset($1) as sent ("id" text, "nameKey" text, "name" text, "updatedAt" timestamptz)
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
