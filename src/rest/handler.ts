/** The handlers translate between HTTP and the services, and contain no rules. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import type { Limits } from '../config.ts';
import { badRequest, unavailable } from '../errors.ts';
import { isMergePatch, readIdempotencyKey } from '../http/request.ts';
import { expected, isObject, type Parsed, quote } from '../model/issues.ts';
import { mergeParser } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { createParser, type RecordParser, updateParser } from '../model/schemas.ts';
import { requireBatchSize } from '../services/item.ts';
import { createRecords, updateRecord } from '../services/write.ts';
import { pagesById, type WorkspaceReads } from '../store/workspace-store.ts';
import type { Route } from './routes.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const operations: Record<Route['operation'], (route: Route, limits: Limits) => Handler> = {
  create: createHandler,
  update: updateHandler,
  list: listHandler,
};

export const handler = (route: Route, limits: Limits): Handler => operations[route.operation](route, limits);

const json = 'application/json; charset=utf-8';

function createHandler(route: Route, limits: Limits): Handler {
  const { kind, success } = route;
  const parserFor = parserByPreference((unknownFields) => createParser(kind, limits, unknownFields));
  return async (request, reply) => {
    const { body } = request;
    if (!Array.isArray(body)) throw badRequest(describeNoBatch(kind, body));
    requireBatchSize(body.length, limits.maxBatch);
    const batch: Parsed<object>[] = body.map(parserFor(request, reply));
    const records = await createRecords(sessionWithKey(route, request, reply), kind, batch);
    return reply.code(success).type(json).send(recordsJson(kind, records));
  };
}

/** The content type and the preference change the meaning of a request: its key covers them. */
function sessionWithKey({ method, template }: Route, request: FastifyRequest, reply: FastifyReply) {
  const [parameter] = Object.keys(request.query as object);
  // A client that sends `dryRun=true` expects that nothing is stored.
  if (parameter !== undefined)
    throw badRequest(`${quote(parameter)}: unknown parameter: ${method} ${template} has no query parameters`);
  const handling = `${preferredHandling(request) ?? ''}${isMergePatch(request) ? ' merge' : ''}`;
  return request.session.with({ key: readIdempotencyKey(request, reply, `${method} ${template}`, handling) });
}

function describeNoBatch(kind: RecordKind, body: unknown): string {
  const hint = isObject(body) ? `: put it in [ ], also if it is only one ${kind.label}` : '';
  return `${expected(`a JSON array of ${kind.pluralLabel}`, body)}${hint}`;
}

function updateHandler(route: Route, limits: Limits): Handler {
  const { kind, success } = route;
  const parserFor = parserByPreference((unknownFields) => updateParser(kind, limits, unknownFields));
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const replace = parserFor(request, reply);
    const parse = isMergePatch(request) ? mergeParser(kind, 'externalIds', limits, replace) : replace;
    const change = parse(request.body);
    const record = await updateRecord(sessionWithKey(route, request, reply), kind, id, change, limits);
    return reply.code(success).send(toResponse(kind, record));
  };
}

/** Lists of up to so many records and characters are cached as one text. */
const maxCachedRecords = 1_000;
const maxCachedLength = 1_000_000;

const pageLength = 200;

/** Concurrent longer lists: each has a page in memory while its client does not read. */
const maxLongLists = 50;

/** The ETag is the workspace's version and name: records have the name. */
function listHandler({ kind, success }: Route): Handler {
  let longLists = 0;
  return async (request, reply) => {
    const { store } = request.session;
    const version = await store.sharedVersion();
    const etag = `"${version}-${Buffer.from(store.workspaceName).toString('base64url')}"`;
    reply.header('etag', etag);
    if (fresh(request.headers, { etag })) return reply.code(304).send();
    const body = await store.deriveText(kind.table, () => shortList(store, kind), version);
    reply.code(success).type(json);
    if (body !== undefined) return reply.send(body);
    if (longLists >= maxLongLists) throw unavailable('too many long lists are being sent, try again', 'LONG_LISTS');
    longLists += 1;
    reply.raw.once('close', () => {
      longLists -= 1;
    });
    const pages = request.method === 'HEAD' ? [] : jsonPages(store, kind);
    return reply.send(Readable.from(pages, { objectMode: false }));
  };
}

async function shortList(store: WorkspaceReads, kind: RecordKind): Promise<Buffer | undefined> {
  const records = await store.list(kind, { limit: maxCachedRecords + 1 });
  if (records.length > maxCachedRecords) return undefined;
  const text = recordsJson(kind, records);
  return text.length <= maxCachedLength ? Buffer.from(text) : undefined;
}

/** By ID. Reads each page once the client has read the previous one. */
async function* jsonPages(store: WorkspaceReads, kind: RecordKind): AsyncGenerator<string> {
  let start = '[';
  for await (const records of pagesById(store, kind, { limit: pageLength })) {
    yield start + recordsJson(kind, records).slice(1, -1);
    start = ',';
  }
  yield ']';
}

/** Unknown fields are rejected unless the client prefers `handling=lenient` (RFC 7240). */
function parserByPreference<T>(createParser: (unknownFields: 'rejected' | 'ignored') => RecordParser<T>) {
  // At the first use: all parsers would be a third of the work of a start.
  const parsers: { rejected?: RecordParser<T>; ignored?: RecordParser<T> } = {};
  return (request: FastifyRequest, reply: FastifyReply): RecordParser<T> => {
    const isLenient = preferredHandling(request) === 'lenient';
    if (isLenient) reply.header('preference-applied', 'handling=lenient');
    const unknownFields = isLenient ? 'ignored' : 'rejected';
    parsers[unknownFields] ??= createParser(unknownFields);
    return parsers[unknownFields];
  };
}

/** The first preference counts (RFC 7240). */
const preferredHandling = ({ headers }: FastifyRequest): string | undefined =>
  /(?:^|,)\s*handling\s*=\s*"?([\w-]+)/i.exec(String(headers.prefer ?? ''))?.[1]?.toLowerCase();

/**
 * An unset field of an asset is null, if the documented interface has the field. Everywhere else it is absent: the
 * interface marks no other field as nullable, and a strict client may reject null.
 */
export function toResponse(kind: RecordKind, record: object): object {
  const response: Record<string, unknown> = { ...record };
  for (const field of kind.omittedFields) response[field] ??= undefined;
  return response;
}

const recordsJson = (kind: RecordKind, records: readonly object[]): string =>
  JSON.stringify(records.map((record) => toResponse(kind, record)));
