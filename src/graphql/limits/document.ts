/**
 * Limits a GraphQL document must keep before anything recursive reads it: graphql-js parses, validates and executes by
 * recursion, and a document nested a few thousand levels deep would end the stack.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  type Token,
  TokenKind,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';

/** GraphQL's errors, and the paths in them, repeat the names of a document. */
const maxNameLength = 100;

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one after the other, without building anything from them. Throws a ServiceError 400. */
export function requireSmallDocument(text: string, { maxQueryLength, maxTokens, maxNesting }: Limits): void {
  if (text.length > maxQueryLength) throw badRequest(`the document is longer than ${maxQueryLength} characters`);
  let tokens = 0;
  let nesting = 0;
  for (const { kind, value } of tokensOf(text)) {
    tokens += 1;
    if (opening.includes(kind)) nesting += 1;
    if (closing.includes(kind)) nesting -= 1;
    if (tokens > maxTokens) throw badRequest(`the document has more than ${maxTokens} tokens`);
    if (nesting > maxNesting) throw badRequest(`the document is nested more than ${maxNesting} levels deep`);
    if (kind === TokenKind.NAME && value.length > maxNameLength) {
      throw badRequest(`the document has a name longer than ${maxNameLength} characters`);
    }
  }
}

/** Up to the first syntax error, which the parser will find again and tell. */
function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  try {
    while (lexer.advance().kind !== TokenKind.EOF) yield lexer.token;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}

/** What can only be told of a document that is read. */
export const useDocumentLimits = ({ maxDepth, maxAliases, maxDirectives }: Limits): Plugin => ({
  onValidate({ addValidationRule }) {
    addValidationRule(depthRule(maxDepth));
    addValidationRule(countRule(maxAliases, maxDirectives));
  },
});

/** A validation rule: how many aliases and directives the document has; what fragments make of them is a matter of cost. */
const countRule =
  (maxAliases: number, maxDirectives: number) =>
  (context: ValidationContext): ASTVisitor => {
    let aliases = 0;
    let directives = 0;
    const refuse = (max: number, what: string) =>
      context.reportError(new GraphQLError(`the document has more than ${max} ${what}`));
    return {
      Field({ alias }) {
        if (!alias) return;
        aliases += 1;
        if (aliases === maxAliases + 1) refuse(maxAliases, 'aliases');
      },
      Directive() {
        directives += 1;
        if (directives === maxDirectives + 1) refuse(maxDirectives, 'directives');
      },
    };
  };

/** A validation rule: how many levels of fields each operation has, with the fragments it spreads. */
const depthRule =
  (maxDepth: number) =>
  (context: ValidationContext): ASTVisitor => ({
    Document({ definitions }: DocumentNode) {
      const depthOf = depthReader(context);
      for (const definition of definitions) {
        if (definition.kind === Kind.OPERATION_DEFINITION && depthOf(definition.selectionSet) > maxDepth) {
          context.reportError(new GraphQLError(`the operation is more than ${maxDepth} levels deep`));
        }
      }
    },
  });

/** Each fragment is measured once, however often it is spread; one that spreads itself is another rule's to refuse. */
function depthReader(context: ValidationContext): (selectionSet: SelectionSetNode) => number {
  const fragmentDepths = new Map<string, number>();

  const fragmentDepth = (name: string): number => {
    const known = fragmentDepths.get(name);
    if (known !== undefined) return known;
    fragmentDepths.set(name, 0);
    const fragment = context.getFragment(name);
    const depth = fragment ? depthOf(fragment.selectionSet) : 0;
    fragmentDepths.set(name, depth);
    return depth;
  };

  const selectionDepth = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return fragmentDepth(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return depthOf(selection.selectionSet);
    return 1 + (selection.selectionSet ? depthOf(selection.selectionSet) : 0);
  };

  const depthOf = ({ selections }: SelectionSetNode): number => Math.max(0, ...selections.map(selectionDepth));
  return depthOf;
}
