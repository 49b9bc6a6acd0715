/**
 * Generates load in its own process, so that it does not use the server's thread. Its argument defines the requests, as
 * JSON; it prints its figures. A response is complete if it has the expected status and number of records.
 */
import autocannon from 'autocannon';
import { asset, linkedQuery } from './records.mjs';

const { url, key, connections, seconds, kind, size, run, cursors } = JSON.parse(process.argv[2]);

let generated = 0;
const newBatch = () => JSON.stringify(Array.from({ length: size }, () => asset(generated++, run)));

/** Each kind of request, and what a complete response has: `count` occurrences of `mark`. */
const kinds = {
  create: { method: 'POST', path: '/assets', status: 201, mark: '"uid":"', count: size },
  list: { method: 'GET', path: '/asset-categories', status: 200, mark: '"id":', count: 500 },
  linked: { method: 'POST', path: '/graphql', status: 200, mark: '"startDate":"', count: 100 },
};
const { method, path, status, mark, count } = kinds[kind];

/** Generated before the measurement starts, as many as may be needed, so that generating them is not measured. */
const bodies = {
  create: () => Array.from({ length: Math.ceil((seconds * 90_000) / size / (size === 1 ? 4 : 1)) }, newBatch),
  list: () => [undefined],
  linked: () => cursors.map((after) => JSON.stringify({ query: linkedQuery, variables: { after } })),
}[kind]();

let sent = 0;
const nextBody = () => {
  const body = bodies[sent % bodies.length];
  sent += 1;
  return kind === 'create' && sent > bodies.length ? newBatch() : body;
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
    responses: requests.total,
    perSecond: requests.total / duration,
    p50,
    p99,
    bad: errors + incomplete,
  }),
);
