/** The GraphQL guide can be pasted, and shows the demo's data. */
import { test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { pastePage } from '../support/docs.ts';
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
