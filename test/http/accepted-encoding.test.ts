/** Which encoding a client gets: RFC 9110, 12.5.3. */
import { expect, test } from 'vitest';
import { acceptedEncoding } from '../../src/http/compression.ts';

test.each([
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip ; q=0.8 , br;q=0.2', 'gzip'],
  ['identity;q=0.5, gzip;q=0.8', 'gzip'],
  ['gzip, identity', 'gzip'],
  ['deflate, gzip;q=0.001', 'gzip'],
])('%j prefers %s', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding);
});

test.each([
  undefined,
  '',
  'identity',
  'deflate, zstd, compress',
  'gzip;q=0',
  'gzip;q=0, br;q=0.000',
  '*;q=0',
  'identity, gzip;q=0.5',
  'gzip;q=high',
  'gzipped, brotli',
  ',;=,;q',
  `gzip${' '.repeat(1_000)}`,
])('%j gets the body as it is', (header) => {
  expect(acceptedEncoding(header)).toBeUndefined();
});
