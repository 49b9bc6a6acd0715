/** The GraphQL guide can be pasted, and shows the demo's data. */
import { expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { recordKinds, reverseLinksOf } from '../../src/records/index.ts';
import { pastePage, readPage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { listen, useSharedService } from '../support/service.ts';

const page = 'docs/graphql.md';
const service = useSharedService();
const processes = useProcesses();

test('the examples of the GraphQL guide return what the page shows', async () => {
  await fillDemo(service.database);
  const address = await listen(service.app);

  await pastePage(page, processes.folder, address);
});

test('the table of reverse links has every one', () => {
  const listed = [...readPage(page).matchAll(/^\| `([A-Z][a-z]\w+)` \| (.*) \|$/gm)].flatMap(([, from, to = '']) =>
    [...to.matchAll(/`(\w+)`/g)].map(([, name]) => `${from}.${name}`),
  );
  const types = [...recordKinds.map(({ name }) => name), ...Object.keys(foreignTypes)];
  const links = types.flatMap((type) => reverseLinksOf(type).map(({ name }) => `${type}.${name}`));

  expect(listed.toSorted()).toEqual(links.toSorted());
});
