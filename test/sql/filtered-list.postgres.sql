select json_agg(c0) as c0, json_agg(c1) as c1, json_agg(c2) as c2
  from ((select id as c0, name as c1, start_date as c2
      from work_orders
      where workspace_id = $1 and (exists (select 1
          from projects as t1
          where t1.id = work_orders.project_id and t1.workspace_id = $2 and ((t1.name_key >= $3 and t1.name_key < $4) and case when (t1.name >= $5 and t1.name < $6) then true end)) and work_orders.start_date >= $7)
      order by work_orders.start_date desc nulls last, work_orders.id desc limit 11)) as page;
