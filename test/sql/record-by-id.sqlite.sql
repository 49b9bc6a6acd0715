select json_group_array(json_array(c0, c1)) as c0
  from ((select id as c0, name as c1
      from assets
      where workspace_id = ? and assets.id = ?)) as page;
