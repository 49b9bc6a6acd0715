/** The compiled service as processes, started as a user does and ended with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

interface Circumstances {
  /** Instead of `serve`. */
  readonly command?: readonly string[];
  /** Where standard output and error go: to us, or into an open file. */
  readonly streams?: readonly ['pipe' | number, 'pipe' | number];
  /** The permissions that its new files do not get, such as 0077. */
  readonly umask?: string | undefined;
  /** The folder whose compiled service runs. */
  readonly checkout?: string;
  /** Where it runs, instead of in the test's folder. */
  readonly cwd?: string;
  /** As whom it runs, instead of as the user of the tests. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** Processes in a fresh folder for each test of a file. */
export function useProcesses() {
  const { processes, begin, end } = createProcesses();
  beforeEach(begin);
  afterEach(end);
  return processes;
}

/** Processes that all tests of a file share. */
export function useSharedProcesses() {
  const { processes, begin, end } = createProcesses();
  beforeAll(begin);
  afterAll(end);
  return processes;
}

function createProcesses() {
  let started: ChildProcess[] = [];
  const processes = {
    /** Where the processes run; empty at first. */
    folder: '',
    /** Runs the service, or another command, with these settings and no others. */
    start: (settings: Record<string, string> = {}, ...command: string[]) =>
      processes.startUnder({ command: command.length > 0 ? command : ['serve'] }, settings),
    startUnder({ command = ['serve'], ...circumstances }: Circumstances, settings: Record<string, string> = {}) {
      const process = startProcess(processes.folder, settings, command, circumstances);
      started.push(process.child);
      return process;
    },
  };
  const begin = () => {
    processes.folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
    started = [];
  };
  const end = async () => {
    for (const child of started) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    rmSync(processes.folder, { recursive: true });
  };
  return { processes, begin, end };
}

function startProcess(
  folder: string,
  settings: Record<string, string>,
  command: readonly string[],
  { streams = ['pipe', 'pipe'], checkout = process.cwd(), cwd = folder, user, umask }: Circumstances = {},
) {
  const program = [process.execPath, join(checkout, 'dist/src/cli.js'), ...command];
  const [file = '', ...args] = umask ? ['sh', '-c', `umask ${umask} && exec "$@"`, 'sh', ...program] : program;
  const child = spawn(file, args, {
    cwd,
    ...user,
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', ...streams],
  });
  const said = { out: '', err: '' };
  child.stdout?.on('data', (data) => {
    said.out += data;
  });
  child.stderr?.on('data', (data) => {
    said.err += data;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);

  /** The address of the service, once it can be reached. */
  async function ready(): Promise<string> {
    const address = () => /"address":"(http[^"]+)"/.exec(said.out)?.[1];
    while (address() === undefined) {
      if (child.exitCode !== null) throw new Error(said.err);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return address() ?? '';
  }

  /** The output and exit code of a command that ends by itself. */
  async function ended() {
    const code = await exited;
    return { code, out: said.out.trimEnd(), err: said.err.trimEnd() };
  }
  return { child, said, exited, ended, ready };
}

/** Log lines. Node writes others about an unexpected error. */
export const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** Sends a request again while the service is too busy for it, as on a machine that runs much else: it has carried out nothing. */
export async function patiently(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await send();
    if (response.status !== 503 || !response.headers.has('retry-after')) return response;
    await pause(100);
  }
}

export const post = (url: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' };
  return patiently(() => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
};

/** Takes the service longer than a signal does to arrive. */
export const largeBatch = Array.from({ length: 2_000 }, (_, index) => ({ name: `location ${index}` }));

/** Posts in two steps: when the service has the headers, `between` runs, and only then the body is sent. */
export async function postAround(url: string, body: unknown, between: () => void) {
  const payload = JSON.stringify(body);
  const length = Buffer.byteLength(payload);
  const headers = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue' };
  const sent = request(url, { method: 'POST', headers });
  sent.flushHeaders();
  await once(sent, 'continue');
  between();
  sent.end(payload);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await json(response) };
}

/** The data of a GraphQL query that must succeed. */
export async function ask(address: string, query: string) {
  const { data, errors } = await (await post(`${address}/graphql`, { query })).json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}
