/**
 * Generates load in its own process, so that it does not use the server's thread. Its standard input defines the requests, as
 * JSON; it prints its figures. A response is complete if it has the expected status and number of records.
 */
import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { asset } from './records.mjs';

const { url, key, connections, seconds, kind, size, query, once, repeat, ...rest } = await json(process.stdin);
const { variables, ...complete } = rest;

/** Makes the uids of this load differ from those of others. */
const run = Date.now().toString(36);

const bodyOf = (content) => Buffer.from(JSON.stringify(content));

let generated = 0;
const newBatch = () => bodyOf(Array.from({ length: size }, () => asset(generated++, run)));
/** Half of the assets are in the batch before, with other names. */
const newUpsert = () => {
  const input = Array.from({ length: size }, (_, n) => {
    const item = asset(generated + n, run);
    return {
      ...item,
      name: `${item.name}, in batch ${generated}`,
      externalIds: { ...item.externalIds, erp: item.uid },
    };
  });
  generated += size / 2;
  return bodyOf({ query, variables: { input } });
};
const newMutation = () => bodyOf({ query, variables: { asset: asset(generated++, run) } });

/** Each kind of request, and what a complete response has: `count` occurrences of `mark`. */
const kinds = {
  create: { method: 'POST', path: '/assets', status: 201, mark: '"uid":"', count: size },
  list: { method: 'GET', path: '/asset-categories', status: 200, mark: '"id":', count: 500 },
  query: { method: 'POST', path: '/graphql', status: 200, ...complete },
  upsert: { method: 'POST', path: '/graphql', status: 200, mark: '"uid":"', count: size },
  mutation: { method: 'POST', path: '/graphql', status: 200, mark: '"uid":"', count: 1 },
};
const { method, path, status, mark, count } = kinds[kind];

const newBody = { create: newBatch, upsert: newUpsert, mutation: newMutation }[kind];

/** The number of records that are generated before the measurement starts: as many as may be needed, unless they are repeated. */
const records = repeat ? 10_000 : seconds * (size > 1 ? 60_000 : 20_000);
const bodies = newBody
  ? Array.from({ length: Math.ceil(records / (size ?? 1)) }, newBody)
  : (variables?.map((values) => bodyOf({ query, variables: values })) ?? [undefined]);

/** Where each load would begin with the first variables, it would read what the one before it has just read. */
let sent = once ? Math.floor(Math.random() * bodies.length) : 0;
const nextBody = () => {
  const body = newBody && !repeat && sent >= bodies.length ? newBody() : bodies[sent % bodies.length];
  sent += 1;
  return body;
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
