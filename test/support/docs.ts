/**
 * The documentation as something to execute. A code block's information string says what a test does with it: `sh run` is pasted
 * into a shell, `graphql run` is sent to the service with the `json variables` that follow, and an `output` block after either is
 * what must come back, apart from IDs, cursors and times, and from the cost of a query where the page leaves it out. A `check NAME` block is read by a test of its page, and a `check PATH` block is
 * written to this file, or is a change to it.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { runCommand } from './command.ts';

export interface Block {
  readonly language: string;
  readonly use: string;
  readonly text: string;
}

export const pages: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

export const readPage = (page: string): string => readFileSync(page, 'utf8');

/** The code blocks of a page, in order; those of a list are indented. */
export const blocksOf = (page: string): Block[] =>
  [...readPage(page).matchAll(/^( *)```(\w+) ?(.*)\n((?:(?! *```).*\n)*) *```$/gm)].map(
    ([, indentation = '', language = '', use = '', text = '']) => ({
      language,
      use,
      text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
    }),
  );

export const isPath = (name: string): boolean => name.includes('/');

export function checkedBlock(page: string, name: string): string {
  const block = blocksOf(page).find(({ use }) => use === `check ${name}`);
  if (!block) throw new Error(`there is no block "check ${name}" in ${page}`);
  return block.text;
}

/** A block to execute, and the blocks right after it that belong to it. */
interface Step extends Block {
  readonly variables?: Block | undefined;
  readonly output?: Block | undefined;
}

/** The blocks of a page that are executed, in its order. */
export function stepsOf(page: string): Step[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block, index) => {
    if (block.use !== 'run') return [];
    const following = blocks.slice(index + 1, index + 3);
    const variables = following[0]?.use === 'variables' ? following[0] : undefined;
    const next = variables ? following[1] : following[0];
    return [{ ...block, variables, output: next?.use === 'output' ? next : undefined }];
  });
}

type Env = Readonly<Record<string, string>>;

const separator = '\u001e';

/**
 * Executes a page from top to bottom, in one shell that runs in the folder: pastes its `sh run` blocks, and sends its `graphql run` blocks.
 * Fails if a command fails, or if an output is not the page's. Returns the outputs.
 */
export async function pastePage(page: string, folder: string, address: string): Promise<string[]> {
  const steps = stepsOf(page);
  expect(steps).not.toEqual([]);
  const script = steps.map((step) => withOwnKey(at(address, commandOf(step)))).join(`printf '${separator}'\n`);
  const { shell, stop } = await startCommands(folder);
  const outputs = (await pasteText(shell + script, folder).finally(stop)).split(separator);
  steps.forEach(({ output, text }, index) => {
    if (output) expectOutput(output, at('http://127.0.0.1:4000', outputs[index] ?? ''), text);
  });
  return outputs;
}

function commandOf({ language, text, variables }: Step): string {
  if (language !== 'graphql') return text;
  const body = JSON.stringify({ query: text, variables: variables && JSON.parse(variables.text) });
  return `curl -s http://127.0.0.1:4000/graphql -H 'Content-Type: application/json' -d ${quoted(body)}\n`;
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Lets `node dist/src/cli.js` of a shell run in this process: to start one takes ten times as long. */
async function startCommands(folder: string) {
  const server = createServer(async (request, response) => {
    const sent = (await text(request)).split('\0').slice(0, -1);
    const end = sent.indexOf('');
    const settings = Object.fromEntries(sent.slice(0, end).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
    const here = process.cwd();
    process.chdir(folder);
    const { code, out, err } = await runCommand(settings, ...sent.slice(end + 1)).finally(() => process.chdir(here));
    const print = (said: string) => (said === '' ? ':' : `printf '%s\\n' ${quoted(said)}`);
    response.end(`${print(err)} >&2\n${print(out)}\nreturn ${code}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shell = `node() { eval "$({ env -0; printf '\\0'; printf '%s\\0' "\${@:2}"; } | curl -s --data-binary @- ${url})"; }\n`;
  return { shell, stop: () => void server.close() };
}

/** Runs commands in a shell in the folder, where `dist` is the compiled service, and returns all that they print. */
export async function pasteText(script: string, folder: string, env: Env = {}): Promise<string> {
  if (![`${folder}/node_modules`, `${folder}/dist`].some((path) => existsSync(path)))
    symlinkSync(resolve('dist'), join(folder, 'dist'));
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, npm_config_update_notifier: 'false', ...env },
  };
  const shell = ['-eu', '-o', 'pipefail', '-c', `exec 2>&1\n${script}`];
  return promisify(execFile)('bash', shell, options).then(
    ({ stdout }) => stdout,
    ({ stdout }) => Promise.reject(new Error(`a command failed after printing\n${stdout}`)),
  );
}

/** The text with the address of the running service in place of the one in the documentation, or the other way round. */
const at = (address: string, text: string) => text.replace(/http:\/\/127\.0\.0\.1:\d+/g, address);

/** The prefix of a key on a page is that of the key which the page has created. */
const withOwnKey = (text: string) => text.replaceAll('yardgraph_acme_5f0c21d9', '$(cut -d_ -f1-3 erp.key)');

function expectOutput({ language, text }: Block, received: string, step: string): void {
  const comparable = (output: string) => withoutChanging(output).trim();
  const [expected, actual] = [comparable(text), comparable(received)];
  if (language !== 'json') expect(actual, `the output of\n${step}`).toBe(expected);
  else expect(JSON.parse(actual), `the output of\n${step}`).toEqual(JSON.parse(expected));
}

/** Without what differs from run to run: IDs, cursors, times, prefixes of keys and keys. */
const withoutChanging = (output: string): string =>
  output
    .replace(/_[0-9a-hjkmnp-tv-z]{26}/g, '_ID')
    // Base64 of JSON with an ID.
    .replace(/"WyJ[\w-]+"/g, '"CURSOR"')
    .replace(/("(?:createdAt|updatedAt)":\s*)"[^"]*"/g, '$1"TIME"')
    .replace(/(the updatedAt of the stored \w+, \\")[^"\\]*/g, '$1TIME')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .replace(/in \d+\.\d s/g, 'in SECONDS')
    .replace(/yardgraph_([a-z]+)_[0-9a-f]{8}(?:_[\w-]{43})?/g, 'yardgraph_$1_KEY');
