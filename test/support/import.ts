/** Imports files into a service of its own, as the command does. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { runCommand } from './command.ts';
import { useService } from './service.ts';

export function useImports(settings: Readonly<Record<string, string>> = {}) {
  const service = useService(settings);
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'yardgraph-import-'));
    await service.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const url = () => `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  const write = (files: Readonly<Record<string, string | Uint8Array>>) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  };

  return {
    service,
    url,
    path: (name: string) => join(folder, name),
    write,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    files: () => readdirSync(folder).toSorted(),

    /** Runs the command, and returns what it has printed on standard output, with the folder left out, and its exit code. */
    async command(...args: readonly string[]) {
      const { code, out, err } = await runCommand({ YARDGRAPH_URL: url() }, ...args);
      return { code, out: out.replaceAll(`${folder}/`, '').split('\n'), err: err.replaceAll(`${folder}/`, '') };
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
