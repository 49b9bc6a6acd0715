/** Sockets whose client does not do its part: what it sends is not HTTP or comes too slowly, or it does not read. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

/** Node's own name for the response that is due or being sent on a socket: there is no public one. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse<IncomingMessage> | null };

/** Milliseconds in which a client may read why it was refused. */
const closeAfter = 1_000;

/**
 * Tells the responses of a connection that is gone. Node tells only the one that was being sent: those of requests that came
 * behind it on the same connection would never end, and what they hold never be released.
 */
export function closeQueuedResponses(server: Server): void {
  const responsesBySocket = new WeakMap<Socket, Set<ServerResponse>>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = responsesBySocket.get(socket) ?? new Set();
    if (!responsesBySocket.has(socket)) {
      responsesBySocket.set(socket, responses);
      // After Node's own listeners.
      socket.once('close', () => setImmediate(() => responses.forEach(close)));
    }
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
}

function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}

/** Closes sockets on which nothing has moved for so many milliseconds, unless the service has yet to respond. */
export function closeStalledSockets(server: Server, timeout: number): void {
  server.setTimeout(timeout, (socket: HttpSocket) => {
    const isOurTurn = socket._httpMessage && socket.writableLength === 0;
    if (!isOurTurn) socket.destroy();
  });
}

/** What is not HTTP never becomes a request: its response is written to the socket, in the form of all errors. */
export function refuseBrokenHttp(log: FastifyBaseLogger, { code }: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // A request that is completed now would be carried out, but could get no response.
  socket.pause();
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  log.info({ status, reason: code, address: socket.remoteAddress }, 'not a valid HTTP request');
  afterResponses(socket, () => {
    socket.end(responseText(status));
    setTimeout(() => socket.destroy(), closeAfter);
  });
}

/** Requests that came whole before the broken one get their responses first. */
function afterResponses(socket: HttpSocket, refuse: () => void): void {
  const response = socket._httpMessage;
  if (response && (response.req.complete || response.headersSent)) {
    response.once('close', () => afterResponses(socket, refuse));
  } else if (socket.writable) refuse();
}

function responseText(status: number): string {
  const reason = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ error: `the request is not valid: ${reason.toLowerCase()}`, code: String(status) });
  const head = ['content-type: application/json; charset=utf-8', `content-length: ${body.length}`, 'connection: close'];
  return `HTTP/1.1 ${status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}
