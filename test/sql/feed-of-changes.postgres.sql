select json_agg(c0) as c0, json_agg(c1) as c1, json_agg(c2) as c2, json_agg(c3) as c3, json_agg(c4) as c4, json_agg(c5) as c5, json_agg(c6) as c6, json_agg(c7) as c7, json_agg(c8) as c8
  from ((select workspace_id as c0, number as c1, kind as c2, action as c3, record_id as c4, at as c5, user_id as c6, request_id as c7, message as c8
      from changes
      where workspace_id = $1 and number > $2 and number <= $3
      order by number asc limit $4)) as page;

select json_agg(c0) as c0
  from ((select id as c0
      from unnest($1::text[]) as wanted (wanted_id)
      cross join lateral (select *
        from locations
        where workspace_id = $2 and id = wanted_id limit 1) as found)) as page;
