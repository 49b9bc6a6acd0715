begin immediate;

select json_array(id, name, reference, start_date, end_date, notes, status_id, company_id, location_id, json(external_ids), workspace_id, created_at, updated_at, created_by, updated_by) as record
  from projects
  where workspace_id = ? and projects.id = ?;

update projects set name_key = sent.name_key, name = sent.name, updated_at = sent.updated_at
  from (select ? as name_key, ? as id, ? as name, ? as updated_at
    from jsonb_each(?)) as sent
  where workspace_id = ? and projects.id = sent.id;

insert into change_numbers (number, workspace_id)
  values (?, ?)
  on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
  returning number;

insert into changes (workspace_id, number, kind, action, record_id, at, user_id, request_id, message, before) select ? as workspace_id, ? as number, ? as kind, ? as action, ? as record_id, ? as at, ? as user_id, ? as request_id, ? as message, ? as before
  from jsonb_each(?);

commit;
