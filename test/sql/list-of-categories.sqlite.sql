select json_group_array(json_array(c0, c1, c2, c3, c4, c5, c6)) as c0
  from ((select id as c0, name as c1, description as c2, parent_id as c3, workspace_id as c4, created_at as c5, updated_at as c6
      from asset_categories
      where workspace_id = ?
      order by asset_categories.id limit 1001)) as page;
