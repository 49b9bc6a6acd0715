insert into change_numbers (workspace_id, number) values (1, 8);

insert into locations (workspace_id, id, name, latitude, longitude, city, external_ids, created_at, updated_at) values
  (1, 'location_01m81vjr4hfnkb87p2xmbmsyxx', 'North yard', 53.08, 8.8, 'Bremen', '{"erp":"L-1"}', '2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z');

insert into asset_categories (workspace_id, id, name, parent_id, created_at, updated_at) values
  (1, 'category_01m81vjr4hfnkb87p2xmbmsyxa', 'Machines', null, '2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z'),
  (1, 'category_01m81vjr4hfnkb87p2xmbmsyxb', 'Excavators', 'category_01m81vjr4hfnkb87p2xmbmsyxa', '2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z');

insert into assets (workspace_id, id, name, uid, current_location_id, track_utilization, acquired_at, external_ids, created_at, updated_at) values
  (1, 'asset_01m81vjr4hfnkb87p2xmbmsyxc', 'Excavator', 'EX-0101', 'location_01m81vjr4hfnkb87p2xmbmsyxx', (1 = 1), '2021-05-17T00:00:00.000Z', '{"erp":"100231"}', '2026-11-20T08:00:00.000Z', '2026-11-20T09:00:00.000Z');

insert into projects (workspace_id, id, name, created_at, updated_at, created_by) values
  (1, 'project_01m81vjr4hfnkb87p2xmbmsyxd', 'Quay', '2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z', 'erp-sync');

insert into work_orders (workspace_id, id, name, project_id, created_at, updated_at) values
  (1, 'work_order_01m81vjr4hfnkb87p2xmbmsyxe', 'Annual safety inspection', 'project_01m81vjr4hfnkb87p2xmbmsyxd', '2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z');

insert into changes (workspace_id, number, kind, action, record_id, at, before) values
  (1, 1, 'Location', 'created', 'location_01m81vjr4hfnkb87p2xmbmsyxx', '2026-11-20T08:00:00.000Z', null),
  (1, 2, 'AssetCategory', 'created', 'category_01m81vjr4hfnkb87p2xmbmsyxa', '2026-11-20T08:00:00.000Z', null),
  (1, 3, 'AssetCategory', 'created', 'category_01m81vjr4hfnkb87p2xmbmsyxb', '2026-11-20T08:00:00.000Z', null),
  (1, 4, 'Asset', 'created', 'asset_01m81vjr4hfnkb87p2xmbmsyxc', '2026-11-20T08:00:00.000Z', null),
  (1, 5, 'Project', 'created', 'project_01m81vjr4hfnkb87p2xmbmsyxd', '2026-11-20T08:00:00.000Z', null),
  (1, 6, 'WorkOrder', 'created', 'work_order_01m81vjr4hfnkb87p2xmbmsyxe', '2026-11-20T08:00:00.000Z', null),
  (1, 7, 'Asset', 'updated', 'asset_01m81vjr4hfnkb87p2xmbmsyxc', '2026-11-20T09:00:00.000Z', '{"id":"asset_01m81vjr4hfnkb87p2xmbmsyxc","name":"Digger","uid":"EX-0101","statusId":null,"assetTypeId":null,"currentLocationId":null,"trackUtilization":true,"manufacturedAt":null,"acquiredAt":"2021-05-17T00:00:00.000Z","ownerId":null,"manufacturerId":null,"purchaseOrderId":null,"externalIds":{"erp":"100231"},"createdAt":"2026-11-20T08:00:00.000Z","updatedAt":"2026-11-20T08:00:00.000Z","updatedBy":null}'),
  (1, 8, 'Asset', 'deleted', 'asset_01m81vjr4hfnkb87p2xmbmsyxf', '2026-11-20T10:00:00.000Z', '{"id":"asset_01m81vjr4hfnkb87p2xmbmsyxf","name":"Pump","uid":"PU-0101","statusId":null,"assetTypeId":null,"currentLocationId":null,"trackUtilization":null,"manufacturedAt":null,"acquiredAt":null,"ownerId":null,"manufacturerId":null,"purchaseOrderId":null,"externalIds":null,"createdAt":"2026-11-19T08:00:00.000Z","updatedAt":"2026-11-19T08:00:00.000Z","updatedBy":null}');
