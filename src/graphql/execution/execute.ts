/** Executes operations with graphql-js or, for a plain query that has been sent before, with code compiled for it. */
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { loadLate } from '../../load-late.ts';
import { documentPlan } from '../plan/document-plan.ts';
import type { Context } from './context.ts';

type Compiled = CompiledQuery['query'];

const loadCompiler = loadLate(() => import('graphql-jit'));

/**
 * Returns fields in the order of the document; yoga's own executor returns them in the order in which they resolve. Compiled, a
 * query of a hundred linked records takes a quarter less time, but compiling takes a few milliseconds: only a query that has been
 * sent before is compiled.
 */
export function useExecutor(): Plugin<Pick<Context, 'responseSize' | 'loaders'>> {
  /** Cached as long as yoga caches the document. */
  const queries = new WeakMap<DocumentNode, Compiled | 'sent once' | 'not compiled'>();

  async function compiledQuery({ schema, document }: ExecutionArgs): Promise<Compiled | undefined> {
    const cached = queries.get(document);
    if (typeof cached === 'function') return cached;
    if (!cached) queries.set(document, documentPlan(schema, document).mayBeCompiled ? 'sent once' : 'not compiled');
    if (cached !== 'sent once') return undefined;
    // Requests that arrive meanwhile must not compile it too.
    queries.set(document, 'not compiled');
    const compiler = await loadCompiler().catch(() => undefined);
    if (!compiler) {
      // The next request tries again to load the compiler.
      queries.set(document, 'sent once');
      return undefined;
    }
    const result = compiler.compileQuery(schema, document, undefined, {
      // All values come from the store, in the form in which they are returned.
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
        // Only graphql-js returns errors, because the compiler gives some other messages. A compiled query writes nothing, so
        // it can be executed again.
        if (result) {
          contextValue.responseSize.clear();
          contextValue.loaders.reset();
        }
        return execute(args);
      }),
  };
}
