select json_group_array(json_array(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12)) as c0
  from (select t0.id as c0, t0.name as c1, t0.project_id as c2, t0.location_id as c3, t1.id is not null as c4, t1.name as c5, t1.location_id as c6, t2.id is not null as c7, t2.name as c8, t2.city as c9, t3.id is not null as c10, t3.name as c11, t3.city as c12
    from (select id, name, project_id, location_id
      from work_orders
      where workspace_id = ?
      order by work_orders.id limit 11) as t0
    left join projects t1 on t1.workspace_id = ? and t1.id = t0.project_id
    left join locations t2 on t2.workspace_id = ? and t2.id = t1.location_id
    left join locations t3 on t3.workspace_id = ? and t3.id = t0.location_id) as page;
