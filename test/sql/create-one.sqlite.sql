insert into new_assets_locations_asset_categories_assets with creation as materialized ( select value -> 0 as own, value -> 1 as ids, jsonb_extract(value, '$[2]') as sent
    from jsonb_each(?)) select own ->> 0, own ->> 1, own ->> 2, own ->> 3, own ->> 4, own ->> 5, own ->> 6, own ->> 7, own ->> 8, own ->> 9, own ->> 10, own ->> 11, own ->> 12, own ->> 13, own ->> 14, own ->> 15, own ->> 16, own ->> 17, own ->> 18, ids, sent
  from creation;
