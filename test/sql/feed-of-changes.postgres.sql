select number, ( select number
    from changes
    where workspace_id = $1 and number >= $2
    order by number limit 1 ) as upto
  from change_numbers
  where workspace_id = $3;

select workspace_id as c0, number as c1, kind as c2, action as c3, first_id as c4, records as c5, at as c6, user_id as c7, request_id as c8, message as c9
  from changes
  where workspace_id = $1 and number > $2 and number <= $3
  order by number asc limit $4;

select id as c0
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from locations
    where workspace_id = $2 and id = wanted_id limit 1) as found;
