select work_orders.status_id as value_0, count(*) as size, sum(count(*)) over () as total
  from work_orders
  where workspace_id = $1
  group by 1
  order by size desc, value_0 nulls last limit $2;
