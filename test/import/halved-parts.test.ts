/** Imports into a service that accepts less at a time than the command sends. */
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports({ MAX_BATCH: '3' });

test('rows of a part that is halved link to each other, and late links are set in halves, too', async () => {
  const rows = Array.from({ length: 9 }, (_, n) => `${n},C${n},${n < 8 ? n + 1 : ''}\n`);

  const { code, out } = await imports.import({ 'asset-categories.csv': `id,name,parentId\n${rows.join('')}` });

  expect([code, out.slice(0, 2)]).toEqual([
    0,
    ['9 rows: 9 to create, 0 to update, 0 unchanged, 0 refused', '9 created, 0 updated, 0 unchanged, 0 refused'],
  ]);
  const { assetCategories } = await imports.service.data(
    '{ assetCategories(first: 100) { nodes { name parent { name } } } }',
  );
  expect(new Map(assetCategories.nodes.map(({ name, parent }: Category) => [name, parent?.name]))).toEqual(
    new Map(rows.map((_, n) => [`C${n}`, n < 8 ? `C${n + 1}` : undefined])),
  );
});

interface Category {
  readonly name: string;
  readonly parent: { readonly name: string } | null;
}
