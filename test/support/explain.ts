/** How the database reads the rows that a statement needs. */

import { recordKinds } from '../../src/records/index.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { changeNumbers, changes, idempotencyResults } from '../../src/store/query/tables.ts';
import { isPostgres } from './database.ts';

interface Plan {
  /** For messages. */
  readonly text: string;
  /** What reads a table from end to end, or all rows of a workspace. */
  readonly fullReads: readonly string[];
}

export const readPlan = (run: Run, sql: string, values: readonly unknown[]): Promise<Plan> =>
  isPostgres ? readPostgresPlan(run, sql, values) : readSqlitePlan(run, sql, values);

async function readSqlitePlan(run: Run, sql: string, values: readonly unknown[]): Promise<Plan> {
  const steps = (await run(`explain query plan ${sql}`, values)).map(
    ({ id, parent, detail }): Step => ({ id: Number(id), parent: Number(parent), detail: String(detail) }),
  );
  const hasSibling = ({ parent }: Step, detail: string) =>
    steps.some((other) => other.parent === parent && other.detail === detail);
  const ofWorkspace = steps.filter(({ detail }) => /^SEARCH .*\(workspace_id=\?\)$/.test(detail));
  const scans = steps.filter((step) => {
    const [, name] = /^SCAN (\w+)/.exec(step.detail) ?? [];
    return step.detail.includes('AUTOMATIC') || (isTable(name) && !hasSibling(step, `CO-ROUTINE ${name}`));
  });
  const detailsOf = (some: readonly Step[]) => some.map(({ detail }) => detail);
  return {
    text: detailsOf(steps).join('\n'),
    fullReads: detailsOf([...scans, ...ofWorkspace.filter((step) => hasSibling(step, 'USE TEMP B-TREE FOR ORDER BY'))]),
  };
}

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** By its name, or by an alias that the store uses for tables; t0 is a page. */
const isTable = (name = ''): boolean =>
  [...recordKinds, changes, changeNumbers, idempotencyResults].some(({ table }) => name.startsWith(table)) ||
  /^(?:t[1-9]\d*|record|child)$/.test(name);

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
}

async function readPostgresPlan(run: Run, sql: string, values: readonly unknown[]): Promise<Plan> {
  const [row] = await run(`explain (analyze, format json, costs off, timing off, summary off) ${sql}`, values);
  const [{ Plan: top }] = JSON.parse(String(row?.['QUERY PLAN'])) as [{ readonly Plan: Node }];
  const nodes = nodesOf(top);
  return {
    text: nodes.map(described).join('\n'),
    fullReads: nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0).map(described),
  };
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const described = (node: Node): string =>
  [
    node['Node Type'],
    node['Relation Name'],
    node['Index Name'],
    node['Index Cond'],
    node.Filter && `filter ${node.Filter}`,
    `${node['Actual Rows']} × ${node['Actual Loops']}`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
