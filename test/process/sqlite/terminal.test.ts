/** The service on a terminal, which util-linux's `script` provides: log lines are readable there. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/clock.ts';
import { runCommand } from '../../support/command.ts';
import { createFile } from '../../support/database.ts';
import { useProcesses } from '../../support/process.ts';

const processes = useProcesses();
const started: ChildProcess[] = [];

afterEach(() => started.splice(0).forEach((child) => void child.kill('SIGKILL')));

const hasScript = (() => {
  try {
    return execFileSync('script', ['--version']).includes('util-linux');
  } catch {
    return false;
  }
})();

/** Runs a command of the service on a terminal, and says what is on its screen. */
function onTerminal(command: string, settings: Record<string, string> = {}) {
  const program = `exec '${process.execPath}' '${process.cwd()}/dist/src/cli.js' ${command}`;
  const child = spawn('script', ['-qec', program, '/dev/null'], {
    cwd: processes.folder,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', PORT: '0', ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(child);
  const screen = { text: '' };
  child.stdout.on('data', (data) => {
    screen.text += data;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const shows = (pattern: RegExp) => eventually(() => expect(screen.text).toMatch(pattern));
  const address = async () => {
    await shows(/http:\/\/\S+\/graphql/);
    return /(http:\/\/\S+)\/graphql/.exec(screen.text)?.[1] ?? '';
  };
  return { child, screen, exited, shows, address, type: (text: string) => child.stdin.write(text) };
}

const ctrlC = '\x03';

describe.runIf(hasScript)('on a terminal', () => {
  test('a start says where everything is, and its log lines are short, coloured, and end with what is rarely needed', async () => {
    const service = onTerminal('serve');
    const address = await service.address();
    await service.shows(/Data .*\r\n/);
    await fetch(`${address}/nowhere`);
    await service.shows(/nowhere|GET/);
    service.type(ctrlC);

    expect(await service.exited).toBe(0);
    const { text } = service.screen;
    expect(text).toContain('is ready, open to everybody on this machine');
    expect(text).toContain(`Home page             ${address}/\r\n`);
    expect(text).toContain(`GraphQL and GraphiQL  ${address}/graphql`);
    expect(text).toContain(`REST reference        ${address}/reference`);
    expect(text).toContain(`Data                  ${processes.folder}/data/yardgraph.db`);
    const lines = text
      .replaceAll('\x1b[', '<')
      .replace('^C', '')
      .split('\r\n')
      .filter((line) => line.startsWith('['));
    expect(lines).toEqual([
      expect.stringMatching(/^\[\d\d:\d\d:\d\d\] <32mINFO<39m: <36mServer listening at http/),
      expect.stringMatching(/GET - 404, \d+ ms.*"reason":"unknown path","address":"127\.0\.0\.1"/),
      expect.stringMatching(/stopped.*"signal":"SIGINT","uptimeSeconds":\d+/),
    ]);
    for (const line of lines) expect(line).not.toMatch(/"pid"|hostname/);
  });

  test('the demo has a file of its own; NO_COLOR turns colours off', async () => {
    const service = onTerminal('demo', { DATABASE_URL: '', NO_COLOR: '1', GRAPHIQL: 'off' });
    await service.address();
    await service.shows(/INFO: Server listening/);
    service.type(ctrlC);

    expect(await service.exited).toBe(0);
    expect(service.screen.text).not.toContain('\x1b[3');
    expect(service.screen.text).toMatch(/GraphQL {15}http/);
    expect(readdirSync(join(processes.folder, 'data'))).toEqual(['demo.db']);
  });

  test('workspaces delete deletes after the name has been typed', async () => {
    const { url, remove } = await createFile();
    onTestFinished(remove);
    const run = (...command: string[]) => runCommand({ DATABASE_URL: url }, ...command);
    for (const name of ['acme', 'yard']) await run('keys', 'create', '--workspace', name, '--user', 'erp');
    const command = onTerminal('workspaces delete acme', { DATABASE_URL: url });
    await command.shows(/The workspace acme has 1 key\./);
    await command.shows(/Type acme to delete all of it: /);
    command.type('acme\r');

    expect(await command.exited).toBe(0);
    expect(command.screen.text).toContain('Deleted acme.');
    const left = JSON.parse((await run('workspaces', 'list', '--json')).out);
    expect(left).toMatchObject([{ workspace: 'yard' }]);
  });
});
