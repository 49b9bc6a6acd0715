/** Who a request comes from. The one caller that binds a store to a workspace. */
import type { FastifyInstance } from 'fastify';
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
    request.session = openSession(database);
  });
}
