select json_agg(c0) as c0, json_agg(c1) as c1, json_agg(c2) as c2, json_agg(c3) as c3, json_agg(c4) as c4, json_agg(c5) as c5, json_agg(c6) as c6, json_agg(c7) as c7, json_agg(c8) as c8, json_agg(c9) as c9, json_agg(c10) as c10, json_agg(c11) as c11, json_agg(c12) as c12
  from (select t0.id as c0, t0.name as c1, t0.project_id as c2, t0.location_id as c3, t1.id is not null as c4, t1.name as c5, t1.location_id as c6, t2.id is not null as c7, t2.name as c8, t2.city as c9, t3.id is not null as c10, t3.name as c11, t3.city as c12
    from (select id, name, project_id, location_id
      from work_orders
      where workspace_id = $1
      order by work_orders.id limit 11) as t0
    left join lateral (select name_key, id, name, location_id
      from projects
      where workspace_id = $2 and id = t0.project_id limit 1) t1 on true
    left join lateral (select name_key, id, name, city
      from locations
      where workspace_id = $3 and id = t1.location_id limit 1) t2 on true
    left join lateral (select name_key, id, name, city
      from locations
      where workspace_id = $4 and id = t0.location_id limit 1) t3 on true) as page;
