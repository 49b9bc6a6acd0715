/** Closes sockets whose client sends invalid HTTP, sends too slowly, does not read, or has left. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { reasonFor } from './error-response.ts';

/** `_httpMessage` is the response that is due or being sent on a socket. Node has no public name for it. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse<IncomingMessage> | null };

/** Milliseconds that a client has to read why its request was rejected, before its connection is closed. */
const closeAfter = 1_000;

/**
 * Closes all responses of a connection that is closed. Node closes only the one being sent: those of the requests pipelined
 * behind it would never end, and what they hold would never be released.
 */
export function closeQueuedResponses(server: Server): void {
  const responsesBySocket = new WeakMap<Socket, Set<ServerResponse>>();
  /** A separate function: otherwise the closure that the socket keeps would hold its first response, with its text. */
  function begin(socket: Socket): Set<ServerResponse> {
    const responses = new Set<ServerResponse>();
    responsesBySocket.set(socket, responses);
    // After Node's own listeners.
    socket.once('close', () => setImmediate(() => responses.forEach(close)));
    return responses;
  }
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = responsesBySocket.get(socket) ?? begin(socket);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  });
}

function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}

/** Closes sockets without traffic for `timeout` milliseconds, unless the service has yet to respond. */
export function closeStalledSockets(server: Server, timeout: number): void {
  server.setTimeout(timeout, (socket: HttpSocket) => {
    const isResponseDue = socket._httpMessage && socket.writableLength === 0;
    if (!isResponseDue) socket.destroy();
  });
}

/** Writes an error response to the socket directly: invalid HTTP never becomes a request. `code` is Node's. */
export function rejectBrokenHttp(log: FastifyBaseLogger, code: string | undefined, socket: HttpSocket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // Otherwise a request that is completed later would be executed but could not get a response.
  socket.pause();
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const reason = status === 400 ? 'invalid HTTP' : reasonFor(status);
  log.info({ status, reason, code, address: socket.remoteAddress }, 'not a valid HTTP request');
  afterResponses(socket, () => {
    socket.end(responseText(status));
    setTimeout(() => socket.destroy(), closeAfter);
  });
}

/** Complete requests that arrived before the invalid one get their responses first. */
function afterResponses(socket: HttpSocket, reject: () => void): void {
  const response = socket._httpMessage;
  if (response && (response.req.complete || response.headersSent)) {
    response.once('close', () => afterResponses(socket, reject));
  } else if (socket.writable) {
    reject();
  }
}

function responseText(status: number): string {
  const reason = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ error: `the request is not valid: ${reason.toLowerCase()}`, code: String(status) });
  const head = ['content-type: application/json; charset=utf-8', `content-length: ${body.length}`, 'connection: close'];
  return `HTTP/1.1 ${status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}
