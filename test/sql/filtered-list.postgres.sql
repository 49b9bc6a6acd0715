select id as c0, name as c1, start_date as c2
  from (select *
    from (select id, name, start_date
      from work_orders
      where workspace_id = $1 and (exists (select 1
          from projects as t1
          where t1.id = work_orders.project_id and t1.workspace_id = $2 and (t1.name >= $3 and t1.name < $4)) and work_orders.start_date >= $5) and work_orders.start_date is not null
      order by work_orders.start_date desc, work_orders.id desc limit $6) as first_part
    union all select *
    from (select id, name, start_date
      from work_orders
      where workspace_id = $7 and (exists (select 1
          from projects as t1
          where t1.id = work_orders.project_id and t1.workspace_id = $8 and (t1.name >= $9 and t1.name < $10)) and work_orders.start_date >= $11) and work_orders.start_date is null
      order by work_orders.start_date desc, work_orders.id desc limit $12) as second_part) as work_orders limit $13;
