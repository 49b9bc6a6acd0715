/** `GET /export/…`: all records of a kind, or of all kinds, as a file, from one state of the database. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, errorCode, tooLarge, tooManyRequests, unavailable } from '../errors.ts';
import { requireSmallJson } from '../http/request.ts';
import { csvCell } from '../model/csv.ts';
import { count, expected, isObject, quote } from '../model/issues.ts';
import { constantCase, pathName, uncapitalized } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { unknownFieldIssues } from '../model/schemas.ts';
import { kindNamed, linkOrder, recordKinds } from '../records/index.ts';
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

/** The parameters of each file. The only one with records of several kinds has no filter. */
const files: readonly { name: string; kinds: readonly RecordKind[]; parameters: readonly string[] }[] = [
  ...recordKinds.flatMap((kind) => [
    { name: `${pathName(kind)}.csv`, kinds: [kind], parameters: ['where', 'externalIds', 'excel'] },
    { name: `${pathName(kind)}.ndjson`, kinds: [kind], parameters: ['where', 'externalIds'] },
  ]),
  { name: 'all.ndjson', kinds: linkOrder, parameters: ['externalIds'] },
];

interface Export {
  readonly kinds: readonly RecordKind[];
  /** The systems whose IDs have columns of their own. */
  readonly keys: readonly string[];
  readonly where: Condition | undefined;
  readonly format: Format;
}

interface Options {
  readonly limits: Limits;
  readonly exportTimeout: number;
}

/** Exports are read into a file, at the speed of the database, and then sent: so a client that reads slowly holds nothing but the file. */
export function serveExports(app: FastifyInstance, { limits, exportTimeout }: Options, readFilter: ReadFilter): void {
  const running = new Map<number | undefined, number>();

  /** Counts an export of the workspace until its response is closed. */
  function begin({ identity }: FastifyRequest, { raw: response }: FastifyReply): void {
    const workspaceId = identity?.workspace.number;
    const others = running.get(workspaceId) ?? 0;
    if (others >= maxExports) {
      const message = `a workspace may have ${maxExports} exports at a time: try again later`;
      throw tooManyRequests(message, 'too many exports');
    }
    running.set(workspaceId, others + 1);
    response.once('close', () => {
      const left = (running.get(workspaceId) ?? 1) - 1;
      if (left > 0) running.set(workspaceId, left);
      else running.delete(workspaceId);
    });
  }

  for (const { name, kinds, parameters } of files) {
    app.get<{ Querystring: Query }>(`/export/${name}`, { exposeHeadRoute: false }, async (request, reply) => {
      const { where, externalIds, excel } = readParameters(request.query, parameters);
      const exported = {
        kinds,
        keys: readKeys(externalIds),
        where: where === undefined ? undefined : await readFilter(kinds[0] as RecordKind, parseJson(where, limits)),
        format: name.endsWith('.ndjson') ? ndjson : readFlag(excel) ? excelCsv : csv,
      };
      begin(request, reply);
      const end = performance.now() + exportTimeout;
      const requireTime = (): void => {
        if (performance.now() > end) {
          const limit = `an export is read for at most ${count(exportTimeout)} ms`;
          throw tooLarge(`${limit}: export fewer records at a time, with \`where\``);
        }
        // Nobody reads the response any more.
        if (reply.raw.destroyed) throw unavailable('the client has left', 'CLIENT_LEFT');
      };
      const { file, records } = await request.session.store.longSnapshot(async (snapshot) => {
        let records = 0;
        const read = texts(snapshot, exported, (found) => {
          records += found;
          requireTime();
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
    });
  }
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
  { kinds, keys, where, format }: Export,
  onRead: (records: number) => void,
): AsyncGenerator<string> {
  for (const kind of kinds) {
    const columns = columnsOf(kind, keys);
    const header = format.header(columns);
    if (header !== '') yield header;
    for await (const found of pagesById(snapshot, kind, { where, limit: pageLength })) {
      onRead(found.length);
      const records = found.map((record): Values => ({ ...record }));
      const targets = keys.length > 0 ? await readTargets(snapshot, kind, records) : new Map();
      yield records.map((record) => format.row(kind, columns, record, targets)).join('');
    }
  }
}

type Query = Readonly<Record<string, string | string[]>>;

function readParameters(query: Query, names: readonly string[]): Partial<Record<string, string>> {
  const unknown = Object.keys(query).filter((name) => !names.includes(name));
  const [problem] = unknownFieldIssues(unknown, names);
  if (problem) throw badRequest(`${unknown[0]?.slice(0, 100)}: ${problem.message.replace('field', 'parameter')}`);
  const repeated = names.find((name) => Array.isArray(query[name]));
  if (repeated) throw badRequest(`${repeated}: expected it once, received it several times`);
  return query as Readonly<Record<string, string>>;
}

function readKeys(sent: string | undefined): readonly string[] {
  if (sent === undefined) return [];
  const keys = sent.split(',');
  const refuse = (what: string) => badRequest(`externalIds: ${what}`);
  if (keys.includes('')) throw refuse(expected('names of systems such as erp,crm', sent));
  if (keys.length > maxKeys) throw refuse(`expected at most ${maxKeys} names, received ${count(keys.length)}`);
  if (new Set(keys).size < keys.length) throw refuse(`expected each name once, received ${quote(sent)}`);
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
type Targets = ReadonlyMap<string, unknown>;

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
    linkFields(kind).map(([name, field, { target }]) => [field, { name, target: kindNamed(target) }]),
  );
  return Object.keys(kind.storedFields).flatMap((field): Column[] => {
    if (field === 'workspaceId') return [];
    const plain: Column = { name: field, read: (record) => record[field] };
    if (keys.length === 0) return [plain];
    const columns = (prefix: string, externalIdsOf: Column['read']) =>
      keys.map(
        (key): Column => ({
          name: `${prefix}externalIds.${key}`,
          read: (record, targets) => idIn(externalIdsOf(record, targets), key),
        }),
      );
    if (field === 'externalIds') return columns('', plain.read);
    const link = links.get(field);
    if (!link?.target.fields.externalIds) return [plain];
    return [plain, ...columns(`${link.name}.`, (record, targets) => targets.get(String(record[field])))];
  });
}

const idIn = (externalIds: unknown, key: string): unknown =>
  isObject(externalIds) && Object.hasOwn(externalIds, key) ? externalIds[key] : undefined;

async function readTargets(store: RecordReads, kind: RecordKind, records: readonly Values[]): Promise<Targets> {
  const targets = new Map<string, unknown>();
  for (const [, field, { target }] of linkFields(kind)) {
    const ids = new Set(records.flatMap(({ [field]: id }) => (typeof id === 'string' ? id : [])));
    if (!kindNamed(target).fields.externalIds || ids.size === 0) continue;
    for (const found of await store.find(kindNamed(target), [...ids], new Set(['id', 'externalIds']))) {
      const { id, externalIds }: Values = { ...found };
      targets.set(String(id), externalIds);
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
