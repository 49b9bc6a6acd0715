/** Executes operations: queries by writing their text, everything else, and every query that has an error, with graphql-js. */
import { type ExecutionArgs, type ExecutionResult, execute, getOperationAST, OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from './context.ts';
import { writeQuery } from './write-query.ts';

/** A result that yoga turns into text with `stringify`, whatever plugins have added to it. */
interface WrittenResult extends ExecutionResult {
  readonly stringify: (result: ExecutionResult) => string;
}

/** Returns fields in the order of the document; yoga's own executor returns them in the order in which they resolve. */
export const useExecutor = (): Plugin<Pick<Context, 'responseSize' | 'loaders'>> => ({
  onExecute: ({ setExecuteFn, args: { contextValue } }) =>
    setExecuteFn(async (args: ExecutionArgs): Promise<ExecutionResult> => {
      const operation = getOperationAST(args.document, args.operationName);
      if (operation?.operation !== OperationTypeNode.QUERY) return execute(args);
      try {
        return withText(await writeQuery(args, operation));
      } catch {
        // A query writes nothing, so it can be executed again.
        contextValue.responseSize.clear();
        contextValue.loaders.reset();
        return execute(args);
      }
    }),
});

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});
