/** Starts the processes of a benchmark: modules that run to their end, and servers whose cost is measured. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const pathOf = (module) => fileURLToPath(new URL(module, import.meta.url));

/** Runs a module to its end, and returns its output. Throws if it fails. */
export async function run(module, args, env = {}) {
  const child = spawn(process.execPath, [pathOf(module), ...args.map(String)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${module} ended with exit code ${code}`);
  return printed;
}

/** Starts a server in its own process; returns after its first response. It listens on `env.PORT`, or sends its port. */
export async function startServer(module, args, env = {}, flags = []) {
  const start = performance.now();
  const child = fork(pathOf(module), args, {
    execArgv: [...flags, '--require', pathOf('inside.cjs')],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let hasEnded = false;
  const ended = once(child, 'exit').then(() => {
    hasEnded = true;
  });
  const port = Number(env.PORT ?? (await once(child, 'message'))[0].port);
  while (!(await responds(port))) {
    if (hasEnded) throw new Error(`${module} ended before its first response`);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Milliseconds from the start of the process to its first response. */
    startMilliseconds: performance.now() - start,
    /** What the process has cost since the last call; see inside.cjs. */
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

const responds = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
    socket.once('data', () => socket.destroy() && resolve(true));
    socket.once('error', () => setTimeout(resolve, 2, false));
  });

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
