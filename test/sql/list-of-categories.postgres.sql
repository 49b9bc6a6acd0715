select json_agg(c0) as c0, json_agg(c1) as c1, json_agg(c2) as c2, json_agg(c3) as c3, json_agg(c4) as c4, json_agg(c5) as c5, json_agg(c6) as c6
  from ((select id as c0, name as c1, description as c2, parent_id as c3, workspace_id as c4, created_at as c5, updated_at as c6
      from asset_categories
      where workspace_id = $1
      order by asset_categories.id limit 1001)) as page;
