/**
 * Stores each location's point on the unit sphere, to order locations by distance. Computed here, because databases
 * differ in the last bits of a sine.
 */
import type { Knex } from 'knex';
import { columnTypes, isSqlite } from './kind-tables.ts';

const columns = ['point_x', 'point_y', 'point_z'];

interface Location {
  readonly workspace_id: number | string;
  readonly id: string;
  readonly latitude: number;
  readonly longitude: number;
}

export async function up(knex: Knex): Promise<void> {
  for (const column of columns)
    await knex.raw(`alter table locations add column ${column} ${columnTypes(knex).double}`);
  const rowsPerPage = 5_000;
  let last: Location | undefined;
  do {
    const page = knex('locations')
      .select('workspace_id', 'id', 'latitude', 'longitude')
      .whereNotNull('latitude')
      .whereNotNull('longitude')
      .orderBy(['workspace_id', 'id'])
      .limit(rowsPerPage);
    const rows: Location[] = await (last
      ? page.whereRaw('(workspace_id, id) > (?, ?)', [last.workspace_id, last.id])
      : page);
    if (rows.length > 0) await setPoints(knex, rows);
    last = rows.at(-1);
  } while (last);
}

/** As multiples of 2^-48, which databases read exactly. */
async function setPoints(knex: Knex, rows: readonly Location[]): Promise<void> {
  const sent = rows.map(({ workspace_id, id, latitude, longitude }) => {
    const lat = (latitude * Math.PI) / 180;
    const lon = (longitude * Math.PI) / 180;
    const vector = [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
    return [workspace_id, id, ...vector.map((value) => Math.round(value * 2 ** 48))];
  });
  const elements = isSqlite(knex) ? 'json_each(?) as sent' : 'json_array_elements(?::json) as sent (value)';
  const points = columns.map(
    (column, index) => `cast(value ->> ${index + 2} as double precision) * pow(2, -48) as ${column}`,
  );
  await knex.raw(
    `update locations set ${columns.map((column) => `${column} = points.${column}`).join(', ')}
      from (select cast(value ->> 0 as bigint) as number, value ->> 1 as location_id, ${points.join(', ')} from ${elements}) as points
      where workspace_id = points.number and id = points.location_id`,
    [JSON.stringify(sent)],
  );
}

export async function down(knex: Knex): Promise<void> {
  for (const column of columns) await knex.raw(`alter table locations drop column ${column}`);
}
