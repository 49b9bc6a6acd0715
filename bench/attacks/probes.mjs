/**
 * A worker thread that measures the response times of a small read and a small create by another workspace, while the attack runs in
 * another thread.
 */
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { port, key, run, creates = true, newConnections = false } = workerData;

/** Milliseconds that a probe may still take after the attack. */
const maxWait = 10_000;

const authorization = `Bearer ${key}`;
const json = { authorization, 'content-type': 'application/json' };
const query = 'query ($last: Int) { assets(last: $last) { nodes { id name } } }';

/** Uids of the records whose creation was acknowledged. */
const acknowledged = [];
let sent = 0;

const sendRead = exchange('/graphql', json);
const sendCreate = exchange('/assets', json);
const probes = {
  read: { every: 50, send: () => sendRead(JSON.stringify({ query, variables: { last: 1 } })) },
  ...(creates && {
    create: {
      every: 50,
      async send() {
        const uid = `${run} ${sent++}`;
        const response = await sendCreate(JSON.stringify([{ name: 'Pump', uid }]));
        if (response.status === 201) acknowledged.push(uid);
        return response;
      },
    },
  }),
};

/** The first requests are slow without any attack, so they are not measured. */
const warmUp = Promise.all(Object.values(probes).map(({ send }) => send()));
const isWarm = await Promise.race([warmUp, setTimeout(maxWait)]);
if (!isWarm) throw new Error(`no response within ${maxWait} ms after the service started`);
let isStopping = false;
const probing = Promise.all(Object.values(probes).map(repeat));
parentPort.postMessage('ready');
parentPort.once('message', stop);

/** Sends one request after the other. If a connection fails, the time until a retry gets a response is one wait. */
async function repeat(probe) {
  Object.assign(probe, { wait: 0, failed: {}, since: undefined });
  while (!isStopping) {
    const start = performance.now();
    probe.since ??= start;
    const { status, failure } = await probe.send();
    probe.wait = Math.max(probe.wait, performance.now() - probe.since);
    if (status) probe.since = undefined;
    if (failure) probe.failed[failure] = (probe.failed[failure] ?? 0) + 1;
    await setTimeout(Math.max(0, probe.every - (performance.now() - start)));
  }
}

async function stop() {
  isStopping = true;
  await Promise.race([probing, setTimeout(maxWait)]);
  const results = Object.entries(probes).map(([name, { wait, failed, since }]) => {
    const waiting = since === undefined ? 0 : performance.now() - since;
    const hasNoResponse = waiting > maxWait;
    return [name, { wait: Math.max(wait, waiting), failed: hasNoResponse ? { ...failed, 'no response': 1 } : failed }];
  });
  parentPort.postMessage({ ...Object.fromEntries(results), acknowledged });
}

/**
 * Returns a function that sends requests over its own connection. It resolves with the status, if there is a response,
 * and the failure, if any.
 */
function exchange(path, headers) {
  const agent = new Agent({ keepAlive: !newConnections, maxSockets: 1 });
  return (body) =>
    new Promise((resolve) => {
      const method = 'POST';
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        const { statusCode: status } = response;
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response.on('error', ({ code }) => resolve({ failure: code }));
        response.on('end', () => {
          if (status < 200 || status > 299) resolve({ status, failure: status });
          else if (path === '/graphql' && text.includes('"errors"')) resolve({ status, failure: 'GraphQL errors' });
          else resolve({ status });
        });
      });
      sent.on('error', ({ code }) => resolve({ failure: code }));
      sent.end(body);
    });
}
