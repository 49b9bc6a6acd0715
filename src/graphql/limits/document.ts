/**
 * Checks a GraphQL document before it is parsed. graphql-js parses, validates and executes by recursion: a document
 * nested a few thousand levels deep would overflow the stack.
 */
import { GraphQLError, Lexer, Source, type Token, TokenKind } from 'graphql';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import { count } from '../../model/issues.ts';

/** GraphQL's errors, and the paths in them, repeat names of the document. */
const maxNameLength = 100;

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one by one and builds nothing from them. Throws a ServiceError 400. */
export function requireSmallDocument(text: string, { maxQueryLength, maxTokens, maxNesting }: Limits): void {
  if (text.length > maxQueryLength) throw badRequest(`the document is longer than ${count(maxQueryLength)} characters`);
  let tokens = 0;
  let nesting = 0;
  for (const { kind, value } of tokensOf(text)) {
    tokens += 1;
    if (opening.includes(kind)) nesting += 1;
    if (closing.includes(kind)) nesting -= 1;
    if (tokens > maxTokens)
      throw badRequest(`the document has more than ${count(maxTokens)} tokens (names, punctuation and values)`);
    if (nesting > maxNesting) throw badRequest(`the document is nested more than ${maxNesting} levels deep`);
    if (kind === TokenKind.NAME && value.length > maxNameLength) {
      throw badRequest(`the document has a name longer than ${maxNameLength} characters`);
    }
  }
}

/** Yields the tokens up to the first syntax error, which the parser will find again and report. */
function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  try {
    while (lexer.advance().kind !== TokenKind.EOF) yield lexer.token;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}
