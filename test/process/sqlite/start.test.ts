/** What the process says when it cannot start. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../support/command.ts';
import { useProcesses } from '../../support/process.ts';

const processes = useProcesses();

describe('what keeps it from starting is one clear line, and exit code 1', () => {
  const failure = async (settings: Record<string, string>) => {
    const { code, out, err } = await runCommand({ PORT: '0', LOG_LEVEL: 'error', ...settings }, 'serve');
    expect(out).toBe('');
    return { code, error: err };
  };

  test('a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };

    const failed = await failure({ DATABASE_URL: 'sqlite::memory:', PORT: String(port) });
    const forMetrics = await failure({ DATABASE_URL: 'sqlite::memory:', METRICS_PORT: String(port) });
    server.close();

    const error = `PORT: ${port} is in use on 127.0.0.1: choose another one with --port or PORT, such as PORT=4001`;
    expect(failed).toEqual({ code: 1, error });
    expect(forMetrics.error).toBe(`METRICS_PORT: cannot listen on port ${port} of 127.0.0.1: EADDRINUSE`);
  });

  test('a driver that npm has not compiled, because its script was not allowed', async () => {
    const preload = join(processes.folder, 'no-driver.cjs');
    writeFileSync(
      preload,
      `const Module = require('node:module');
      const load = Module._load;
      Module._load = (name, ...rest) => {
        if (name === 'sqlite3') throw new Error('Could not locate the bindings file');
        return load(name, ...rest);
      };`,
    );

    const { code, err } = await processes.start({ NODE_OPTIONS: `--require ${preload}` }).ended();
    expect(code).toBe(1);
    expect(err).toMatch(/^the driver of SQLite is missing, or not compiled for this machine: [^\n]+$/);
  });

  const postgres = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';
  const noUrl = `not a valid URL: expected ${postgres}, with special characters of the password escaped`;
  const forms = `expected sqlite:PATH, sqlite::memory: or ${postgres}`;

  test.each([
    ['sqlite:/nowhere/dta/yardgraph.db', 'there is no folder /nowhere/dta: create it first, or correct the path'],
    ['sqlite://yardgraph.db', forms],
    [postgres, noUrl],
    ['postgres://yard:secret@127.0.0.1:54x/yard', noUrl],
    ['postgres://yard:12?Secret1@db/yard', noUrl],
    [
      'postgres://yard:12?Secret1%40db/yard',
      'unknown parameter, expected some of host, port, user, password, application_name, options, connect_timeout, sslmode, sslcert, sslkey, sslrootcert, sslnegotiation',
    ],
  ])('the DATABASE_URL %j', async (url, why) => {
    expect(await failure({ DATABASE_URL: url })).toEqual({ code: 1, error: `DATABASE_URL: ${why}` });
  });

  test('a host that is not of this machine', async () => {
    const open = { ALLOW_OPEN_ACCESS: 'yes-anyone-who-can-reach-this-port' };
    const { code, error } = await failure({ DATABASE_URL: 'sqlite::memory:', HOST: 'yard.invalid', ...open });
    expect([code, error]).toEqual([1, 'HOST: yard.invalid is not an address of this machine']);
  });

  test('wrong settings, every one named', async () => {
    const wrong = { HOST: 'http://localhost', PORT: '70000', LOG_LEVEL: 'loud', GRAPHIQL: 'maybe', MAX_BATCH: '0' };
    const { code, error } = await failure({ ...wrong, DATABASE_URL: 'mysql://x' });

    const lines = error.split('\n');
    expect(code).toBe(1);
    expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual(
      [...Object.keys(wrong), 'DATABASE_URL'].toSorted(),
    );
    expect(lines).toContain('PORT: expected a whole number from 0 to 65535');
  });
});
