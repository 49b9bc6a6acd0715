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
  TokenKind,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../config.ts';

export const useDocumentLimits = (limits: Limits): Plugin => ({
  onParse({ parseFn, setParseFn }) {
    setParseFn((source: string | Source, options: object) => {
      requireSmall(source, limits);
      return parseFn(source, options);
    });
  },
  onValidate({ addValidationRule }) {
    addValidationRule(sizeRule(limits));
  },
});

const refuse = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } });

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one after the other, without building anything from them. */
function requireSmall(source: string | Source, { maxTokens, maxNesting }: Limits): void {
  const lexer = new Lexer(typeof source === 'string' ? new Source(source) : source);
  let tokens = 0;
  let nesting = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (tokens > maxTokens) throw refuse(`the document has more than ${maxTokens} tokens`);
    if (opening.includes(token.kind)) nesting += 1;
    if (closing.includes(token.kind)) nesting -= 1;
    if (nesting > maxNesting) throw refuse(`the document is nested more than ${maxNesting} levels deep`);
  }
}

interface Size {
  /** Levels of fields. */
  readonly depth: number;
  /** Fields, those of a fragment as often as it is spread. */
  readonly fields: number;
}

/** A validation rule on what each operation becomes when its fragments are spread: a few of them can stand for millions of fields. */
const sizeRule =
  ({ maxDepth, maxTokens }: Limits) =>
  (context: ValidationContext): ASTVisitor => ({
    Document({ definitions }: DocumentNode) {
      const sizeOf = sizeReader(context);
      for (const definition of definitions) {
        if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
        const { depth, fields } = sizeOf(definition.selectionSet);
        if (depth > maxDepth) context.reportError(refuse(`the operation is more than ${maxDepth} levels deep`));
        if (fields > maxTokens) {
          context.reportError(refuse(`the operation has more than ${maxTokens} fields when its fragments are spread`));
        }
      }
    },
  });

/** Each fragment is measured once, however often it is spread; one that spreads itself is another rule's to refuse. */
function sizeReader(context: ValidationContext): (selectionSet: SelectionSetNode) => Size {
  const fragments = new Map<string, Size>();

  const sizeOfFragment = (name: string): Size => {
    const known = fragments.get(name);
    if (known) return known;
    fragments.set(name, { depth: 0, fields: 0 });
    const fragment = context.getFragment(name);
    const size = fragment ? sizeOf(fragment.selectionSet) : { depth: 0, fields: 0 };
    fragments.set(name, size);
    return size;
  };

  const sizeOfSelection = (selection: SelectionNode): Size => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return sizeOfFragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return sizeOf(selection.selectionSet);
    const inner = selection.selectionSet ? sizeOf(selection.selectionSet) : { depth: 0, fields: 0 };
    return { depth: inner.depth + 1, fields: inner.fields + 1 };
  };

  const sizeOf = ({ selections }: SelectionSetNode): Size => {
    const sizes = selections.map(sizeOfSelection);
    return {
      depth: Math.max(0, ...sizes.map(({ depth }) => depth)),
      fields: sizes.reduce((sum, { fields }) => sum + fields, 0),
    };
  };
  return sizeOf;
}
