/**
 * OWASP API Security Top 10 (2023): those items that no other test is about. Authentication (API2) is in keys.test.ts, properties (API3) in
 * bad-input.test.ts, consumption (API4, API6) in the tests of limits. https://owasp.org/API-Security/editions/2023/en/0x11-t10/
 */
import { expect, test } from 'vitest';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import { project, recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

/** What the records of a kind can be upserted by. */
const keyOf = (kind: RecordKind) => {
  const [field] = matchableFields(kind);
  return field ? `field: ${field.toUpperCase()}` : 'externalId: "erp"';
};

test('API5 Broken function level authorization: a read-only key is refused by every write, also by dry runs', async () => {
  const reader = service.as(await service.key({ readOnly: true }));
  for (const { method, path } of routes) {
    if (method === 'GET') continue;
    const { status } = await reader.send(
      method,
      path.replace(':id', unknownId(project)),
      method === 'POST' ? [{}] : {},
    );
    expect([method, path, status]).toEqual([method, path, 403]);
  }
  for (const mutation of [
    ...recordKinds.flatMap((kind) => [
      `create${kind.plural}(input: []) { id }`,
      `update${kind.plural}(input: [], dryRun: true) { id }`,
      `delete${kind.plural}(ids: [], dryRun: true) { id }`,
      `upsert${kind.plural}(by: { ${keyOf(kind)} }, input: []) { outcome }`,
    ]),
    'importRecords(input: {}) { assets { id } }',
    'updateProject(id: "x", input: {}) { id }',
    'revertChanges(after: "0", upTo: "0") { reversed }',
  ]) {
    const { status } = await reader.graphql(`mutation { ${mutation} }`);
    expect([mutation, status]).toEqual([mutation, 403]);
  }
});

test('API8 Security misconfiguration: errors reveal no stack trace, SQL or server version, and allow no other origin', async () => {
  const responses = [
    await service.post('/locations', '{'),
    await service.post('/locations', [{ name: 1 }]),
    await service.get('/nowhere'),
    await service.post('/graphql', { query: '{ nope }' }, { accept: 'application/graphql-response+json' }),
    await service.send('PUT', '/locations', []),
    await service.inject({ method: 'TRACE' as 'GET', url: '/locations' }),
  ];

  for (const { status, text, headers } of responses) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(text).not.toMatch(/\bat .*:\d+:\d+|select |insert |node_modules|\.ts\b/i);
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
});
