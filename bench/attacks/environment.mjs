/**
 * Attacks through the environment: clients that never disconnect, another process that locks the database file, and a log
 * that cannot be written.
 */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { responds, runModule } from '../processes.mjs';

/** The service's limit in the first attack, and how many connections that attack opens. */
const maxConnections = 50;
const heldConnections = maxConnections + 10;

/** Milliseconds; the service waits five seconds for a lock. */
const lockedTime = 6_500;

/**
 * Opens connections, sends the start of a request on each (half of the headers, or half of the body), and does nothing
 * more: it neither reacts to the 408 response nor closes its side. Waits until the service can be reached again.
 */
async function holdConnections({ port, key, signal, count, note }) {
  const head = `POST /assets HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\n`;
  const sockets = new Set();
  let isFilling = true;
  const hold = (n) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => count(data.toString('latin1', 9, 12)));
    // Reconnects until it holds all connections, including those that others had at the start.
    socket.once('close', () => isFilling && hold(n));
    socket.write(n % 2 === 0 ? head : `${head}content-length: 100\r\n\r\n[{"name":`);
  };
  for (let n = 0; n < heldConnections; n += 1) hold(n);
  // Enough to take all connections.
  await setTimeout(500);
  isFilling = false;
  const start = performance.now();
  try {
    while (!(await responds(port))) await setTimeout(50, undefined, { signal });
    note(`reachable again after ${Math.round(performance.now() - start)} ms`);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Writes continuously while another process holds the file's lock for longer than the service waits for it. */
async function writeWhileLocked({ send, database, note }) {
  const acknowledged = [];
  let isOver = false;
  let sent = 0;
  const write = async () => {
    while (!isOver) {
      await createOne(send, `locked ${sent++}`, acknowledged);
      await setTimeout(20);
    }
  };
  let readyWait = 0;
  const ready = {};
  const probe = async () => {
    while (!isOver) {
      const start = performance.now();
      const { status } = await send('GET', '/readyz');
      readyWait = Math.max(readyWait, performance.now() - start);
      ready[status] = (ready[status] ?? 0) + 1;
      await setTimeout(50);
    }
  };
  const clients = [probe(), ...Array.from({ length: 8 }, write)];
  for (let round = 0; round < 2; round += 1) {
    await setTimeout(500);
    await runModule('attacks/hold-lock.mjs', [database.file, lockedTime]);
  }
  await setTimeout(500);
  isOver = true;
  await Promise.all(clients);
  note(`/readyz: ${JSON.stringify(ready)}, longest wait ${Math.round(readyWait)} ms`);
  return acknowledged;
}

async function createOne(send, uid, acknowledged) {
  const { status } = await send('POST', '/assets', JSON.stringify([{ name: 'Pump', uid }]));
  if (status === '201') acknowledged.push(uid);
}

/** Checks that acknowledged records are in the file, also after the service is killed. */
async function requireStored({ send, database, service, result: acknowledged = [], note, problem }) {
  const check = async (when) => {
    const missing = await database.missing('acme', acknowledged);
    const remark = `${when}: ${missing.length} of ${acknowledged.length} acknowledged creates are not stored`;
    if (missing.length > 0) problem(remark);
    else note(remark);
  };
  await check('after the locks');
  for (let n = 0; n < 50; n += 1) await createOne(send, `later ${n}`, acknowledged);
  service.kill('SIGKILL');
  await service.ended;
  await check('after kill -9');
}

/** Each request writes a log line. Empty batches store nothing, so that only the log can delay them. */
const sendManyRequests = ({ send }) => Promise.all(Array.from({ length: 2_000 }, () => send('POST', '/assets', '[]')));

/** Milliseconds that a shutdown may take when no request is in flight. */
const maxShutdown = 5_000;

async function shutDown({ service, note, problem }) {
  const start = performance.now();
  service.kill('SIGTERM');
  const how = await Promise.race([service.ended, setTimeout(maxShutdown)]);
  if (how) note(`ended with ${how} ${Math.round(performance.now() - start)} ms after SIGTERM`);
  if (how !== 'code 0') problem(how ? `ended with ${how} after SIGTERM` : `still runs ${maxShutdown} ms after SIGTERM`);
}

const brokenLog = (log, name) => ({
  name,
  log,
  settings: { LOG_LEVEL: 'info' },
  connections: 50,
  timeout: 20_000,
  run: sendManyRequests,
  after: shutDown,
});

export const environment = [
  {
    name: 'half-sent requests',
    settings: { MAX_CONNECTIONS: String(maxConnections), REQUEST_TIMEOUT: '2000' },
    timeout: 20_000,
    probes: { newConnections: true },
    // New clients cannot connect while all connections are taken.
    mayBeUnreachable: true,
    run: holdConnections,
  },
  {
    name: 'a lock on the file',
    isSqliteOnly: true,
    // Creates need the lock that another process holds; reads do not.
    probes: { creates: false },
    run: writeWhileLocked,
    after: requireStored,
  },
  brokenLog('full', 'a log on a full disk'),
  brokenLog('pipe', 'a log that is not read'),
];
