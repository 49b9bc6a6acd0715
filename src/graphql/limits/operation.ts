/** Checks an operation before it is executed: its depth, its aliases and directives, its lists and its cost. */
import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  type ValidationContext,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { count } from '../../model/issues.ts';
import { evaluateCost } from '../plan/cost.ts';
import { documentPlan, type OperationPlan } from '../plan/document-plan.ts';

/** Rejects documents and operations over the limits. The response to every valid operation has its cost in `extensions.cost`. */
export const useOperationLimits = (limits: Limits): Plugin => ({
  onValidate({ addValidationRule }) {
    addValidationRule(documentRule(limits));
  },
  onExecute({ args, setResultAndStopExecution }) {
    const { errors, ...rest } = checked(args, limits);
    if (errors) return void setResultAndStopExecution({ errors, ...rest });
    return {
      onExecuteDone({ result, setResult }) {
        if (!isAsyncIterable(result)) setResult({ ...result, ...rest });
      },
    };
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const result = checked(args, limits);
    if (result.errors) setResultAndStopExecution(result);
  },
});

/** Returns the cost of the operation for the response, and the error if it may not be executed. */
function checked(args: ExecutionArgs, { maxCost }: Limits): Pick<ExecutionResult, 'errors' | 'extensions'> {
  const operation = getOperationAST(args.document, args.operationName);
  const plan = operation && documentPlan(args.schema, args.document).operations.get(operation);
  if (!plan) return {};
  const requested = costOf(plan, args);
  if (requested instanceof GraphQLError) return { errors: [requested] };
  const extensions = { cost: { requested, limit: maxCost } };
  // Also rejects NaN: an infinite cost times the size of an empty list.
  return requested <= maxCost ? { extensions } : { errors: [tooCostly(maxCost)], extensions };
}

/** Returns a validation rule that reads only the document's plan. The cost limits repetition by fragments. */
const documentRule =
  ({ maxDepth, maxAliases, maxDirectives }: Limits) =>
  (context: ValidationContext): ASTVisitor => ({
    Document(document: DocumentNode) {
      const { operations, aliases, directives } = documentPlan(context.getSchema(), document);
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

const tooCostly = (maxCost: number) =>
  new GraphQLError(
    `the operation costs more than ${count(maxCost)}: select fewer fields or aliases, or use smaller pages or batches`,
  );
