insert into new_assets_locations_asset_categories_assets with creation as materialized ( select value -> 0 as common, value -> 1 as ids, jsonb_extract(value, '$[2]') as sent
    from jsonb_each(?)) select common ->> 0, common ->> 1, common ->> 2, common ->> 3, common ->> 4, common ->> 5, common ->> 6, common ->> 7, common ->> 8, common ->> 9, common ->> 10, common ->> 11, common ->> 12, common ->> 13, common ->> 14, common ->> 15, common ->> 16, common ->> 17, common ->> 18, ids, sent
  from creation;
