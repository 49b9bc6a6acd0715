with taken as (insert into change_numbers (workspace_id, number)
    values ($2, $3)
    on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
    returning number as last), logged as (insert into changes (workspace_id, kind, action, at, user_id, request_id, message, before, record_id, number) select "workspaceId", "kind", "action", "at", "userId", "requestId", "message", "before", record_id, last - $3 + earlier + place
    from json_to_recordset($4) as sent ("workspaceId" bigint, "kind" text, "action" text, "at" timestamptz, "userId" text, "requestId" text, "message" text, "before" json, "recordIds" json, "earlier" double precision)
    cross join taken
    cross join lateral json_array_elements_text("recordIds") with ordinality as record (record_id, place)), found_projects as materialized ( select
    from unnest($5::text[]) as sent (sent_id)
    cross join lateral ( select
      from projects
      where workspace_id = $2 and id = sent_id limit 1 for key share) as found), found_locations as materialized ( select
    from unnest($6::text[]) as sent (sent_id)
    cross join lateral ( select
      from locations
      where workspace_id = $2 and id = sent_id limit 1 for key share) as found) insert into work_orders (name_key, reference_key, id, name, type_id, reference, project_id, status_id, location_id, start_date, end_date, notes, external_ids, asset_id, workspace_id, created_at, updated_at, created_by, updated_by) select "nameKey", "referenceKey", "id", "name", "typeId", "reference", "projectId", "statusId", "locationId", "startDate", "endDate", "notes", "externalIds", "assetId", $2, "createdAt", "updatedAt", "createdBy", "updatedBy"
  from json_to_recordset($1) as sent ("nameKey" text, "referenceKey" text, "id" text, "name" text, "typeId" text, "reference" text, "projectId" text, "statusId" text, "locationId" text, "startDate" timestamptz, "endDate" timestamptz, "notes" text, "externalIds" json, "assetId" text, "createdAt" timestamptz, "updatedAt" timestamptz, "createdBy" text, "updatedBy" text)
  where 1 / (case when (select count(*)
      from found_projects) = cardinality($5::text[]) and (select count(*)
      from found_locations) = cardinality($6::text[]) then 1 else 0 end) = 1;
