/**
 * Executes operations: queries by writing their text, everything else, and every query that has an error, with graphql-js. The text
 * of a query that is sent again with the same variables is cached until the next write to the database.
 */
import { createHash } from 'node:crypto';
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  OperationTypeNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../errors.ts';
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

  async function textOf(
    { store }: Context['session'],
    name: string | undefined,
    write: () => Promise<string>,
  ): Promise<string> {
    if (name === undefined) return write();
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
        } catch (error) {
          // A query writes nothing, so it can be executed again. What was read for it is still in the loaders.
          contextValue.responseSize.clear();
          const result = await execute(args);
          if (isUnexpected(error, result)) {
            contextValue.requestLog.log.error({ err: error }, 'a query could not be written as text');
          }
          return result;
        }
      }),
  };
}

/** Whether the error is a defect of the service that the response does not have, and so would be logged nowhere else. */
const isUnexpected = (error: unknown, { errors = [] }: ExecutionResult): boolean =>
  !(error instanceof ServiceError || error instanceof GraphQLError) &&
  !errors.some(({ originalError }) => originalError === error);

/**
 * Queries with the same name, in the same workspace, have the same text until something is written. Undefined for a document that
 * was parsed without its text.
 */
function nameOf({ document, operationName, variableValues }: ExecutionArgs): string | undefined {
  if (!document.loc) return undefined;
  const query = JSON.stringify([document.loc.source.body, operationName, variableValues]);
  return `query ${createHash('sha256').update(query).digest('base64url')}`;
}

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});
