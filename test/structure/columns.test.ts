/** The migrated tables have just the columns, keys and indexes that the record kinds declare. */
import { expect, test } from 'vitest';
import { location, recordKinds } from '../../src/records/index.ts';
import { apiKeys } from '../../src/store/admin/api-keys.ts';
import { columnName } from '../../src/store/query/columns.ts';
import { isPostgres } from '../support/database.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const rows = async (sql: string) => (await service.database.run(sql)) as readonly Record<string, unknown>[];

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

const columnsOf = async (table: string): Promise<Column[]> =>
  (
    await rows(
      isPostgres
        ? `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required
             from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`
        : `select name, type, "notnull" as required from pragma_table_info('${table}')`,
    )
  ).map(({ name, type, required }) => ({
    name: String(name),
    type: String(type).toLowerCase(),
    isRequired: Boolean(required),
  }));

/** The columns of each unique index, in their order; the primary key's first. */
const keysOf = async (table: string): Promise<string[][]> => {
  const indexed = await rows(
    isPostgres
      ? `select i.indexrelid as key, a.attname as column
           from pg_index i cross join unnest(i.indkey) with ordinality as k (attnum, place)
           join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
          where i.indrelid = '${table}'::regclass and i.indisunique order by i.indisprimary desc, i.indexrelid, k.place`
      : `select i.name as key, c.name as column from pragma_index_list('${table}') i, pragma_index_info(i.name) c
          where i."unique" order by i.origin = 'pk' desc, i.name, c.seqno`,
  );
  const keys = new Map<unknown, string[]>();
  for (const { key, column } of indexed) keys.set(key, [...(keys.get(key) ?? []), String(column)]);
  return [...keys.values()];
};

/** The column type of each field type, chosen for people who read the tables with other tools. */
const types = {
  id: 'text',
  text: 'text',
  reference: 'text',
  foreignReference: 'text',
  number: isPostgres ? 'double precision' : 'real',
  boolean: isPostgres ? 'boolean' : 'integer',
  dateTime: isPostgres ? 'timestamp(3) with time zone' : 'text',
  externalIds: isPostgres ? 'json' : 'text',
  json: isPostgres ? 'json' : 'text',
};

const workspaceType = isPostgres ? 'bigint' : 'integer';

test.each([...recordKinds, apiKeys])(
  'the table of $label records has just the columns of the declared fields, each of the type that fits',
  async (kind) => {
    const declared = Object.entries(kind.storedFields).map(([field, { type, required = false }]) => ({
      name: columnName(field),
      type: field === 'workspaceId' ? workspaceType : types[type],
      isRequired: required,
    }));
    if (kind === location) {
      for (const name of ['point_x', 'point_y', 'point_z'])
        declared.push({ name, type: types.number, isRequired: false });
    }
    for (const name of ['name', 'reference', 'number'].filter((name) => name in kind.storedFields && kind !== apiKeys))
      declared.push({ name: `${name}_key`, type: 'text', isRequired: false });
    const byName = (a: Column, b: Column) => (a.name < b.name ? -1 : 1);
    expect((await columnsOf(kind.table)).toSorted(byName)).toEqual(declared.toSorted(byName));
    if (!isPostgres) {
      const strict = await rows(`select strict from pragma_table_list where name = '${kind.table}'`);
      expect(strict).toEqual([{ strict: 1 }]);
      return;
    }
    // Texts are sorted by their bytes, whatever the language of the database.
    const collations = await rows(
      `select a.attname as name, c.collname as collation from pg_attribute a join pg_collation c on c.oid = a.attcollation
        where a.attrelid = '${kind.table}'::regclass and (not ${kind === apiKeys} or a.attname = 'id')`,
    );
    expect(new Set(collations.map(({ collation }) => collation))).toEqual(new Set(['C']));
  },
);

test.each(recordKinds)(
  'the table of $label records has the keys and indexes that its fields declare, and no others: workspace_id leads each',
  async (kind) => {
    const { table, storedFields } = kind;
    const unique = Object.entries(storedFields).filter(([, field]) => 'unique' in field);
    expect(await keysOf(table)).toEqual([
      ['workspace_id', 'id'],
      ...unique.map(([name]) => ['workspace_id', columnName(name)]),
    ]);
    // On SQLite, external IDs have a table.
    const declared = Object.entries(storedFields).filter(
      ([, { indexed, unique, type }]) => indexed && !unique && (isPostgres || type !== 'externalIds'),
    );
    const found = await rows(
      isPostgres
        ? `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as sql from pg_index
          where indrelid = '${table}'::regclass and not indisunique`
        : `select name, sql from sqlite_schema where tbl_name = '${table}' and type = 'index' and sql is not null`,
    );

    expect(found.map(({ name }) => name).toSorted()).toEqual(
      declared.map(([field]) => `${table}_${columnName(field)}`).toSorted(),
    );
    for (const { name, sql } of found) {
      const column = String(name).slice(table.length + 1);
      const isSorted = ['name', 'reference', 'number'].includes(column);
      expect(sql).toContain(
        column === 'external_ids' ? 'jsonb_set(' : `(workspace_id, ${column}${isSorted ? '_key' : ''}`,
      );
    }
    if (!isPostgres && 'externalIds' in storedFields)
      expect(await keysOf(`${table}_external_ids`)).toEqual([['workspace_id', 'key', 'value', 'id']]);
  },
);
