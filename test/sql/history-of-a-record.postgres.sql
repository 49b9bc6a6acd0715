select id as c0
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from assets
    where workspace_id = $2 and id = wanted_id limit 1) as found;

select ( select json_agg(number)
    from ( select number
      from changes
      where workspace_id = $1 and record_id = sent.value ->> 0 and number < $2
      order by number desc limit $3 ) as latest ) as numbers
  from json_array_elements($4) as sent;

select workspace_id as c0, number as c1, kind as c2, action as c3, record_id as c4, at as c5, user_id as c6, request_id as c7, message as c8
  from changes
  where workspace_id = $1 and changes.number = $2
  order by number desc;
