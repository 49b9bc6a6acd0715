/** Checks that servers return the same data, however they write times in UTC. */
import { deepStrictEqual } from 'node:assert';
import { post } from './service.mjs';

/** For a hundred variables of their loads at most, compares the responses with those of the first server. Servers may be missing. */
export async function requireSameData([first, load], ...others) {
  for (let n = 0; n < Math.min(100, load.variables?.length ?? 1); n += 1) {
    const expected = await dataOf(first, load, n);
    for (const other of others) if (other) deepStrictEqual(await dataOf(...other, n), expected);
  }
}

async function dataOf(server, { kind, query, variables }, n) {
  if (kind === 'list') return { assetCategories: { nodes: (await listOf(server)).map(requested) } };
  const { data } = await post(server, '/graphql', { query, variables: variables[n] });
  return JSON.parse(JSON.stringify(data), withSameTime);
}

/** REST returns all fields; the queries request these. */
const requested = ({ id, name, description, createdAt, updatedAt }) => ({
  id,
  name,
  description,
  createdAt,
  updatedAt,
});

async function listOf({ url, key }) {
  const response = await fetch(`${url}/asset-categories`, { headers: { authorization: `Bearer ${key}` } });
  return response.json();
}

const withSameTime = (_, value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*\+00:00$/.test(value) ? new Date(value).toISOString() : value;
