/** `GET /export/…`: all records of a kind, or of all kinds, as a file, from one state of the database. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, errorCode, tooLarge, tooManyRequests, unavailable } from '../errors.ts';
import { requireSmallJson } from '../http/json-body.ts';
import { csvCell } from '../model/csv.ts';
import { count, expected, isObject, quote } from '../model/issues.ts';
import { constantCase, pathName, uncapitalized } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { unknownFieldIssues } from '../model/schemas.ts';
import { kindNamed, recordKinds } from '../records/index.ts';
import { linkOrder } from '../records/link-order.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { RecordReads } from '../store/records/read-records.ts';
import { pagesById } from '../store/workspace-store.ts';

type ReadFilter = (kind: RecordKind, where: unknown) => Promise<Condition | undefined>;

/**
 * Records per statement. Other requests are handled between statements. Few, because a single record may have hundreds of thousands of
 * characters.
 */
const pageLength = 100;

/** The most exports of a workspace at a time: each has a file until its client has read it. */
const maxExports = 2;

const maxKeys = 10;

interface Part {
  readonly kind: RecordKind;
  readonly columns: readonly Column[];
  readonly where?: Condition | undefined;
}

interface Export {
  readonly parts: readonly Part[];
  readonly format: Format;
  readonly hasTargets: boolean;
}

interface Options {
  readonly limits: Limits;
  readonly exportTimeout: number;
}

/** Exports are read into a file, at the speed of the database, and then sent: so a client that reads slowly holds nothing but the file. */
export function serveExports(app: FastifyInstance, { limits, exportTimeout }: Options, readFilter: ReadFilter): void {
  const running = new Map<number | undefined, number>();

  function begin(workspaceId: number | undefined, response: ServerResponse): void {
    const count = running.get(workspaceId) ?? 0;
    if (count >= maxExports) {
      throw tooManyRequests(
        `a workspace may have ${maxExports} exports at a time: try again later`,
        'too many exports',
      );
    }
    running.set(workspaceId, count + 1);
    response.once('close', () => {
      const left = (running.get(workspaceId) ?? 1) - 1;
      if (left > 0) running.set(workspaceId, left);
      else running.delete(workspaceId);
    });
  }

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    name: string,
    exported: Export,
  ): Promise<FastifyReply> => {
    begin(request.identity?.workspace.number, reply.raw);
    const end = performance.now() + exportTimeout;
    const goOn = () => {
      if (performance.now() > end) {
        throw tooLarge(
          `an export is read for at most ${count(exportTimeout)} ms: export fewer records at a time, with \`where\``,
        );
      }
      // Nobody reads the response any more.
      if (reply.raw.destroyed) throw unavailable('the client has left', 'CLIENT_LEFT');
    };
    const { file, records } = await request.session.store.longSnapshot(async (snapshot) => {
      let records = 0;
      const read = texts(snapshot, exported, (found) => {
        goOn();
        records += found;
      });
      return { file: await writeFile(read), records };
    });
    const { size } = await file.stat();
    const stream = file.createReadStream({ start: 0 });
    if (reply.raw.destroyed) stream.destroy();
    return reply
      .type(exported.format.type)
      .header('export-count', records)
      .header('content-disposition', `attachment; filename="${name}"`)
      .header('content-length', size)
      .send(stream);
  };

  for (const kind of recordKinds) {
    for (const [extension, parameters] of [
      ['csv', ['where', 'externalIds', 'excel']],
      ['ndjson', ['where', 'externalIds']],
    ] as const) {
      const name = `${pathName(kind)}.${extension}`;
      app.get<{ Querystring: Query }>(`/export/${name}`, { exposeHeadRoute: false }, async (request, reply) => {
        const sent = readParameters(request.query, parameters);
        const keys = readKeys(sent.externalIds);
        const where = sent.where === undefined ? undefined : await readFilter(kind, parseJson(sent.where, limits));
        const format = extension === 'ndjson' ? ndjson : readFlag(sent.excel) ? excelCsv : csv;
        const parts = [{ kind, columns: columnsOf(kind, keys), where }];
        return send(request, reply, name, { parts, format, hasTargets: keys.length > 0 });
      });
    }
  }
  app.get<{ Querystring: Query }>('/export/all.ndjson', { exposeHeadRoute: false }, async (request, reply) => {
    const keys = readKeys(readParameters(request.query, ['externalIds']).externalIds);
    const parts = linkOrder.map((kind) => ({ kind, columns: columnsOf(kind, keys) }));
    return send(request, reply, 'all.ndjson', { parts, format: ndjson, hasTargets: keys.length > 0 });
  });
}

/** Writes a file that no other user can open, and that disappears with the process, however the process ends. */
async function writeFile(texts: AsyncIterable<string>): Promise<FileHandle> {
  const path = join(tmpdir(), `yardgraph-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch(noRoom);
  try {
    await unlink(path);
    for await (const text of texts) await file.writeFile(text).catch(noRoom);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function noRoom(error: unknown): never {
  throw unavailable('there is no room for a file of this size, try again', errorCode(error));
}

async function* texts(
  snapshot: RecordReads,
  { parts, format, hasTargets }: Export,
  onRead: (records: number) => void,
): AsyncGenerator<string> {
  for (const { kind, columns, where } of parts) {
    const header = format.header(columns);
    if (header !== '') yield header;
    for await (const found of pagesById(snapshot, kind, { where, limit: pageLength })) {
      onRead(found.length);
      const records = found.map((record): Values => ({ ...record }));
      const targets = hasTargets ? await readTargets(snapshot, kind, records) : new Map();
      yield records.map((record) => format.row(kind, columns, record, targets)).join('');
    }
  }
}

type Query = Readonly<Record<string, string | string[]>>;

function readParameters(
  query: Query,
  names: readonly string[],
): { readonly where?: string; readonly externalIds?: string; readonly excel?: string } {
  const unknown = Object.keys(query).filter((name) => !names.includes(name));
  const [problem] = unknownFieldIssues(unknown, names);
  if (problem) throw badRequest(`${unknown[0]?.slice(0, 100)}: ${problem.message.replace('field', 'parameter')}`);
  const parameters: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') throw badRequest(`${name}: expected it once, received it several times`);
    parameters[name] = value;
  }
  return parameters;
}

function readKeys(sent: string | undefined): readonly string[] {
  if (sent === undefined) return [];
  const keys = sent.split(',');
  if (keys.includes('')) throw badRequest(`externalIds: ${expected('names of systems such as erp,crm', sent)}`);
  if (keys.length > maxKeys)
    throw badRequest(`externalIds: expected at most ${maxKeys} names, received ${count(keys.length)}`);
  if (new Set(keys).size < keys.length)
    throw badRequest(`externalIds: expected each name once, received ${quote(sent)}`);
  return keys;
}

function readFlag(sent: string | undefined): boolean {
  if (sent === undefined || sent === 'false') return false;
  if (sent !== 'true') throw badRequest(`excel: ${expected('true or false', sent)}`);
  return true;
}

function parseJson(sent: string, limits: Limits): unknown {
  requireSmallJson(Buffer.from(sent), limits);
  try {
    return JSON.parse(sent);
  } catch {
    throw badRequest(`where: ${expected('a filter as JSON, such as {"name":{"eq":"Crane"}}', sent)}`);
  }
}

/** The external IDs of the records that links lead to, by their IDs. */
type Targets = ReadonlyMap<string, Values>;

interface Column {
  readonly name: string;
  readonly read: (record: Values, targets: Targets) => unknown;
}

/**
 * Returns the columns of a kind: its fields, with external IDs as one object. If keys are named, these have a column each instead, and so
 * do those of the records that links lead to.
 */
function columnsOf(kind: RecordKind, keys: readonly string[]): Column[] {
  const links = new Map(
    linkFields(kind).map(([link, field, { target }]) => [field, { link, target: kindNamed(target) }]),
  );
  return Object.keys(kind.storedFields).flatMap((field): Column[] => {
    if (field === 'workspaceId') return [];
    const plain: Column = { name: field, read: (record) => record[field] };
    if (keys.length === 0) return [plain];
    if (field === 'externalIds') {
      return keys.map((key) => ({ name: `externalIds.${key}`, read: ({ externalIds }) => idIn(externalIds, key) }));
    }
    const link = links.get(field);
    if (!link?.target.fields.externalIds) return [plain];
    return [
      plain,
      ...keys.map(
        (key): Column => ({
          name: `${link.link}.externalIds.${key}`,
          read: (record, targets) => idIn(targets.get(String(record[field])), key),
        }),
      ),
    ];
  });
}

const idIn = (externalIds: unknown, key: string): unknown =>
  isObject(externalIds) && Object.hasOwn(externalIds, key) ? externalIds[key] : undefined;

async function readTargets(store: RecordReads, kind: RecordKind, records: readonly Values[]): Promise<Targets> {
  const idsByKind = new Map<RecordKind, Set<string>>();
  for (const [, field, { target }] of linkFields(kind)) {
    const ids = idsByKind.get(kindNamed(target)) ?? new Set<string>();
    for (const record of records) if (typeof record[field] === 'string') ids.add(record[field]);
    idsByKind.set(kindNamed(target), ids);
  }
  const targets = new Map<string, Values>();
  for (const [target, ids] of idsByKind) {
    if (!target.fields.externalIds || ids.size === 0) continue;
    for (const found of await store.find(target, [...ids], new Set(['id', 'externalIds']))) {
      const { id, externalIds }: Values = { ...found };
      targets.set(String(id), isObject(externalIds) ? externalIds : {});
    }
  }
  return targets;
}

interface Format {
  readonly type: string;
  header(columns: readonly Column[]): string;
  row(kind: RecordKind, columns: readonly Column[], record: Values, targets: Targets): string;
}

const ndjson: Format = {
  type: 'application/x-ndjson; charset=utf-8',
  header: () => '',
  row(kind, columns, record, targets) {
    const row: Record<string, unknown> = { kind: constantCase(uncapitalized(kind.name)) };
    for (const { name, read } of columns) {
      const value = read(record, targets);
      if ((value ?? null) !== null) row[name] = value;
    }
    return `${JSON.stringify(row)}\n`;
  },
};

const csvWith = (start: string, protect: (text: string) => string): Format => ({
  type: 'text/csv; charset=utf-8',
  header: (columns) => `${start}${columns.map(({ name }) => csvCell(protect(name))).join(',')}\n`,
  row: (_kind, columns, record, targets) =>
    `${columns.map(({ read }) => csvCell(cellOf(read(record, targets), protect))).join(',')}\n`,
});

function cellOf(value: unknown, protect: (text: string) => string): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return protect(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const csv = csvWith('', (text) => text);

/** For spreadsheet programs: with a byte order mark, and an apostrophe before texts that they would execute. */
const excelCsv = csvWith('\uFEFF', (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text));
