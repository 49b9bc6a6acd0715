/** The benchmark's queries on Postgres: named statements of pg, whose rows become the data of the response. */
import pg from 'pg';
import { filteredOrder, linkedOrder, summaryOf } from './data.mjs';

/** The statements for the workspace with this number, by name. */
const statementsFor = (acme) => ({
  linked: `
    select o.id, o.name, o.start_date as "startDate", p.id as "projectId", p.name as "projectName",
      q.id as "projectLocationId", q.city, l.id as "locationId", l.name as "locationName", l.latitude, l.longitude
    from work_orders o
    left join projects p on p.workspace_id = ${acme} and p.id = o.project_id
    left join locations q on q.workspace_id = ${acme} and q.id = p.location_id
    left join locations l on l.workspace_id = ${acme} and l.id = o.location_id
    where o.workspace_id = ${acme} and o.id > $1
    order by o.id limit 100`,
  categories: `
    select id, name, description, created_at as "createdAt", updated_at as "updatedAt" from asset_categories
    where workspace_id = ${acme}
    order by id limit 500`,
  filtered: `
    select o.id, o.name, o.start_date as "startDate", p.name as "projectName"
    from work_orders o
    join projects p on p.workspace_id = ${acme} and p.id = o.project_id
    where o.workspace_id = ${acme} and o.start_date >= $1 and p.name >= $2 and p.name < $3
    order by o.start_date desc, o.id desc limit 100`,
  reverse: `
    select l.name, c.count, o.name as "orderName", o.start_date as "startDate"
    from (select id, name from locations where workspace_id = ${acme} and id > $1 order by id limit 100) l
    cross join lateral (
      select count(*)::int from work_orders where workspace_id = ${acme} and location_id = l.id
    ) c
    left join lateral (
      select id, name, start_date from work_orders where workspace_id = ${acme} and location_id = l.id order by id limit 10
    ) o on true
    order by l.id, o.id`,
  summary: `
    select count(*)::int, status_id as "statusId", to_char(start_date at time zone 'UTC', 'YYYY-MM') as "startMonth"
    from work_orders where workspace_id = ${acme}
    group by 2, 3 order by 1 desc, 2, 3`,
});

export async function openPostgres(url) {
  const pool = new pg.Pool({ connectionString: url });
  const [acme] = (await pool.query(`select number from workspaces where name = 'acme'`)).rows;
  const statements = statementsFor(acme.number);
  const rows = async (name, values) => (await pool.query({ name, text: statements[name], values })).rows;
  return {
    W4: async ({ after }) => ({
      workOrders: { nodes: (await rows('linked', [after ?? ''])).map(linkedOrder) },
    }),
    'W5 in GraphQL': async () => ({ assetCategories: { nodes: await rows('categories', []) } }),
    W6: async ({ name, since }) => ({
      workOrders: {
        nodes: (await rows('filtered', [since, name, `${name}\u{10ffff}`])).map(filteredOrder),
      },
    }),
    W7: async ({ after }) => ({ locations: { nodes: grouped(await rows('reverse', [after ?? ''])) } }),
    W8: async () => ({ workOrdersSummary: summaryOf(await rows('summary', [])) }),
  };
}

/** The rows of one location follow each other. Its name is unique in the benchmark, and it has work orders. */
function grouped(rows) {
  const locations = [];
  for (const { name, count, orderName, startDate } of rows) {
    if (locations.at(-1)?.name !== name) locations.push({ name, workOrders: { totalCount: count, nodes: [] } });
    locations.at(-1).workOrders.nodes.push({ name: orderName, startDate });
  }
  return locations;
}
