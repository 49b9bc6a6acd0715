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
import { count } from '../../model/issues.ts';
import { documentPlan, evaluateCost, type OperationPlan } from './plan.ts';

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
  const plan = operation && documentPlan(args.schema, args.document, limits).operations.get(operation);
  if (!plan) return undefined;
  const { client, requestLog } = args.contextValue;
  if (requestLog) requestLog.operation = operation.name?.value;
  const requested = costOf(plan, args);
  if (requested instanceof GraphQLError) return requested;
  if (client) client.cost = requested;
  // Also rejects NaN: an infinite cost times the size of an empty list.
  return requested <= maxCost ? undefined : tooCostly(requested, maxCost);
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

/** Returns the cost, or the error for a list in the variables that is too long, before its items are read. */
function costOf({ cost, defaults }: OperationPlan, { variableValues }: ExecutionArgs): number | GraphQLError {
  const variables = variableValues ?? {};
  const readVariable = (name: string) => (Object.hasOwn(variables, name) ? variables[name] : defaults.get(name));
  try {
    return evaluateCost(cost, readVariable);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, status } = error;
    return new GraphQLError(message, { extensions: { http: { status } } });
  }
}

const tooCostly = (requested: number, limit: number) =>
  new GraphQLError(
    `the operation costs more than ${count(limit)}: select fewer fields or aliases, or use smaller pages or batches`,
    { extensions: { cost: { requested, limit } } },
  );
