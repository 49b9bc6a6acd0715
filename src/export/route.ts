/**
 * An export shows one state of the database. It is written to a temporary file at the speed of the database, and then
 * sent: a slow client holds only the file.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, errorCode, tooLarge, tooManyRequests, unavailable } from '../errors.ts';
import { parseJson } from '../http/request.ts';
import { expected, formatCount, isObject, quote } from '../model/issues.ts';
import { pathName } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { unknownFieldIssues } from '../model/schemas.ts';
import { sentence } from '../model/sentences.ts';
import { kindNamed, label, labelKey, labelledFields, linkOrder, recordKinds } from '../records/index.ts';
import type { Condition } from '../store/query/record-query.ts';
import { findByUniqueField, pagesById, type RecordReads } from '../store/workspace-store.ts';
import {
  csvFormat,
  csvParameters,
  type ExportColumn,
  type Format,
  type LinkTargets,
  ndjson,
  readFlag,
} from './formats.ts';

type ReadFilter = (kind: RecordKind, where: unknown) => Promise<Condition | undefined>;

/** Per statement. Few, because a record may have hundreds of thousands of characters. */
const pageLength = 100;

/** Concurrent exports of a workspace: each has a file until its client has read it. */
const maxExports = 2;

const maxSystems = 10;

const columnParameters = ['externalIds', 'names'];

/** `all.ndjson` has no filter, because filters are of a kind. */
const files: readonly { name: string; kinds: readonly RecordKind[]; parameters: readonly string[] }[] = [
  ...recordKinds.flatMap((kind) => [
    { name: `${pathName(kind)}.csv`, kinds: [kind], parameters: ['where', ...columnParameters, ...csvParameters] },
    { name: `${pathName(kind)}.ndjson`, kinds: [kind], parameters: ['where', ...columnParameters] },
  ]),
  { name: 'all.ndjson', kinds: linkOrder, parameters: columnParameters },
];

interface Export {
  readonly kinds: readonly RecordKind[];
  readonly columns: ChosenColumns;
  readonly where: Condition | undefined;
  readonly format: Format;
}

interface ChosenColumns {
  /** Systems whose IDs get a column each. */
  readonly systems: readonly string[];
  /** Adds columns for the names of linked records and of labels. */
  readonly hasNames: boolean;
  /** IDs come last. */
  readonly isForPeople: boolean;
}

interface Options {
  readonly limits: Limits;
  readonly exportTimeout: number;
}

export function serveExports(app: FastifyInstance, { limits, exportTimeout }: Options, readFilter: ReadFilter): void {
  const running = new Map<number | undefined, number>();

  /** Until its response is closed. */
  function countExport({ identity }: FastifyRequest, { raw: response }: FastifyReply): void {
    const workspaceId = identity?.workspace.number;
    const before = running.get(workspaceId) ?? 0;
    if (before >= maxExports) {
      const message = `a workspace may have ${maxExports} exports at a time: try again later`;
      throw tooManyRequests(message, 'too many exports');
    }
    running.set(workspaceId, before + 1);
    response.once('close', () => {
      const left = (running.get(workspaceId) ?? 1) - 1;
      if (left > 0) running.set(workspaceId, left);
      else running.delete(workspaceId);
    });
  }

  const options = { config: { acceptsPassword: true } };
  for (const { name, kinds, parameters } of files) {
    app.get<{ Querystring: Query }>(`/export/${name}`, options, async (request, reply) => {
      const values = readParameters(request.query, parameters);
      const { where, externalIds, names } = values;
      const format = name.endsWith('.ndjson') ? ndjson : csvFormat(values);
      const { isForPeople = false } = format;
      const chosen = {
        kinds,
        format,
        columns: { systems: readSystems(externalIds), hasNames: readFlag('names', names, isForPeople), isForPeople },
        where:
          where === undefined
            ? undefined
            : await readFilter(kinds[0] as RecordKind, parseJson('where', Buffer.from(where), limits)),
      };
      reply.type(format.type).header('content-disposition', `attachment; filename="${name}"`);
      // Some programs request the headers first.
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      countExport(request, reply);
      const end = performance.now() + exportTimeout;
      const requireTime = (): void => {
        if (performance.now() > end) {
          const limit = `an export is read for at most ${formatCount(exportTimeout)} ms`;
          throw tooLarge(`${limit}: export fewer records at a time, with \`where\``);
        }
        if (reply.raw.destroyed) throw unavailable('the client has left', 'CLIENT_LEFT');
      };
      const { file, records } = await request.session.store.longSnapshot(async (snapshot) => {
        let records = 0;
        const chunks = readChunks(snapshot, chosen, (read) => {
          records += read;
          requireTime();
        });
        return { file: await writeTemporaryFile(chunks), records };
      });
      const { size } = await file.stat();
      const stream = file.createReadStream({ start: 0 });
      if (reply.raw.destroyed) stream.destroy();
      return reply.header('export-count', records).header('content-length', size).send(stream);
    });
  }
}

/** No other user can open the file, which disappears with the process. */
async function writeTemporaryFile(chunks: AsyncIterable<string>): Promise<FileHandle> {
  const path = join(tmpdir(), `yardgraph-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch(throwNoRoom);
  try {
    await unlink(path);
    for await (const chunk of chunks) await file.writeFile(chunk).catch(throwNoRoom);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function throwNoRoom(error: unknown): never {
  throw unavailable('there is no room for a file of this size, try again', errorCode(error));
}

async function* readChunks(
  snapshot: RecordReads,
  { kinds, columns: chosenColumns, where, format }: Export,
  onRead: (records: number) => void,
): AsyncGenerator<string> {
  for (const kind of kinds) {
    const columns = exportColumns(kind, chosenColumns);
    if (chosenColumns.isForPeople) columns.sort((a, b) => Number(hasIds(a)) - Number(hasIds(b)));
    const header = format.header(columns);
    if (header !== '') yield header;
    for await (const found of pagesById(snapshot, kind, { where, limit: pageLength })) {
      onRead(found.length);
      const records = found.map((record): Values => ({ ...record }));
      const targets = await readTargets(snapshot, kind, records, chosenColumns);
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

function readSystems(sent: string | undefined): readonly string[] {
  if (sent === undefined) return [];
  const systems = sent.split(',');
  const invalid = (problem: string) => badRequest(`externalIds: ${problem}`);
  if (systems.includes('')) throw invalid(expected('names of systems such as erp,crm', sent));
  if (systems.length > maxSystems)
    throw invalid(`expected at most ${maxSystems} names, received ${formatCount(systems.length)}`);
  if (new Set(systems).size < systems.length) throw invalid(`expected each name once, received ${quote(sent)}`);
  return systems;
}

/** External IDs are one column of objects. With systems, each has a column of IDs instead, also for linked records. */
function exportColumns(kind: RecordKind, { systems, hasNames }: ChosenColumns): ExportColumn[] {
  const links = new Map(
    linkFields(kind).map(([name, field, { target }]) => [field, { name, target: kindNamed(target) }]),
  );
  return Object.entries(kind.storedFields).flatMap(([field, { type }]): ExportColumn[] => {
    if (field === 'workspaceId') return [];
    const plain: ExportColumn = { name: field, type, read: (record) => record[field] };
    const idColumns = (prefix: string, externalIdsOf: ExportColumn['read']) =>
      systems.map(
        (system): ExportColumn => ({
          name: `${prefix}externalIds.${system}`,
          type: 'text',
          read: (record, targets) => externalIdIn(externalIdsOf(record, targets), system),
        }),
      );
    if (field === 'externalIds' && systems.length > 0) return idColumns('', plain.read);
    const labelled = hasNames ? labelledFields(kind).find((labelledField) => labelledField.field === field) : undefined;
    if (labelled) {
      const { nameColumn, type } = labelled;
      const read: ExportColumn['read'] = (record, targets) => targets.get(labelKey(type, String(record[field])))?.name;
      return [plain, { name: nameColumn, type: 'text', read }];
    }
    const link = links.get(field);
    if (!link) return [plain];
    const targetOf = (record: Values, targets: LinkTargets) => targets.get(String(record[field]));
    const name: ExportColumn = { name: `${link.name}.name`, type: 'text', read: (...from) => targetOf(...from)?.name };
    const ids = link.target.fields.externalIds
      ? idColumns(`${link.name}.`, (...from) => targetOf(...from)?.externalIds)
      : [];
    return [plain, ...(hasNames ? [name] : []), ...ids];
  });
}

const hasIds = ({ type }: ExportColumn) => ['id', 'reference', 'foreignReference'].includes(type);

const externalIdIn = (externalIds: unknown, system: string): unknown =>
  isObject(externalIds) && Object.hasOwn(externalIds, system) ? externalIds[system] : undefined;

async function readTargets(
  store: RecordReads,
  kind: RecordKind,
  records: readonly Values[],
  { systems, hasNames }: ChosenColumns,
): Promise<LinkTargets> {
  const targets = new Map<string, Values>();
  const labelKeysOf = ({ field, type }: ReturnType<typeof labelledFields>[number]) =>
    records.flatMap(({ [field]: id }) => (typeof id === 'string' ? labelKey(type, id) : []));
  const labelKeys = new Set(hasNames ? labelledFields(kind).flatMap(labelKeysOf) : []);
  const labels = await findByUniqueField(store, label, 'key', [...labelKeys], new Set(['key', 'name']));
  for (const [key, record] of labels) targets.set(key, { ...record });
  for (const [, field, { target: name }] of linkFields(kind)) {
    const target = kindNamed(name);
    const needsIds = systems.length > 0 && target.fields.externalIds !== undefined;
    const ids = new Set(records.flatMap(({ [field]: id }) => (typeof id === 'string' ? id : [])));
    if (!(needsIds || hasNames) || ids.size === 0) continue;
    const fields = new Set(['id', ...(hasNames ? ['name'] : []), ...(needsIds ? ['externalIds'] : [])]);
    for (const found of await store.find(target, [...ids], fields)) targets.set(found.id, { ...found });
  }
  return targets;
}
