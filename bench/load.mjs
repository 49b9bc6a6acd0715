/**
 * The load, in a process of its own, so that it takes none of the server's. Its one argument says what to send; it prints
 * what came back. An answer is complete when it has its status, and as many records as it must.
 */
import autocannon from 'autocannon';
import { asset, linkedQuery } from './records.mjs';

const { url, key, connections, seconds, kind, size, run, cursors } = JSON.parse(process.argv[2]);

let made = 0;
const batch = () => JSON.stringify(Array.from({ length: size }, () => asset(made++, run)));

/** What is sent, and what a complete answer to it has. */
const kinds = {
  create: { method: 'POST', path: '/assets', status: 201, mark: '"uid":"', count: size },
  list: { method: 'GET', path: '/asset-categories', status: 200, mark: '"id":', count: 500 },
  linked: { method: 'POST', path: '/graphql', status: 200, mark: '"startDate":"', count: 100 },
};
const { method, path, status, mark, count } = kinds[kind];

/** Bodies are made before the clock starts, as many as may be needed: the client must not be what is measured. */
const bodies = {
  create: () => Array.from({ length: Math.ceil((seconds * 90_000) / size / (size === 1 ? 4 : 1)) }, batch),
  list: () => [undefined],
  linked: () => cursors.map((after) => JSON.stringify({ query: linkedQuery, variables: { after } })),
}[kind]();

let taken = 0;
const nextBody = () => {
  const body = bodies[taken % bodies.length];
  taken += 1;
  return kind === 'create' && taken > bodies.length ? batch() : body;
};

let incomplete = 0;
function check(code, body) {
  let found = code === status ? 0 : Number.NaN;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) found += 1;
  if (found !== count) incomplete += 1;
}

const { requests, latency, errors, duration } = await autocannon({
  url,
  connections,
  duration: seconds,
  headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
  requests: [{ method, path, setupRequest: (request) => ({ ...request, body: nextBody() }), onResponse: check }],
});
const { p50, p99 } = latency;
console.log(
  JSON.stringify({
    answered: requests.total,
    perSecond: requests.total / duration,
    p50,
    p99,
    bad: errors + incomplete,
  }),
);
