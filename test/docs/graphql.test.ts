/** The GraphQL guide can be pasted, and shows the demo's data. */
import { test } from 'vitest';
import { pastePage, queryPage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();

test('the examples of the GraphQL guide return what the page shows', async () => {
  const address = await processes.start({}, 'demo').ready();

  await pastePage('docs/graphql.md', processes.folder, address);
  await queryPage('docs/graphql.md', address);
});
