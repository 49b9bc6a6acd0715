select json_agg(json_build_array(c0, c1)) as records
  from ((select id as c0, name as c1
      from unnest($1::text[]) as wanted (wanted_id)
      cross join lateral (select *
        from assets
        where workspace_id = $2 and id = wanted_id limit 1) as found)) as page;
