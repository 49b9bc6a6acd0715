/**
 * The floor for queries: a node:http server that responds to the benchmark's GraphQL queries, and to no others, by SQL written by
 * hand, on the service's own tables. Its argument is a database URL.
 */
import { createServer } from 'node:http';
import { queries } from '../queries.mjs';
import { openPostgres } from './postgres.mjs';
import { openSqlite } from './sqlite.mjs';

const url = process.argv[2];
const read = url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : await openPostgres(url);

/** By query, a function from its variables to the data. */
const functions = new Map(Object.entries(read).map(([workload, data]) => [queries[workload].query, data]));

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { query, variables } = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    const data = await functions.get(query)?.(variables);
    const text = JSON.stringify({ data });
    response.writeHead(data ? 200 : 404, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
