/** Imports files into a workspace of its own, as the command does. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { Yardgraph } from '../../client/index.ts';
import { runCommand } from './command.ts';
import { listen, useWorkspaces } from './service.ts';

export function useImports(settings: Readonly<Record<string, string>> = {}) {
  const service = useWorkspaces(settings);
  let folder: string;
  let url: string;

  beforeAll(async () => {
    url = await listen(service.app);
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'yardgraph-import-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const key = () => service.headers.authorization.replace('Bearer ', '');
  const write = (files: Readonly<Record<string, string | Uint8Array>>) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  };

  return {
    service,
    url: () => url,
    key,

    /** A client with the same workspace. */
    client: () => new Yardgraph({ serverURL: url, apiKeyAuth: key() }),
    path: (name: string) => join(folder, name),
    write,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    files: () => readdirSync(folder).toSorted(),

    /**
     * Runs the command, and returns what it has printed on standard output, with the folder left out, and its exit code. The lines of the
     * preview's table are apart.
     */
    async command(...args: readonly string[]) {
      return this.commandWith(key(), ...args);
    },

    /** The same with another key. */
    async commandWith(apiKey: string, ...args: readonly string[]) {
      const { code, out, err } = await runCommand({ YARDGRAPH_URL: url, YARDGRAPH_API_KEY: apiKey }, ...args);
      const lines = out.replaceAll(`${folder}/`, '').split('\n');
      const isOfTable = (line: string) => /^ +created +changed| {2,}[\d,]+(?: +[\d,]+){4}$/.test(line);
      return {
        code,
        out: lines.filter((line) => !isOfTable(line)),
        table: lines.filter(isOfTable).map((line) => line.trim().replace(/ {2,}/g, ' ')),
        err: err.replaceAll(`${folder}/`, ''),
      };
    },

    /** Writes the files, and imports them without a question. */
    async import(files: Readonly<Record<string, string | Uint8Array>>, ...options: readonly string[]) {
      write(files);
      return this.command('import', ...Object.keys(files).map((name) => join(folder, name)), '--yes', ...options);
    },

    /** The records of a kind, with these fields, in the order of their creation. */
    async records(list: string, fields: string) {
      const data = await service.data(`{ ${list}(first: 1000) { nodes { ${fields} } } }`);
      return data[list].nodes;
    },
  };
}
