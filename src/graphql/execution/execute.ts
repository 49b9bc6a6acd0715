/**
 * Executes operations. Queries are written as text; graphql-js executes everything else, and every query that has an
 * error. The text of a query with the same variables is cached until the next write to the database.
 */
import { createHash } from 'node:crypto';
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ServiceError } from '../../errors.ts';
import type { Context } from './context.ts';
import { withSentItems } from './sent-items.ts';
import { writeQuery } from './write-query.ts';

/** A result that yoga turns into text with `stringify`, whatever plugins have added to it. */
interface WrittenResult extends ExecutionResult {
  readonly stringify: (result: ExecutionResult) => string;
}

/** Returns fields in the order of the document; yoga's own executor returns them in the order in which they resolve. */
export const useExecutor = (): Plugin<Context> => ({
  onExecute: ({ setExecuteFn, args: { contextValue } }) =>
    setExecuteFn(async (args: ExecutionArgs): Promise<ExecutionResult> => {
      const operation = getOperationAST(args.document, args.operationName);
      if (operation?.operation === OperationTypeNode.MUTATION) return execute(withSentItems(args, operation));
      if (operation?.operation !== OperationTypeNode.QUERY) return execute(args);
      const write = async () => writeQuery(args, operation);
      const name = nameOf(args, operation);
      try {
        const text = await (name === undefined ? write() : contextValue.session.store.deriveText(name, write));
        await contextValue.holdText(text.length);
        return withText(text);
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
});

/** True if the error is a defect of the service that the response does not contain: nothing else would log it. */
const isUnexpected = (error: unknown, { errors = [] }: ExecutionResult): boolean =>
  !(error instanceof ServiceError || error instanceof GraphQLError) &&
  !errors.some(({ originalError }) => originalError === error);

/**
 * Returns the name under which the text of a query is cached, in its workspace, until something is written; undefined
 * for a document that was parsed without its text.
 */
function nameOf({ document, operationName, variableValues }: ExecutionArgs, operation: OperationDefinitionNode) {
  if (!document.loc) return undefined;
  const variables = variableValues ?? {};
  const declared = (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  const sent = declared.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]);
  const query = JSON.stringify([document.loc.source.body, operationName, sent]);
  return `query ${createHash('sha256').update(query).digest('base64url')}`;
}

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});
