/**
 * Stores the points of locations on the unit sphere, by which the service orders them by distance. The migration computes them as the service
 * does: databases differ in the last bits of a sine.
 */
import type { Knex } from 'knex';
import { columnTypes, isSqlite } from './kind-tables.ts';

const columns = ['point_x', 'point_y', 'point_z'];

interface Location {
  readonly id: string;
  readonly latitude: number;
  readonly longitude: number;
}

const rowsPerPage = 5_000;

export async function up(knex: Knex): Promise<void> {
  for (const column of columns)
    await knex.raw(`alter table locations add column ${column} ${columnTypes(knex).double}`);
  // Workspace by workspace: a cluster rejects a statement on several.
  for (const { number } of await knex('workspaces').select('number')) {
    let last: string | undefined = '';
    while (last !== undefined) {
      const rows: Location[] = await knex('locations')
        .select('id', 'latitude', 'longitude')
        .where('workspace_id', number)
        .where('id', '>', last)
        .whereNotNull('latitude')
        .whereNotNull('longitude')
        .orderBy('id')
        .limit(rowsPerPage);
      if (rows.length > 0) await setPoints(knex, number, rows);
      last = rows.at(-1)?.id;
    }
  }
}

/** As multiples of 2^-48, which databases read exactly. */
async function setPoints(knex: Knex, workspace: number | string, rows: readonly Location[]): Promise<void> {
  const sent = rows.map(({ id, latitude, longitude }) => {
    const lat = (latitude * Math.PI) / 180;
    const lon = (longitude * Math.PI) / 180;
    const vector = [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
    return [id, ...vector.map((value) => Math.round(value * 2 ** 48))];
  });
  const elements = isSqlite(knex) ? 'json_each(?) as sent' : 'json_array_elements(?::json) as sent (value)';
  const points = columns.map(
    (column, index) => `cast(value ->> ${index + 1} as double precision) * pow(2, -48) as ${column}`,
  );
  await knex.raw(
    `update locations set ${columns.map((column) => `${column} = points.${column}`).join(', ')}
      from (select value ->> 0 as location_id, ${points.join(', ')} from ${elements}) as points
      where workspace_id = ? and id = points.location_id`,
    [JSON.stringify(sent), workspace],
  );
}

export async function down(knex: Knex): Promise<void> {
  for (const column of columns) await knex.raw(`alter table locations drop column ${column}`);
}
