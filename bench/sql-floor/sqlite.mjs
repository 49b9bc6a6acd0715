/** The benchmark's queries on SQLite: prepared statements of better-sqlite3, whose rows become the data of the response. */
import Database from 'better-sqlite3';
import { filteredOrder, linkedOrder, summaryOf } from './data.mjs';

export function openSqlite(file) {
  const database = new Database(file, { readonly: true });
  const acme = database.prepare(`select number from workspaces where name = 'acme'`).pluck().get();
  const linked = database.prepare(`
    select o.id, o.name, o.start_date as startDate, p.id as projectId, p.name as projectName, q.id as projectLocationId,
      q.city, l.id as locationId, l.name as locationName, l.latitude, l.longitude
    from work_orders o
    left join projects p on p.workspace_id = ${acme} and p.id = o.project_id
    left join locations q on q.workspace_id = ${acme} and q.id = p.location_id
    left join locations l on l.workspace_id = ${acme} and l.id = o.location_id
    where o.workspace_id = ${acme} and o.id > ?
    order by o.id limit 100`);
  const categories = database.prepare(`
    select id, name, description, created_at as createdAt, updated_at as updatedAt from asset_categories
    where workspace_id = ${acme}
    order by id limit 500`);
  const filtered = database.prepare(`
    select o.id, o.name, o.start_date as startDate, p.name as projectName
    from work_orders o
    join projects p on p.workspace_id = ${acme} and p.id = o.project_id
    where o.workspace_id = ${acme} and o.start_date >= ? and p.name >= ? and p.name < ?
    order by o.start_date desc, o.id desc limit 100`);
  const locations = database.prepare(
    `select id, name from locations where workspace_id = ${acme} and id > ? order by id limit 100`,
  );
  const totalCount = database
    .prepare(`select count(*) from work_orders where workspace_id = ${acme} and location_id = ?`)
    .pluck();
  const ofLocation = database.prepare(`
    select name, start_date as startDate from work_orders
    where workspace_id = ${acme} and location_id = ?
    order by id limit 10`);
  const groups = database.prepare(`
    select count(*) as count, status_id as statusId, substr(start_date, 1, 7) as startMonth
    from work_orders where workspace_id = ${acme}
    group by 2, 3 order by 1 desc, 2, 3`);
  return {
    W4: ({ after }) => ({ workOrders: { nodes: linked.all(after ?? '').map(linkedOrder) } }),
    'W5 in GraphQL': () => ({ assetCategories: { nodes: categories.all() } }),
    W6: ({ name, since }) => ({
      workOrders: {
        nodes: filtered.all(since, name, `${name}\u{10ffff}`).map(filteredOrder),
      },
    }),
    W7: ({ after }) => ({
      locations: {
        nodes: locations.all(after ?? '').map(({ id, name }) => ({
          name,
          workOrders: { totalCount: totalCount.get(id), nodes: ofLocation.all(id) },
        })),
      },
    }),
    W8: () => ({ workOrdersSummary: summaryOf(groups.all()) }),
  };
}
