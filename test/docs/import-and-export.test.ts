/** The page on imports can be pasted. */
import { test } from 'vitest';
import { pastePage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();

test('the commands print what the page shows', async () => {
  const address = await processes.start().ready();

  await pastePage('docs/import-and-export.md', processes.folder, address);
});
