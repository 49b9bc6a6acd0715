/** Imports into a service that accepts less at a time than the command sends. */
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports({ MAX_BATCH: '3' });

test('rows of a part that is halved link to each other, parents first', async () => {
  const rows = Array.from({ length: 9 }, (_, n) => `${n},C${n},${n < 8 ? n + 1 : ''}\n`);

  const { code, out } = await imports.import({ 'asset-categories.csv': `id,name,parentId\n${rows.join('')}` });

  expect([code, out.slice(0, 2)]).toEqual([
    0,
    [
      '9 rows: 9 to create, 0 to update, 0 unchanged, 0 refused',
      'Not checked: links of 3 rows to rows of earlier batches, first in asset-categories.csv, line 7',
    ],
  ]);
  const { assetCategories } = await imports.service.data(
    '{ assetCategories(first: 100) { nodes { name parent { name } } } }',
  );
  expect(new Map(assetCategories.nodes.map(({ name, parent }: Category) => [name, parent?.name]))).toEqual(
    new Map(rows.map((_, n) => [`C${n}`, n < 8 ? `C${n + 1}` : undefined])),
  );
});

test('rows that are created beside more changed ones than the service takes are created once', async () => {
  const sent = Array.from({ length: 5 }, (_, n) => ({ name: `L${n}` }));
  const ids: string[] = [];
  for (const { name } of sent) {
    const { createLocations } = await imports.service.data(
      'mutation ($name: String) { createLocations(input: [{ name: $name }]) { id } }',
      { name },
    );
    ids.push(createLocations[0].id);
  }
  const rows = [',New\n', ...ids.map((id) => `${id},Changed\n`), ',Newer\n'];

  const { code, out } = await imports.import({ 'locations.csv': `id,name\n${rows.join('')}` }, '--upsert-by', 'id');

  expect([code, out.at(-2)]).toEqual([0, '2 created, 5 updated, 0 unchanged, 0 refused']);
  expect(await imports.records('locations', 'name')).toHaveLength(7);
});

interface Category {
  readonly name: string;
  readonly parent: { readonly name: string } | null;
}
