/** Executes operations: all as graphql-js does, and plain queries that come again with functions made for them. */
import {
  type ASTNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  Kind,
  OperationTypeNode,
  visit,
} from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { loadLate } from '../load-late.ts';
import type { Context } from './context.ts';

type Compiled = CompiledQuery['query'];

const loadCompiler = loadLate(() => import('graphql-jit'));

/**
 * Fields answer in the order they were asked for; yoga's own executor writes them as they come in. A query of a hundred
 * linked records takes a quarter less once it is compiled, which itself takes a few milliseconds: so it is only done for one
 * that has been sent before.
 */
export function useExecutor(): Plugin<Pick<Context, 'responseSize' | 'loaders'>> {
  /** As long as yoga keeps the document. */
  const queries = new WeakMap<DocumentNode, Compiled | 'seen once' | 'not compiled'>();

  async function compiledQuery({ schema, document }: ExecutionArgs): Promise<Compiled | undefined> {
    const known = queries.get(document);
    if (typeof known === 'function') return known;
    if (!known) queries.set(document, mayBeCompiled(document) ? 'seen once' : 'not compiled');
    if (known !== 'seen once') return undefined;
    // Whoever comes in the meantime does not compile it too.
    queries.set(document, 'not compiled');
    const compiler = await loadCompiler().catch(() => undefined);
    if (!compiler) {
      // Executed as before, until it can be loaded.
      queries.set(document, 'seen once');
      return undefined;
    }
    const result = compiler.compileQuery(schema, document, undefined, {
      // All values come from the store, in the form they are answered.
      disableLeafSerialization: true,
      disablingCapturingStackErrors: true,
    });
    if (compiler.isCompiledQuery(result)) queries.set(document, result.query);
    return undefined;
  }

  return {
    onExecute: ({ setExecuteFn, args: { contextValue } }) =>
      setExecuteFn(async (args: ExecutionArgs): Promise<ExecutionResult> => {
        const query = await compiledQuery(args);
        const result = await query?.(args.rootValue, args.contextValue, args.variableValues);
        if (result && !result.errors) return result;
        // Errors are graphql-js's own, which has other words for some of them: nothing was written, so it reads again.
        if (result) {
          contextValue.responseSize.clear();
          contextValue.loaders.renew();
        }
        return execute(args);
      }),
  };
}

/** All that a compiled document may consist of. */
const plainNodes: ReadonlySet<string> = new Set([
  Kind.DOCUMENT,
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.VARIABLE,
  Kind.NAMED_TYPE,
  Kind.NON_NULL_TYPE,
  Kind.LIST_TYPE,
  Kind.SELECTION_SET,
  Kind.FIELD,
  Kind.ARGUMENT,
  Kind.INT,
  Kind.NAME,
]);

/** The code made for one grows with its fields. */
const maxFields = 100;

/**
 * One query of plain fields, whose values come as variables. What is compiled becomes code, so nothing of it may be text that
 * a client chose freely: names are letters, digits and underscores, and here without two at the start. (The compiler would run
 * code hidden in a text, and confuse conditions on fragments.)
 */
function mayBeCompiled(document: DocumentNode): boolean {
  const [operation, ...others] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.QUERY) return false;
  let fields = 0;
  let isPlain = others.length === 0;
  visit(document, {
    enter(node: ASTNode) {
      if (node.kind === Kind.FIELD) fields += 1;
      if (!plainNodes.has(node.kind) || (node.kind === Kind.NAME && node.value.startsWith('__'))) isPlain = false;
    },
  });
  return isPlain && fields <= maxFields;
}
