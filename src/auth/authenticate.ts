/** Who a request comes from. The one caller that binds a store to a workspace. */
import type { FastifyInstance } from 'fastify';
import { badRequest } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { Session } from '../services/session.ts';
import type { Database } from '../store/database.ts';
import { createWorkspaceStore } from '../store/workspace-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    session: Session;
  }
}

/** The service runs open: every request is in the one default workspace, from a user without a name. */
export const openSession = (database: Database): Session => ({
  store: createWorkspaceStore(database, 'default'),
  userId: null,
});

/** Gives every request its session, before its body is read. */
export function authenticate(app: FastifyInstance, database: Database): void {
  app.decorateRequest('session');
  app.addHook('onRequest', async (request) => {
    requireLoopbackName(request.hostname);
    request.session = openSession(database);
  });
}

/** While open, only loopback keeps others out; a page from elsewhere gets past that with a name that leads here. */
function requireLoopbackName(hostname: string): void {
  if (/^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)) return;
  throw badRequest(`Host: ${expected('a loopback name such as 127.0.0.1 or localhost', hostname || undefined)}`);
}
