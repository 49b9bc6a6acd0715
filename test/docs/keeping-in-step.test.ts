/** The page on keeping another system in step can be pasted, and its programs lose and repeat nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/clock.ts';
import { checkedBlock, pastePage } from '../support/docs.ts';
import { byEffort } from '../support/effort.ts';
import { ask, post, useProcesses } from '../support/process.ts';
import { listen, useService } from '../support/service.ts';

const page = 'docs/keeping-in-step.md';
const service = useService();
const processes = useProcesses();

test('the examples of the page return what it shows', async () => {
  const address = await listen(service.app);
  await pastePage(page, processes.folder, address);
});

/** Writes a program of the page into the folder, where it finds the client as if it were installed. */
function install(name: string, text: string, address: string): void {
  const modules = join(processes.folder, 'node_modules/@yardgraph');
  if (!existsSync(modules)) {
    mkdirSync(modules, { recursive: true });
    symlinkSync(resolve('client'), join(modules, 'client'));
  }
  writeFileSync(join(processes.folder, name), text.replace('http://127.0.0.1:4000', address));
}

function start(...args: string[]) {
  const child = spawn(process.execPath, args, { cwd: processes.folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = { text: '' };
  child.stdout.on('data', (data) => {
    output.text += data;
  });
  return { child, output };
}

async function run(...args: string[]): Promise<string> {
  const { child, output } = start(...args);
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return output.text;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

test('the programs bring over what an ERP exports, and copy it without losing or repeating a change over restarts', async () => {
  const address = await listen(service.app);
  install('push.mjs', checkedBlock(page, 'push.mjs'), address);
  install('follow.mjs', checkedBlock(page, 'follow.mjs'), address);
  const write = (name: string, value: unknown) => writeFileSync(join(processes.folder, name), JSON.stringify(value));
  const copy = () => JSON.parse(readFileSync(join(processes.folder, 'copy.json'), 'utf8'));
  const exported = JSON.parse(checkedBlock(page, 'erp.json'));
  write('erp.json', exported);

  expect(await run('push.mjs', 'erp.json')).toBe(checkedBlock(page, 'pushed'));
  expect(await run('push.mjs', 'erp.json')).toMatch(/^(?:\w+: 0 created, 0 updated, 1 unchanged\n){3}$/);

  // While the ERP's exports change, the copy is killed and started again.
  const orders = Array.from({ length: 300 }, (_, index) => ({ id: `${index}`, title: `Order ${index}`, job: 'P-7' }));
  const { cursor } = await first();
  for (const round of byEffort({ small: [0], long: [0, 1, 2, 3] })) {
    const following = start('follow.mjs');
    write('erp.json', { ...exported, tasks: orders.map((order) => ({ ...order, title: `${order.title}.${round}` })) });
    const pushed = run('push.mjs', 'erp.json');
    if (round % 2 === 1) await pushed;
    await eventually(() => expect(following.output.text).toContain('changes, up to'));
    await kill(following.child);
    await pushed;
  }
  await deleteOrders(address, 5);
  const last = start('follow.mjs');
  const { changeCursor } = await ask(address, '{ changeCursor }');
  await eventually(() => expect(copy().cursor).toBe(changeCursor));
  await kill(last.child);

  expect(copy().records).toEqual(await stored(address));
  // Each change was applied once.
  expect(copy().changes).toBe(Number(changeCursor) - Number(cursor));

  async function first() {
    const following = start('follow.mjs');
    await eventually(() => expect(following.output.text).toContain('1 work orders'));
    await kill(following.child);
    return copy();
  }
});

async function deleteOrders(address: string, number: number): Promise<void> {
  const { workOrders } = await ask(address, `{ workOrders(last: ${number}) { nodes { id } } }`);
  const ids = workOrders.nodes.map(({ id }: { id: string }) => id);
  const query = 'mutation ($ids: [ID!]!) { deleteWorkOrders(ids: $ids) { id } }';
  expect(await (await post(`${address}/graphql`, { query, variables: { ids } })).json()).not.toHaveProperty('errors');
}

async function stored(address: string): Promise<Record<string, object>> {
  const { workOrders } = await ask(address, '{ workOrders(first: 1000) { nodes { id name projectId startDate } } }');
  return Object.fromEntries(workOrders.nodes.map(({ id, ...record }: { id: string }) => [id, record]));
}
