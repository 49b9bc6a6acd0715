/** The handlers of the REST routes. They translate between HTTP and the services, and contain no rules. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import type { Limits } from '../config.ts';
import { badRequest } from '../errors.ts';
import { idempotencyKeyOf, markReplayed } from '../http/idempotency-key.ts';
import { type Spooled, spool } from '../http/spool.ts';
import { expected, isObject, type Parsed } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { createParser, type RecordParser, updateParser } from '../model/schemas.ts';
import { requireBatchSize, requireFewExternalIds } from '../services/checks/batch-size.ts';
import { createRecords } from '../services/create-records.ts';
import { withIdempotencyKey } from '../services/idempotent-session.ts';
import { updateRecord } from '../services/update-records.ts';
import { mapInSlices } from '../slices.ts';
import { positionOfId } from '../store/query/record-query.ts';
import type { WorkspaceReads } from '../store/workspace-store.ts';
import { toJson, toResponse } from './response.ts';
import type { Route } from './routes.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const operations: Record<Route['operation'], (route: Route, limits: Limits) => Handler> = { create, update, list };

export const handler = (route: Route, limits: Limits): Handler => operations[route.operation](route, limits);

const json = 'application/json; charset=utf-8';

function create(route: Route, limits: Limits): Handler {
  const { kind, success } = route;
  const parserFor = parserByPreference((unknownFields) => createParser(kind, limits, unknownFields));
  return async (request, reply) => {
    const { body } = request;
    if (!Array.isArray(body)) throw badRequest(notABatch(kind, body));
    requireBatchSize(body.length, limits.maxBatch);
    requireFewExternalIds(body);
    const batch = await mapInSlices<unknown, Parsed<object>>(body, parserFor(request, reply));
    const records = await createRecords(sessionFor(route, request, reply), kind, batch);
    return reply
      .code(success)
      .type(json)
      .send(await toJson(kind, records));
  };
}

/** Returns the session of a write, which is carried out once if the request has an Idempotency-Key. */
const sessionFor = ({ method, template }: Route, request: FastifyRequest, reply: FastifyReply) =>
  withIdempotencyKey(
    request.session,
    idempotencyKeyOf(request, `${method} ${template}`, preferredHandling(request)),
    () => markReplayed(reply),
  );

function notABatch(kind: RecordKind, body: unknown): string {
  const hint = isObject(body) ? `: put it in [ ], also if it is only one ${kind.label}` : '';
  return `${expected(`a JSON array of ${kind.pluralLabel}`, body)}${hint}`;
}

function update(route: Route, limits: Limits): Handler {
  const { kind, success } = route;
  const parserFor = parserByPreference((unknownFields) => updateParser(kind, limits, unknownFields));
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const change = parserFor(request, reply)(request.body);
    const record = await updateRecord(sessionFor(route, request, reply), kind, id, change);
    return reply.code(success).send(toResponse(kind, record));
  };
}

function list({ kind, success }: Route): Handler {
  return async (request, reply) => {
    const { store } = request.session;
    const workspaceId = String(request.identity?.workspace.number);
    const { open, hash, length } = await store.derive(kind.table, () => listBody(store, kind, workspaceId));
    const body = open();
    const etag = `"${hash}"`;
    reply.header('etag', etag);
    if (fresh(request.headers, { etag })) {
      if (!Buffer.isBuffer(body)) body.destroy();
      return reply.code(304).send();
    }
    return reply.code(success).type(json).header('content-length', length).send(body);
  };
}

/** Unknown fields are rejected unless the client prefers `handling=lenient` (RFC 7240). */
function parserByPreference<T>(parser: (unknownFields: 'rejected' | 'ignored') => RecordParser<T>) {
  const strict = parser('rejected');
  const lenient = parser('ignored');
  return (request: FastifyRequest, reply: FastifyReply) => {
    if (preferredHandling(request) !== 'lenient') return strict;
    reply.header('preference-applied', 'handling=lenient');
    return lenient;
  };
}

/** Returns the preferred handling. Preferences are separated by commas outside quotes; the first one with a name counts. */
function preferredHandling({ headers }: FastifyRequest): string | undefined {
  for (const preference of String(headers.prefer ?? '').match(/(?:[^,"]|"[^"]*")+/g) ?? []) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '')
      .split('=')
      .map((part) => part.trim().toLowerCase());
    if (name === 'handling') return value.replaceAll('"', '');
  }
  return undefined;
}

type ListStore = Pick<WorkspaceReads, 'list'>;

/** Records per statement. Other requests are handled between statements. */
const sliceLength = 1_000;

async function listBody(store: WorkspaceReads, kind: RecordKind, workspaceId: string): Promise<Spooled> {
  const first = await store.list(kind, { limit: sliceLength });
  // A single statement is consistent by itself: a list that fits into one slice needs no snapshot.
  if (first.length < sliceLength) return spool([await toJson(kind, first)], workspaceId);
  return store.snapshot((snapshot) => spool(slices(snapshot, kind), workspaceId));
}

/** Yields the text of the array in pieces. */
async function* slices(store: ListStore, kind: RecordKind): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const records = await store.list(kind, {
      after: after === undefined ? undefined : positionOfId(after),
      limit: sliceLength,
    });
    const items = (await toJson(kind, records)).slice(1, -1);
    if (items !== '') yield (after === undefined ? '[' : ',') + items;
    after = records.at(-1)?.id ?? after;
    if (records.length < sliceLength) break;
  }
  yield after === undefined ? '[]' : ']';
}
