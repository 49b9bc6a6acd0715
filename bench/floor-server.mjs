/** The floor for HTTP: a node:http server that parses a JSON body and returns it, or returns a list. Stores nothing. */
import { createServer } from 'node:http';

const rows = JSON.parse(process.argv[2]);

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
