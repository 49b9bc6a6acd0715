begin immediate;

select id as value
  from projects
  where workspace_id = ? and projects.id = ?;

select id as value
  from locations
  where workspace_id = ? and locations.id = ?;

insert into work_orders (id, name, type_id, reference, project_id, status_id, location_id, start_date, end_date, notes, external_ids, workspace_id, created_at, updated_at, created_by, updated_by) select value ->> 0 as id, ? as name, ? as type_id, ? as reference, ? as project_id, ? as status_id, value ->> 1 as location_id, ? as start_date, ? as end_date, ? as notes, ? as external_ids, ? as workspace_id, ? as created_at, ? as updated_at, ? as created_by, ? as updated_by
  from jsonb_each(?);

insert into change_numbers (number, workspace_id)
  values (?, ?)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning workspace_id, number;

insert into changes (workspace_id, number, kind, action, first_id, records, at, user_id, request_id, message, before) select ? as workspace_id, ? as number, ? as kind, ? as action, ? as first_id, ? as records, ? as at, ? as user_id, ? as request_id, ? as message, ? as before
  from jsonb_each(?);

commit;
