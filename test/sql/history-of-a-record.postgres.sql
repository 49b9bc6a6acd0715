select id as c0
  from unnest($1::text[]) as wanted (wanted_id)
  cross join lateral (select *
    from assets
    where workspace_id = $2 and id = wanted_id limit 1) as found;

select ( select json_agg(number)
    from ( select number
      from changes
      where workspace_id = $1 and first_id = sent.value ->> 0 and action <> 'created' and number < $2
      order by number desc limit $3 ) as later ) as later, ( select number
    from changes
    where workspace_id = $4 and first_id <= sent.value ->> 0 and action = 'created'
    order by first_id desc limit 1 ) as creation
  from json_array_elements($5) as sent;

select workspace_id as c0, number as c1, kind as c2, action as c3, first_id as c4, records as c5, at as c6, user_id as c7, request_id as c8, message as c9
  from changes
  where workspace_id = $1 and changes.number = $2;
