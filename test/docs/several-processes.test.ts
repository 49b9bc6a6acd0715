/** The page for operators of several processes. */
import { expect, test } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
import { blocksOf } from '../support/docs.ts';

test('every table is distributed on Citus', () => {
  const sql = blocksOf('docs/several-processes.md').find(({ language }) => language === 'sql')?.text ?? '';

  const others = ['changes', 'change_numbers', 'idempotency_keys', 'locks'].map((table) => ({ table }));
  for (const { table } of [...recordKinds, ...others]) {
    expect(sql).toContain(`create_distributed_table('${table}', 'workspace_id'`);
  }
  for (const table of ['workspaces', 'api_keys']) expect(sql).toContain(`create_reference_table('${table}')`);
});
