/** Rejects requests that do not choose one operation of their document, with messages that list the choices. */
import { type DocumentNode, GraphQLError, getOperationAST, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { cut, expected, maxQuoted } from '../model/issues.ts';

/** Yoga's own plugins, which it puts after those of a service, reject the same requests. */
export const useOperationChoice = (): Plugin => ({
  onParse() {
    return ({ result, context: { params } }) => {
      if (result instanceof Error) return;
      const problem = choiceProblem(result, params?.operationName);
      if (problem === undefined) return;
      const extensions = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } };
      throw new GraphQLError(problem, { extensions });
    };
  },
});

function choiceProblem(document: DocumentNode, operationName: string | null | undefined): string | undefined {
  if (getOperationAST(document, operationName)) return undefined;
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const names = operations.flatMap(({ name }) => name?.value ?? []);
  const listed = cut(names.join(', '), maxQuoted);
  if (operations.length === 0) return 'the document has no operation to execute';
  if (operationName === null || operationName === undefined) {
    return names.length === 0
      ? 'the document has several operations: name each of them, and send the operationName of one'
      : `operationName: required, because the document has several operations: ${listed}`;
  }
  const what =
    names.length === 0
      ? 'none, because the operation has no name'
      : `one of the operations in the document (${listed})`;
  return `operationName: ${expected(what, operationName)}`;
}
