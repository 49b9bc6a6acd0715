select json_agg(c0) as c0, json_agg(c1) as c1
  from ((select id as c0, name as c1
      from unnest($1::text[]) as wanted (wanted_id)
      cross join lateral (select *
        from assets
        where workspace_id = $2 and id = wanted_id limit 1) as found)) as page;
