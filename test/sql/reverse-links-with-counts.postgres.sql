select json_agg(c0) as c0, json_agg(c1) as c1
  from ((select id as c0, name as c1
      from projects
      where workspace_id = $1
      order by projects.id limit 51)) as page;

select (select json_agg(json_build_array(id, name))
    from (select id, name
      from work_orders
      where workspace_id = $1 and work_orders.project_id = parent.value
      order by work_orders.id limit 3) as page) as records, (select count(*) as count
    from work_orders
    where workspace_id = $2 and work_orders.project_id = parent.value) as count
  from unnest($3::text[]) as parent (value);
