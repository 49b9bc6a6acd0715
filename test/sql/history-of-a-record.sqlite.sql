select json_group_array(json_array(c0)) as c0
  from ((select id as c0
      from assets
      where workspace_id = ? and assets.id = ?)) as page;

select (select json_group_array(number)
    from ( select number
      from changes
      where workspace_id = ? and record_id = sent.value ->> 0 and number < ?
      order by number desc limit ? ) as latest) as found
  from json_each(?) as sent;

select json_group_array(json_array(c0, iif(c1 is null, null, format('%!.18g', c1)), c2, c3, c4, c5, c6, c7, c8)) as c0
  from ((select workspace_id as c0, number as c1, kind as c2, action as c3, record_id as c4, at as c5, user_id as c6, request_id as c7, message as c8
      from changes
      where workspace_id = ? and changes.number = ?
      order by number desc)) as page;
