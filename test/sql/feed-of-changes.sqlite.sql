select number, ( select number
    from changes
    where workspace_id = ? and number >= ?
    order by number limit 1 ) as upto
  from change_numbers
  where workspace_id = ?;

select json_group_array(json_array(c0, iif(c1 is null, null, format('%!.18g', c1)), c2, c3, c4, iif(c5 is null, null, format('%!.18g', c5)), c6, c7, c8, c9)) as records
  from ((select workspace_id as c0, number as c1, kind as c2, action as c3, first_id as c4, records as c5, at as c6, user_id as c7, request_id as c8, message as c9
      from changes
      where workspace_id = ? and number > ? and number <= ?
      order by number asc limit ?));

select json_group_array(json_array(c0)) as records
  from ((select id as c0
      from locations
      where workspace_id = ? and locations.id in (select value
        from json_each(?))));
