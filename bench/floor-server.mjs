/** The floor for HTTP: a node:http server that parses a JSON body and returns it, or returns a list. Stores nothing. */
import { createServer } from 'node:http';
import { category } from './records.mjs';

/** A list as the service returns it. */
const now = '2026-01-02T03:04:05.000Z';
const stamps = { createdAt: now, updatedAt: now, workspaceId: 'acme' };
const rows = Array.from({ length: 500 }, (_, n) => ({ id: `category_${'0'.repeat(26)}`, ...category(n), ...stamps }));

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = request.method === 'GET' ? rows : JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify(body);
    response.writeHead(request.method === 'GET' ? 200 : 201, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
