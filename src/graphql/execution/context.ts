import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import type { Session } from '../../services/session.ts';
import type { WorkspaceStore } from '../../store/workspace-store.ts';
import type { ResponseSize } from '../limits/response-size.ts';
import { askedFields } from './document-plan.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What every resolver gets. Made for one request, so that nothing is shared between users. */
export interface Context {
  readonly session: Session<WorkspaceStore>;
  readonly loaders: Loaders;
  readonly responseSize: ResponseSize;
}

/** The loaders, which are made once it is known what is asked for. */
export const useLoaders = (limits: Limits): Plugin<Context> => ({
  onExecute({ args: { contextValue, schema, document }, extendContext }) {
    const loaders = createLoaders(() => contextValue.session.store.within(limits), askedFields(schema, document));
    extendContext({ loaders });
  },
});
