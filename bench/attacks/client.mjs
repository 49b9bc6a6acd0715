/** The attacker: sends requests, reads each response to its end, and counts the statuses. */
import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';

/** Characters at the start of a response that are kept for checks. */
const excerptLength = 200;

/** Uses at most `connections` at once; the signal aborts all requests. */
export function createClient({ port, key, signal, connections = Number.POSITIVE_INFINITY }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  setMaxListeners(0, signal);
  const statuses = {};
  const count = (status) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };

  /** Resolves with the status or error code, the number of bytes and IDs in the response, and its start and end. */
  function send(method, path, body, apiKey = key) {
    const headers = { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) };
    return new Promise((resolve) => {
      const settle = (status, response) => {
        count(status);
        resolve({ status, ...response });
      };
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent, signal }, (response) => {
        const content = createReader();
        response.on('data', (chunk) => content.add(chunk));
        response.on('error', (error) => settle(error.code));
        response.on('end', () => {
          const { bytes, ids, start, end } = content;
          const hasErrors = path === '/graphql' && start.startsWith('{"errors":');
          settle(`${response.statusCode}${hasErrors ? ' with errors' : ''}`, { bytes, ids, start, end });
        });
      });
      sent.on('error', (error) => settle(error.code));
      sent.end(body);
    });
  }

  return { statuses, count, send };
}

/** Counts bytes and IDs as they arrive, because a response may be larger than the longest string. */
function createReader() {
  const mark = Buffer.from('"id":"');
  let rest = Buffer.alloc(0);
  return {
    bytes: 0,
    ids: 0,
    start: '',
    end: '',
    add(chunk) {
      this.bytes += chunk.length;
      if (this.start.length < excerptLength) this.start += chunk.toString('latin1', 0, excerptLength);
      const text = Buffer.concat([rest, chunk]);
      for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) this.ids += 1;
      rest = text.subarray(Math.max(0, text.length - mark.length + 1));
      this.end = text.toString('latin1', Math.max(0, text.length - 2));
    },
  };
}

/** Creates records before an attack. Throws if the service rejects them. */
export async function create(port, key, path, records) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(records),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
  return response.json();
}
