select json_group_array(json_array(c0, c1, c2)) as c0
  from ((select id as c0, name as c1, start_date as c2
      from work_orders
      where workspace_id = ? and (work_orders.project_id in (select t1.id
          from projects as t1
          where t1.workspace_id = ? and ((t1.name_key >= ? and t1.name_key < ?) and case when (t1.name >= ? and t1.name < ?) then true end)) and work_orders.start_date >= ?)
      order by work_orders.start_date desc nulls last, work_orders.id desc limit 11)) as page;
