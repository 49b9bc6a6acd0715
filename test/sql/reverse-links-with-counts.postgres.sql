select json_agg(c0) as c0, json_agg(c1) as c1
  from ((select id as c0, name as c1
      from projects
      where workspace_id = $1
      order by projects.id limit 51)) as page;

select parent.place::int as page_place, page_count.count as page_count, page.*
  from unnest($1::text[]) with ordinality as parent (value, place)
  cross join lateral (select count(*) as count
    from work_orders
    where workspace_id = $2 and work_orders.project_id = parent.value) as page_count
  left join lateral (select true as is_record, id, name
    from work_orders
    where workspace_id = $3 and work_orders.project_id = parent.value
    order by work_orders.id limit 3) as page on true;
