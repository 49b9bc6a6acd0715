/** The eight operations, in the order of the interface's table. Interface: "Endpoints". */
import type { RecordKind } from '../model/record-kind.ts';
import { asset, assetCategory, location, project, transportOrder, workOrder } from '../records/index.ts';

export interface Route {
  readonly operation: 'create' | 'update' | 'list';
  readonly method: 'POST' | 'PATCH' | 'GET';
  readonly path: string;
  readonly kind: RecordKind;
  readonly success: 200 | 201;
}

const create = (path: string, kind: RecordKind): Route => ({
  operation: 'create',
  method: 'POST',
  path,
  kind,
  success: 201,
});
const update = (path: string, kind: RecordKind): Route => ({
  operation: 'update',
  method: 'PATCH',
  path,
  kind,
  success: 200,
});
const list = (path: string, kind: RecordKind): Route => ({
  operation: 'list',
  method: 'GET',
  path,
  kind,
  success: 200,
});

export const routes: readonly Route[] = [
  create('/assets', asset),
  create('/work-orders', workOrder),
  create('/projects', project),
  update('/projects/:id', project),
  create('/locations', location),
  create('/transport-orders', transportOrder),
  create('/asset-categories', assetCategory),
  list('/asset-categories', assetCategory),
];
