/** Checks an operation before it is executed: its depth, its aliases and directives, its lists and its cost. */
import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { count, cut, maxQuoted } from '../../model/issues.ts';
import { costEvaluator, dearestPath, documentPlan } from './plan.ts';

/** The part of a request's context that tells its response the cost of the operation, and its log line the name. */
interface Costed {
  readonly client?: { cost?: number };
  readonly requestLog?: { operation: string | undefined };
}

/** Rejects documents and operations over the limits. */
export const useOperationLimits = (limits: Limits): Plugin<Costed> => ({
  onValidate({ addValidationRule }) {
    addValidationRule(documentRule(limits));
  },
  onExecute({ args, setResultAndStopExecution }) {
    const error = refusal(args, limits);
    if (error) setResultAndStopExecution({ errors: [error] });
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const error = refusal(args, limits);
    if (error) setResultAndStopExecution({ errors: [error] });
  },
});

/** Returns the error of an operation that may not be executed. */
function refusal(args: ExecutionArgs & { contextValue: Costed }, limits: Limits): GraphQLError | undefined {
  const { maxCost } = limits;
  const operation = getOperationAST(args.document, args.operationName);
  const document = documentPlan(args.schema, args.document, limits);
  const plan = operation && document.operations.get(operation);
  if (!plan) return undefined;
  const { client, requestLog } = args.contextValue;
  if (requestLog) requestLog.operation = operation.name?.value;
  const variables = args.variableValues ?? {};
  const evaluate = costEvaluator((name) =>
    Object.hasOwn(variables, name) ? variables[name] : plan.defaults.get(name),
  );
  try {
    const requested = evaluate(plan.cost);
    if (client) client.cost = requested;
    if (requested <= maxCost) return undefined;
    // Also NaN: an infinite cost times the size of an empty list.
    return tooCostly(requested, maxCost, dearestPath(document, operation.selectionSet, evaluate));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, status } = error;
    return new GraphQLError(message, { extensions: { http: { status } } });
  }
}

/** Returns a validation rule that reads only the document's plan. The cost limits repetition by fragments. */
const documentRule =
  (limits: Limits) =>
  (context: ValidationContext): ASTVisitor => ({
    Document(document: DocumentNode) {
      const { maxDepth, maxAliases, maxDirectives } = limits;
      const { operations, aliases, directives } = documentPlan(context.getSchema(), document, limits);
      const reject = (message: string) => context.reportError(new GraphQLError(message));
      for (const { depth } of operations.values()) {
        if (depth > maxDepth) reject(`the operation is more than ${maxDepth} levels deep`);
      }
      if (aliases > maxAliases) reject(`the document has more than ${maxAliases} aliases`);
      if (directives > maxDirectives) reject(`the document has more than ${maxDirectives} directives`);
      return false;
    },
  });

function tooCostly(requested: number, limit: number, path: string): GraphQLError {
  const cost = Number.isFinite(requested) ? ` (it costs ${count(Math.ceil(requested))})` : '';
  const place = path && `, above all in ${cut(path, maxQuoted)}`;
  return new GraphQLError(
    `the operation costs more than ${count(limit)}${cost}: select fewer fields or aliases, or use smaller pages or batches${place}`,
    { extensions: { cost: { requested, limit } } },
  );
}
