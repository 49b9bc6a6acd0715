select json_group_array(json_array(c0, c1)) as c0
  from ((select id as c0, name as c1
      from projects
      where workspace_id = ?
      order by projects.id limit 51)) as page;

select (select json_group_array(json_array(id, name))
    from (select id, name
      from work_orders
      where workspace_id = ? and work_orders.project_id = parent.value
      order by work_orders.id limit 3) as page) as records, (select count(*) as count
    from work_orders
    where workspace_id = ? and work_orders.project_id = parent.value) as count
  from json_each(?) as parent;
