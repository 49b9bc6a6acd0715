/** Clients that write all the time at a service that fails, and what must be true of its records whatever happens. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { Yardgraph } from '../../client/index.ts';
import { asset } from '../../src/records/index.ts';
import { runCommand } from './command.ts';
import { startDroppingProxy } from './dropping-proxy.ts';
import { createDocument, deleteDocument, importDocument, updateDocument, upsertDocument } from './mutations.ts';
import type { createRandom } from './random.ts';

type Version = { readonly id: string };
/** A request that changes `size` records. Those of its response are `stored`. */
type Request = { readonly id: string; readonly size: number; stored?: readonly Version[]; isOver?: true };

const fields = 'id updatedAt name externalIds';
const imported = 'locations { id name } projects { id updatedAt locationId } workOrders { id updatedAt projectId }';
const reversal = `mutation ($after: String!, $upTo: String!, $message: String!) {
  result: revertChanges(after: $after, upTo: $upTo, message: $message) { made } }`;

/** Writes go to any of the addresses, those with a key twice at once. Reads go to the first address. */
export async function startLoad(addresses: string[], DATABASE_URL: string, random: ReturnType<typeof createRandom>) {
  const [first = ''] = addresses;
  const yardgraph = new Yardgraph({ serverURL: first, retries: 100 });
  const counts = { acknowledged: 0, refused: 0, lost: 0, replayed: 0 };
  /** While it is held, no request is sent. Some requests and responses get lost on their way, up to one of them. */
  const load = { isHeld: false, isEnded: false, neverDroppedFrom: Number.POSITIVE_INFINITY };
  const fate = () => (requests.length > load.neverDroppedFrom ? 1 : random.integer(1_000) / 1_000);
  const proxy = await startDroppingProxy(() => random.pick(addresses) ?? '', 0.1, fate);
  const requests: Request[] = [];
  let running = 0;

  /** Returns the stored records. A request without a key may be lost: nobody knows whether it was carried out. */
  async function send(size: number, query: string, variables: object): Promise<Required<Request> | undefined> {
    const id = `request-${requests.length}`;
    const request: Request = { id, size };
    requests.push(request);
    const hasKey = random.chance(0.5);
    const key = hasKey ? { 'idempotency-key': id } : {};
    const headers = { 'content-type': 'application/json', 'x-request-id': id, 'x-change-message': id, ...key };
    const options = { method: 'POST', headers, body: JSON.stringify({ query, variables }) };
    const ask = async () => {
      const response = await fetch(`${proxy.url}/graphql`, options).catch(() => undefined);
      return { response, body: await response?.json().catch(() => undefined) };
    };
    for (let isRefused = true; (hasKey || isRefused) && !load.isEnded; await pause(20)) {
      while (load.isHeld) await pause(5);
      running += 1;
      const received = await Promise.all([ask(), ...(hasKey ? [ask()] : [])]);
      running -= 1;
      const [one, other] = received.toSorted((a, b) => Number(!a.body?.data?.result) - Number(!b.body?.data?.result));
      const { response, body: { data, errors } = {} } = one ?? {};
      if (other?.body?.data?.result) {
        const isReplayed = received.some(({ response }) => response?.headers.has('idempotency-replayed'));
        expect([other.body.data, isReplayed]).toEqual([data, true]);
      }
      if (data?.result) {
        const items: { record?: Version }[] = Object.values(data.result).flat() as never;
        counts.acknowledged += 1;
        if (response?.headers.has('idempotency-replayed')) counts.replayed += 1;
        return Object.assign(request, { stored: items.map((item) => item.record ?? item) as Version[], isOver: true });
      }
      isRefused = response?.headers.has('retry-after') ?? false;
      if (!isRefused && errors && !errors[0].extensions?.mayBeStored) throw new Error(JSON.stringify(errors));
      counts[isRefused ? 'refused' : 'lost'] += 1;
    }
    request.isOver = true;
    return undefined;
  }

  /** Creates, changes, imports, reverses and deletes its own records, until a request is lost. */
  async function writeRound(name: string): Promise<unknown> {
    const size = random.pick([1, 3, 30]) ?? 1;
    const all = Array.from({ length: 2 * size }, (_, n) => ({ name: 'Crane', externalIds: { erp: `${name}-${n}` } }));
    if (!(await send(size, createDocument(asset, fields), { input: all.slice(size) }))) return;
    const input = all.map((item) => ({ ...item, name: 'Pump' }));
    const upsert = upsertDocument(asset, `record { ${fields} }`);
    const upserted = await send(2 * size, upsert, { by: { externalId: 'erp' }, input });
    if (!upserted) return;
    const ids = upserted.stored.map(({ id }) => id);
    const patches = ids.slice(size).map((id) => ({ id, name: 'Drill' }));
    if (!(await send(size, updateDocument(asset, fields), { input: patches }))) return;
    const after = await yardgraph.changeCursor();
    const site = {
      locations: [{ ref: 'yard', name: 'North yard' }],
      projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'yard' } }],
      workOrders: Array(size).fill({ name: 'Set up the crane', project: { ref: 'wall' } }),
    };
    const made = await send(size + 2, importDocument(imported), { input: site });
    const range = made && { after, upTo: await yardgraph.changeCursor(), message: made.id };
    if (!range || (random.chance(0.8) && !(await send(size + 2, reversal, range)))) return;
    return send(2 * size, deleteDocument(asset), { ids });
  }

  const problems: unknown[] = [];
  const writing = [0, 1, 2, 3].map(async (client) => {
    for (let round = 0; !load.isEnded; round += 1)
      await writeRound(`${client}-${round}`).catch((error) => problems.push(String(error)));
  });

  /** What the feed leads to, and the changes of each request in it. */
  const replica = new Map<string, Version>();
  const changes = new Map<string | null, { readonly id: string; readonly version: Version | undefined }[]>();
  let [cursor, verified] = [0, 0];

  async function readFeed(): Promise<void> {
    for await (const { nodes } of yardgraph.changes({ after: String(cursor), follow: false })) {
      for (const { cursor: number, recordId: id, action, at, requestId, fields } of nodes) {
        cursor += 1;
        expect([number, action === 'CREATED']).toEqual([String(cursor), !replica.has(id)]);
        const values = Object.fromEntries(fields.map(({ field, after }) => [field, after]));
        const version = action === 'DELETED' ? undefined : { ...replica.get(id), ...values, id, updatedAt: at };
        if (version) replica.set(id, version);
        else replica.delete(id);
        changes.set(requestId, [...(changes.get(requestId) ?? []), { id, version }]);
      }
    }
  }

  return Object.assign(load, {
    counts,
    async progress(count: number) {
      const enough = counts.acknowledged + count;
      await expect.poll(() => problems[0] ?? counts.acknowledged >= enough, { interval: 5 }).toBe(true);
    },
    /** From now on, no request and no response gets lost on its way. */
    endDrops() {
      load.neverDroppedFrom = requests.length;
    },
    /**
     * What is acknowledged is there, as it was and once, nothing is half, and the feed leads to the records. If
     * `isDrained`, what was not dropped is there only if it is acknowledged.
     */
    async verify({ isDrained = false, fromStart = false } = {}) {
      load.isHeld = true;
      while (running > 0) await pause(5);
      if (fromStart) [cursor, verified] = [0, 0];
      if (fromStart) for (const known of [replica, changes]) known.clear();
      let records: readonly Version[];
      // Postgres may still store what a killed process has sent.
      do {
        await readFeed();
        const lines = (await (await fetch(`${first}/export/all.ndjson`)).text()).match(/.+/g) ?? [];
        records = lines.map((line) => JSON.parse(line));
      } while ((await yardgraph.changeCursor()) !== String(cursor));
      expect(records.map(({ id }) => id).toSorted()).toEqual([...replica.keys()].toSorted());
      // An export leaves out fields without a value.
      const withValues = (record: object) => Object.entries(record).filter(([, value]) => value !== null);
      for (const record of records)
        expect(record).toMatchObject(Object.fromEntries(withValues(replica.get(record.id) ?? {})));
      for (const [index, { id, size, stored }] of requests.entries()) {
        if (index < verified) continue;
        const found = changes.get(id) ?? [];
        const mayBeStored = found.length > 0 && !(isDrained && index >= load.neverDroppedFrom);
        expect([id, found.length]).toEqual([id, stored || mayBeStored ? size : 0]);
        const versions = new Map(found.map(({ id, version }) => [id, version]));
        for (const record of stored ?? []) expect(versions.get(record.id) ?? record).toMatchObject(record);
      }
      verified = [...requests, {} as Request].findIndex(({ isOver }) => !isOver);
      expect(await runCommand({ DATABASE_URL }, 'check')).toMatchObject({ code: 0 });
      load.isHeld = false;
      return { ...counts, requests: requests.length, changes: cursor, records: records.length };
    },
    async stop() {
      Object.assign(load, { isEnded: true, isHeld: false });
      await Promise.all(writing);
      await proxy.stop();
    },
  });
}
