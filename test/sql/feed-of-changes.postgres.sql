select json_agg(json_build_array(c0, c1, c2, c3, c4, c5, c6, c7, c8)) as records
  from ((select workspace_id as c0, number as c1, kind as c2, action as c3, record_id as c4, at as c5, user_id as c6, request_id as c7, message as c8
      from changes
      where workspace_id = $1 and number > $2 and number <= $3
      order by number asc limit $4)) as page;

select json_agg(json_build_array(c0)) as records
  from ((select id as c0
      from unnest($1::text[]) as wanted (wanted_id)
      cross join lateral (select *
        from locations
        where workspace_id = $2 and id = wanted_id limit 1) as found)) as page;
