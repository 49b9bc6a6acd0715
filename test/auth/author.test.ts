/** Who made a change, and why: the user of the key, the ID of the request, and its X-Change-Message. */
import { describe, expect, test } from 'vitest';
import { createDocument, updateDocument } from '../support/mutations.ts';
import { namedKinds } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const authors = async () => {
  const { changes } = await service.data('{ changes { nodes { user { id } requestId message } } }');
  return changes.nodes;
};

/** The header as a client that sends UTF-8 sends it. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

const message = (text: string) => ({ 'x-change-message': text });

describe('A change keeps', () => {
  test('who made it, in which request and why: over REST and GraphQL, creates and changes', async () => {
    const with_ = (id: string) => ({ ...message(`why ${id}`), 'x-request-id': id });
    const { body } = await service.post('/projects', [{ name: 'Harbour wall' }], with_('r1'));
    await service.patch(`/projects/${body[0].id}`, { name: 'Quay' }, with_('r2'));
    const create = 'mutation { createAssets(input: [{ name: "Crane" }]) { id } }';
    await service.post('/graphql', { query: create }, with_('r3'));
    const update = `mutation { updateProject(id: "${body[0].id}", input: { name: "Pier" }) { id } }`;
    await service.post('/graphql', { query: update }, with_('r4'));

    expect(await authors()).toEqual(
      ['r1', 'r2', 'r3', 'r4'].map((id) => ({ user: { id: 'erp-sync' }, requestId: id, message: `why ${id}` })),
    );
  });

  test.each([
    ['UTF-8', utf8('Größe – 起重机 🏗'), 'Größe – 起重机 🏗'],
    ['Latin-1', Buffer.from('Größe', 'latin1').toString('latin1'), 'Größe'],
    ['quotes and what looks like SQL', `'); drop table assets; -- "?"`, `'); drop table assets; -- "?"`],
    ['500 characters of which each is two for JavaScript', utf8('🏗'.repeat(500)), '🏗'.repeat(500)],
  ])('a message with %s', async (_, sent, stored) => {
    await service.post('/assets', [{ name: 'Crane' }], message(sent));
    expect((await authors()).map(({ message }: { message: string }) => message)).toEqual([stored]);
  });

  test('no message if there is none, or an empty one; nothing is stored with one that is too long', async () => {
    await service.post('/assets', [{ name: 'Crane' }]);
    await service.post('/assets', [{ name: 'Crane' }], message(''));
    const long = await service.post('/assets', [{ name: 'Crane' }], message('x'.repeat(501)));
    const error = 'X-Change-Message: expected at most 500 characters, received 501';
    expect([long.status, long.body]).toEqual([400, { error, code: '400' }]);
    expect((await authors()).map(({ message }: { message: string }) => message)).toEqual([null, null]);
  });
});

test('a record has the user who created it, and the last one who changed it', async () => {
  const jo = service.as(await service.key({ user: 'jo' }));
  for (const { kind, smallest } of namedKinds) {
    const { result } = await service.data(createDocument(kind), { input: [smallest] });
    const fields = `id ${kind.stamps.map((stamp) => `${stamp} { id }`).join(' ')}`;
    const updated = await jo.data(updateDocument(kind, fields), { input: [{ ...result[0], name: 'Other' }] });
    const users = kind.stamps.map((stamp) => [stamp, { id: stamp === 'updatedBy' ? 'jo' : 'erp-sync' }]);
    expect(updated.result).toEqual([{ ...result[0], ...Object.fromEntries(users) }]);
  }
});
