/** `GET /export/…`: all records of a kind, or of all kinds, as a file, from one state of the database. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, errorCode, tooLarge, tooManyRequests, unavailable } from '../errors.ts';
import { parseJson } from '../http/request.ts';
import { count, expected, isObject, quote } from '../model/issues.ts';
import { pathName } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { unknownFieldIssues } from '../model/schemas.ts';
import { sentence } from '../model/sentences.ts';
import { kindNamed, label, labelKey, labelledFields, linkOrder, recordKinds } from '../records/index.ts';
import type { Condition } from '../store/query/record-query.ts';
import { findByUniqueField, pagesById, type RecordReads } from '../store/workspace-store.ts';
import { type Column, type Format, formatOf, formatParameters, ndjson, readFlag, type Targets } from './formats.ts';

type ReadFilter = (kind: RecordKind, where: unknown) => Promise<Condition | undefined>;

/**
 * Records per statement. Other requests are handled between statements. Few, because a single record may have hundreds of thousands of
 * characters.
 */
const pageLength = 100;

/** The most exports of a workspace at a time: each has a file until its client has read it. */
const maxExports = 2;

const maxKeys = 10;

const columnParameters = ['externalIds', 'names'];

/** The parameters of each file. The only one with records of several kinds has no filter. */
const files: readonly { name: string; kinds: readonly RecordKind[]; parameters: readonly string[] }[] = [
  ...recordKinds.flatMap((kind) => [
    { name: `${pathName(kind)}.csv`, kinds: [kind], parameters: ['where', ...columnParameters, ...formatParameters] },
    { name: `${pathName(kind)}.ndjson`, kinds: [kind], parameters: ['where', ...columnParameters] },
  ]),
  { name: 'all.ndjson', kinds: linkOrder, parameters: columnParameters },
];

interface Export {
  readonly kinds: readonly RecordKind[];
  readonly chosen: ChosenColumns;
  readonly where: Condition | undefined;
  readonly format: Format;
}

interface ChosenColumns {
  /** The systems whose IDs have columns of their own. */
  readonly keys: readonly string[];
  /** True if the names of what links lead to have columns, too, also those that labels give to what is kept in other systems. */
  readonly hasNames: boolean;
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
    app.get<{ Querystring: Query }>(`/export/${name}`, async (request, reply) => {
      const sent = readParameters(request.query, parameters);
      const { where, externalIds, names } = sent;
      const exported = {
        kinds,
        chosen: { keys: readKeys(externalIds), hasNames: readFlag('names', names) },
        where:
          where === undefined
            ? undefined
            : await readFilter(kinds[0] as RecordKind, parseJson('where', Buffer.from(where), limits)),
        format: name.endsWith('.ndjson') ? ndjson : formatOf(sent),
      };
      reply.type(exported.format.type).header('content-disposition', `attachment; filename="${name}"`);
      // Some programs ask what kind of file this is before they load it: that needs no reading of records.
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
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
      return reply.header('export-count', records).header('content-length', size).send(stream);
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
  { kinds, chosen, where, format }: Export,
  onRead: (records: number) => void,
): AsyncGenerator<string> {
  for (const kind of kinds) {
    const columns = columnsOf(kind, chosen);
    const header = format.header(columns);
    if (header !== '') yield header;
    for await (const found of pagesById(snapshot, kind, { where, limit: pageLength })) {
      onRead(found.length);
      const records = found.map((record): Values => ({ ...record }));
      const targets = await readTargets(snapshot, kind, records, chosen);
      yield records.map((record) => format.row(kind, columns, record, targets)).join('');
    }
  }
}

type Query = Readonly<Record<string, string | string[]>>;

function readParameters(query: Query, names: readonly string[]): Partial<Record<string, string>> {
  const unknown = Object.keys(query).filter((name) => !names.includes(name));
  const [issue] = unknownFieldIssues(unknown, names);
  if (issue) throw badRequest(`${unknown[0]?.slice(0, 100)}: ${sentence(issue).replace('field', 'parameter')}`);
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

/**
 * Returns the columns of a kind: its fields, with external IDs as one object. If keys are named, these have a column each instead, and so
 * do those of the records that links lead to.
 */
function columnsOf(kind: RecordKind, { keys, hasNames }: ChosenColumns): Column[] {
  const links = new Map(
    linkFields(kind).map(([name, field, { target }]) => [field, { name, target: kindNamed(target) }]),
  );
  return Object.entries(kind.storedFields).flatMap(([field, { type }]): Column[] => {
    if (field === 'workspaceId') return [];
    const plain: Column = { name: field, type, read: (record) => record[field] };
    const columns = (prefix: string, externalIdsOf: Column['read']) =>
      keys.map(
        (key): Column => ({
          name: `${prefix}externalIds.${key}`,
          type: 'text',
          read: (record, targets) => idIn(externalIdsOf(record, targets), key),
        }),
      );
    if (field === 'externalIds' && keys.length > 0) return columns('', plain.read);
    const labelled = hasNames ? labelledFields(kind).find((other) => other.field === field) : undefined;
    if (labelled) {
      const { nameColumn, type } = labelled;
      const read: Column['read'] = (record, targets) => targets.get(labelKey(type, String(record[field])))?.name;
      return [plain, { name: nameColumn, type: 'text', read }];
    }
    const link = links.get(field);
    if (!link) return [plain];
    const targetOf = (record: Values, targets: Targets) => targets.get(String(record[field]));
    const name: Column = { name: `${link.name}.name`, type: 'text', read: (...from) => targetOf(...from)?.name };
    const ids = link.target.fields.externalIds
      ? columns(`${link.name}.`, (...from) => targetOf(...from)?.externalIds)
      : [];
    return [plain, ...(hasNames ? [name] : []), ...ids];
  });
}

const idIn = (externalIds: unknown, key: string): unknown =>
  isObject(externalIds) && Object.hasOwn(externalIds, key) ? externalIds[key] : undefined;

async function readTargets(
  store: RecordReads,
  kind: RecordKind,
  records: readonly Values[],
  { keys, hasNames }: ChosenColumns,
): Promise<Targets> {
  const targets = new Map<string, Values>();
  const keysOf = ({ field, type }: ReturnType<typeof labelledFields>[number]) =>
    records.flatMap(({ [field]: id }) => (typeof id === 'string' ? labelKey(type, id) : []));
  const labelKeys = new Set(hasNames ? labelledFields(kind).flatMap(keysOf) : []);
  const labels = await findByUniqueField(store, label, 'key', [...labelKeys], new Set(['key', 'name']));
  for (const [key, record] of labels) targets.set(key, { ...record });
  for (const [, field, { target: name }] of linkFields(kind)) {
    const target = kindNamed(name);
    const needsIds = keys.length > 0 && target.fields.externalIds !== undefined;
    const ids = new Set(records.flatMap(({ [field]: id }) => (typeof id === 'string' ? id : [])));
    if (!(needsIds || hasNames) || ids.size === 0) continue;
    const fields = new Set(['id', ...(hasNames ? ['name'] : []), ...(needsIds ? ['externalIds'] : [])]);
    for (const found of await store.find(target, [...ids], fields)) targets.set(found.id, { ...found });
  }
  return targets;
}
