/** A server that sends the replies a test sets, one per request, and records the requests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach } from 'vitest';

export type Reply = (response: ServerResponse) => void;

interface ScriptedServer {
  url: string;
  /** The reply to each request; the last one is repeated for all further requests. */
  replies: readonly Reply[];
  received: { method: string | undefined; path: string | undefined; headers: IncomingHttpHeaders; body: string }[];
}

/** A fresh server for each test of a file. */
export function useScriptedServer(): ScriptedServer {
  const script: ScriptedServer = { url: '', replies: [], received: [] };
  beforeEach(async () => {
    Object.assign(script, { replies: [], received: [] });
    const server = createServer(async (request, response) => {
      const { method, url: path, headers } = request;
      script.received.push({ method, path, headers, body: await text(request) });
      (script.replies[script.received.length - 1] ?? script.replies.at(-1))?.(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    script.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
  });
  return script;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const problem = (
  status: number,
  detail: string,
  { headers = {}, ...more }: Record<string, unknown> = {},
): Reply =>
  json(
    status,
    { type: 'about:blank', title: 'Problem', status, detail, ...more },
    { 'content-type': 'application/problem+json', ...(headers as object) },
  );

/** Replies with a page that is not of this service. */
export const page =
  (status: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Gateway</h1>');

export const hangUp: Reply = (response) => void response.destroy();
