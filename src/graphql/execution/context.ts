/** What the resolvers of one request share. Created anew for each request, so that users share nothing. */
import type { DocumentNode, GraphQLSchema } from 'graphql';
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
  /** Absent while a subscription begins: each of its events is executed with its own. */
  readonly loaders: Loaders;
  readonly responseSize: ResponseSize;
  /** Characters of texts and external IDs in the response, and in an event of a subscription. */
  readonly maxResponseLength: number;
  readonly requestLog: RequestLog;
  /** The next two are present only while a subscription begins. Makes loaders for its document, for a response of this length. */
  readonly openLoaders: (maxResponseLength: number) => Loaders;
  readonly stream: Stream;
}

/** What the resolver of a subscription knows of its client. */
export interface Stream {
  /** The last event that a browser got before it connected again. */
  readonly lastEventId: string | undefined;
  readonly workspaceId: string;
  /** Characters that an event may hold, unless it is a single change. */
  readonly eventLength: number;
  /** Aborted when the client or the service ends the subscription. */
  readonly signal: AbortSignal;
}

/** Adds the loaders once the document is parsed: its plan says which columns they read. */
export function useLoaders(limits: Limits): Plugin<Context> {
  const openerFor =
    (context: Context, schema: GraphQLSchema, document: DocumentNode) =>
    (maxResponseLength: number): Loaders =>
      createLoaders(context.session.store.within({ ...limits, maxResponseLength }), documentPlan(schema, document));
  return {
    onSubscribe({ args: { contextValue, schema, document }, extendContext }) {
      extendContext({ openLoaders: openerFor(contextValue, schema, document) });
    },
    onExecute({ args: { contextValue, schema, document }, extendContext }) {
      extendContext({ loaders: openerFor(contextValue, schema, document)(contextValue.maxResponseLength) });
    },
  };
}
