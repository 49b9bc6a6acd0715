/**
 * Executes operations: queries by writing their text, everything else, and every query that has an error, with graphql-js. The text
 * of a query that is sent again with the same variables is cached until the next write to the database.
 */
import { createHash } from 'node:crypto';
import { type ExecutionArgs, type ExecutionResult, execute, getOperationAST, OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';
import { writeQuery } from './write-query.ts';

/** A result that yoga turns into text with `stringify`, whatever plugins have added to it. */
interface WrittenResult extends ExecutionResult {
  readonly stringify: (result: ExecutionResult) => string;
}

/** The last queries that were sent, by their names. */
const maxNames = 10_000;

/** Returns fields in the order of the document; yoga's own executor returns them in the order in which they resolve. */
export function useExecutor(): Plugin<Context> {
  // Looking for a cached text takes a statement, which is only worth it for a query that is sent again and again.
  const sentNames = new LRUCache<string, true>({ max: maxNames });

  async function textOf({ store }: Context['session'], name: string, write: () => Promise<string>): Promise<string> {
    if (!sentNames.has(name)) {
      sentNames.set(name, true);
      return write();
    }
    return store.deriveText(name, write);
  }

  return {
    onExecute: ({ setExecuteFn, args: { contextValue } }) =>
      setExecuteFn(async (args: ExecutionArgs): Promise<ExecutionResult> => {
        const operation = getOperationAST(args.document, args.operationName);
        if (operation?.operation !== OperationTypeNode.QUERY) return execute(args);
        try {
          return withText(await textOf(contextValue.session, nameOf(args), async () => writeQuery(args, operation)));
        } catch {
          // A query writes nothing, so it can be executed again.
          contextValue.responseSize.clear();
          contextValue.loaders.reset();
          return execute(args);
        }
      }),
  };
}

/** Queries with the same name, in the same workspace, have the same text until something is written. */
function nameOf({ document, operationName, variableValues }: ExecutionArgs): string {
  const query = JSON.stringify([document.loc?.source.body, operationName, variableValues]);
  return `query ${createHash('sha256').update(query).digest('base64url')}`;
}

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});
