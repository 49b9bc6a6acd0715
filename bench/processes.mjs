/** Starts the processes of a benchmark: modules that run to their end, and servers whose cost is measured. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Milliseconds in which a server must respond for the first time. */
const maxStart = 30_000;

/** Milliseconds between attempts to connect; few, because the time to the first response is a figure of the benchmark. */
const pollInterval = 2;

const pathOf = (module) => fileURLToPath(new URL(module, import.meta.url));

/** Runs a module to its end with some standard input, and returns its standard output. Throws if it fails. */
export async function runModule(module, args, env = {}, input = '') {
  const child = spawn(process.execPath, [pathOf(module), ...args.map(String)], {
    env: { ...process.env, ...env },
    stdio: 'pipe',
  });
  child.stdin.end(input);
  const [printed, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`${module} ended with exit code ${code}: ${errors}`);
  return printed;
}

/** Starts a server in its own process; returns after its first response. It listens on `env.PORT`, or sends its port. */
export async function startServer(module, args, env = {}) {
  const start = performance.now();
  const child = fork(pathOf(module), args, {
    execArgv: ['--require', pathOf('measure-cost.cjs')],
    env: { ...process.env, ...env },
    // The service writes one log line per request: printing them would be measured too.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let hasEnded = false;
  // If the benchmark fails, its servers must not go on.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit').then(() => {
    hasEnded = true;
    process.off('exit', kill);
  });
  const port = Number(env.PORT ?? (await once(child, 'message'))[0].port);
  while (!(await responds(port))) {
    if (hasEnded) throw new Error(`${module} ended before its first response`);
    if (performance.now() - start > maxStart) {
      child.kill('SIGKILL');
      throw new Error(`${module} did not respond within ${maxStart} ms`);
    }
    await setTimeout(pollInterval);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Milliseconds from the start of the process to its first response. */
    startMilliseconds: performance.now() - start,
    /** The cost of the process since the last call; see measure-cost.cjs. */
    async cost() {
      child.send('cost');
      const [cost] = await once(child, 'message');
      return cost;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Whether the server responds on a new connection within a second. */
export const responds = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(false));
  });

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
