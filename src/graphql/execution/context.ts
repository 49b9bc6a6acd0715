/** What the resolvers of one request share. Created anew for each request, so that users share nothing. */
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import type { RequestLog } from '../../http/error-response.ts';
import type { Session } from '../../services/session.ts';
import type { WorkspaceStore } from '../../store/workspace-store.ts';
import type { ResponseSize } from '../limits/response-size.ts';
import { documentPlan } from '../plan/document-plan.ts';
import { createLoaders, type Loaders } from './loaders.ts';

export interface Context {
  readonly session: Session<WorkspaceStore>;
  /** The session of the mutation with this name in the response. Throws a ServiceError 400 if the request has an invalid key. */
  readonly sessionFor: (responseName: string) => Session<WorkspaceStore>;
  readonly loaders: Loaders;
  readonly responseSize: ResponseSize;
  readonly requestLog: RequestLog;
}

/** Adds the loaders once the document is parsed: its plan says which columns they read. */
export const useLoaders = (limits: Limits): Plugin<Context> => ({
  onExecute({ args: { contextValue, schema, document }, extendContext }) {
    const loaders = createLoaders(contextValue.session.store.within(limits), documentPlan(schema, document));
    extendContext({ loaders });
  },
});
