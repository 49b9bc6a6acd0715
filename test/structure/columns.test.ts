/** The migrated tables have just the columns and keys that the record kinds declare. */
import { describe, expect, test } from 'vitest';
import { columnName } from '../../src/store/columns.ts';
import { kinds } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

describe.each(kinds)('the table of $kind.label records', ({ kind }) => {
  test('has just the columns of the declared fields', async () => {
    const columns: { name: string; notnull: number }[] = await service.database.knex.raw(
      `pragma table_info(${kind.table})`,
    );

    const declared = Object.entries(kind.storedFields);
    expect(columns.map(({ name }) => name).toSorted()).toEqual(declared.map(([name]) => columnName(name)).toSorted());
    const required = declared.filter(([, field]) => field.required).map(([name]) => columnName(name));
    expect(
      columns
        .filter(({ notnull }) => notnull === 1)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(required.toSorted());
  });

  test('is strict, and workspace_id leads every key', async () => {
    const [{ strict }] = await service.database.knex.raw('select strict from pragma_table_list where name = ?', [
      kind.table,
    ]);
    const indexes: { name: string }[] = await service.database.knex.raw(`pragma index_list(${kind.table})`);

    expect(strict).toBe(1);
    expect(indexes.length).toBeGreaterThan(0);
    for (const { name } of indexes) {
      const [first] = await service.database.knex.raw(`pragma index_info(${name})`);
      expect(first.name).toBe('workspace_id');
    }
  });

  test('has a unique key for each unique field', async () => {
    const indexes: { name: string; origin: string }[] = await service.database.knex.raw(
      `pragma index_list(${kind.table})`,
    );
    const keys = await Promise.all(
      indexes
        .filter(({ origin }) => origin === 'u')
        .map(async ({ name }) =>
          (await service.database.knex.raw(`pragma index_info(${name})`)).map((it: { name: string }) => it.name),
        ),
    );

    const unique = Object.entries(kind.fields).filter(([, field]) => 'unique' in field);
    expect(keys).toEqual(unique.map(([name]) => ['workspace_id', columnName(name)]));
  });
});
