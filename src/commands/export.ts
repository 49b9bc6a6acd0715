import { createWriteStream, realpathSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type ExportFileOptions, type Yardgraph, YardgraphError } from '../../client/index.ts';
import { errorCode, StartError } from '../errors.ts';
import { parseKindName } from '../import/columns.ts';
import { expected } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import { recordKinds } from '../records/index.ts';
import { connect, messageOf } from './service.ts';
import { createProgressBar } from './terminal.ts';

interface ExportOptions extends Omit<ExportFileOptions, 'where' | 'externalIds' | 'signal'> {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly format?: string;
  readonly where?: string;
  readonly externalIds?: string;
  readonly output?: string;
  readonly language?: string;
}

/** A file ends with `.part` until it is complete. */
export async function exportRecords(kindName: string, options: ExportOptions): Promise<void> {
  const { url, apiKey = '', format: _, where, externalIds, output, language, ...form } = options;
  const name = readListName(kindName);
  const format = readFormat(name, options);
  const yardgraph = connect({ serverURL: url, apiKeyAuth: apiKey });
  try {
    const { count, body } = await yardgraph.exportFile(name, format, {
      ...(where !== undefined && { where: readWhere(where) }),
      ...(externalIds !== undefined && { externalIds: externalIds.split(',') }),
      ...form,
      ...(language !== undefined && { excel: language }),
    });
    // Safe: two libraries declare the same class.
    const bytes = Readable.fromWeb(body as ReadableStream);
    if (output === undefined || output === '-') {
      await pipeline(bytes, process.stdout, { end: false });
      return;
    }
    await writeExport(output, bytes, count);
  } catch (error) {
    if (error instanceof YardgraphError) throw new StartError(messageOf(error, url));
    const code = errorCode(error);
    // The reader of standard output, such as `head`, has ended.
    if (code === 'EPIPE') return;
    if (!(error instanceof Error)) throw error;
    if (code !== '') throw new StartError(`cannot write ${output ?? 'standard output'}: ${error.message}`);
    // `fetch` throws this while a response arrives.
    const isCutOff = error instanceof TypeError && error.message === 'terminated';
    throw isCutOff ? new StartError('the export was cut off, run it again') : error;
  }
}

async function writeExport(output: string, bytes: Readable, count: number): Promise<void> {
  const existing = statSync(output, { throwIfNoEntry: false });
  // A device or a pipe must not be replaced by a file.
  if (existing && !existing.isFile()) return pipeline(bytes, createWriteStream(output));
  const target = existing ? realpathSync(output) : output;
  // Another process may write the same file.
  const part = `${target}.${process.pid}.part`;
  const bar = createProgressBar('{percentage}% {value}/{total} records');
  const progress = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let lines = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
      // Texts may contain line breaks.
      bar.increment(Math.max(0, Math.min(lines, bar.getTotal() - Math.round(bar.getProgress() * bar.getTotal()))));
      done(null, chunk);
    },
  });
  bar.start(count, 0);
  try {
    await pipeline(bytes, progress, createWriteStream(part));
    await rename(part, target);
    bar.update(count);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    bar.stop();
  }
}

type ListName = Parameters<Yardgraph['exportFile']>[0];

function readListName(kindName: string): ListName {
  const kind = parseKindName(kindName);
  // Safe: the client is generated from the kinds.
  if (kind) return listField(kind) as ListName;
  if (kindName === 'all') return kindName;
  const names = [...recordKinds.map(listField), 'all'].join(', ');
  throw new StartError(`<kind>: ${expected(`one of ${names}`, kindName)}`);
}

function readFormat(name: ListName, { format, output = '' }: ExportOptions): 'csv' | 'ndjson' {
  const chosen = format ?? (name === 'all' || extname(output) === '.ndjson' ? 'ndjson' : 'csv');
  if (chosen !== 'csv' && chosen !== 'ndjson') throw new StartError(`--format: ${expected('csv or ndjson', chosen)}`);
  if (name === 'all' && chosen === 'csv')
    throw new StartError('--format: all kinds together are exported as ndjson only');
  return chosen;
}

function readWhere(where: string): object {
  try {
    return JSON.parse(where);
  } catch {
    throw new StartError(`--where: ${expected('a filter as JSON, such as {"name":{"eq":"Crane"}}', where)}`);
  }
}
