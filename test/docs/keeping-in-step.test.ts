/** The page on keeping another system in step can be pasted, and its programs lose and repeat nothing. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { workOrder } from '../../src/records/index.ts';
import { eventually } from '../support/clock.ts';
import { checkedBlock, pastePage } from '../support/docs.ts';
import { byEffort } from '../support/effort.ts';
import { deleteDocument } from '../support/mutations.ts';
import { useProcesses } from '../support/process.ts';
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

const run = async (...args: string[]) =>
  (await promisify(execFile)(process.execPath, args, { cwd: processes.folder })).stdout;

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
  const first = start('follow.mjs');
  await eventually(() => expect(first.output.text).toContain('1 work orders'));
  await kill(first.child);
  const { cursor } = copy();
  for (const round of byEffort({ small: [0], long: [0, 1, 2, 3] })) {
    const following = start('follow.mjs');
    write('erp.json', { ...exported, tasks: orders.map((order) => ({ ...order, title: `${order.title}.${round}` })) });
    const pushed = run('push.mjs', 'erp.json');
    if (round % 2 === 1) await pushed;
    await eventually(() => expect(following.output.text).toContain('changes, up to'));
    await kill(following.child);
    await pushed;
  }
  const { workOrders } = await service.data('{ workOrders(last: 5) { nodes { id } } }');
  await service.data(deleteDocument(workOrder), { ids: workOrders.nodes.map(({ id }: { id: string }) => id) });
  const last = start('follow.mjs');
  const { changeCursor } = await service.data('{ changeCursor }');
  await eventually(() => expect(copy().cursor).toBe(changeCursor));
  await kill(last.child);

  expect(copy().records).toEqual(await stored());
  // Each change was applied once.
  expect(copy().changes).toBe(Number(changeCursor) - Number(cursor));
});

async function stored(): Promise<Record<string, object>> {
  const { workOrders } = await service.data('{ workOrders(first: 1000) { nodes { id name projectId startDate } } }');
  return Object.fromEntries(workOrders.nodes.map(({ id, ...record }: { id: string }) => [id, record]));
}
