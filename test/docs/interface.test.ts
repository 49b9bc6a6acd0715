/** The page on the REST interface can be pasted. */
import { test } from 'vitest';
import { pastePage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();

test('the examples of the REST interface return what the page shows', async () => {
  const address = await processes.start().ready();

  await pastePage('docs/interface.md', processes.folder, address);
});
