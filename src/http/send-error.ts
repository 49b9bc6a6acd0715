/** REST's form of errors: two fields, or RFC 9457 for clients that accept it. Interface: "Errors". */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatPath, type Issue } from '../model/issues.ts';
import { type ErrorResponse, errorResponseFor, setErrorHeaders } from './error-response.ts';

/** Sends `{ error, code }`, or with `Accept: application/problem+json` a problem with all issues. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const response = errorResponseFor(error, request);
  reply.code(response.status);
  setErrorHeaders(reply, response);
  if (!wantsProblem(request)) return reply.type('application/json; charset=utf-8').send(plainError(response));
  // As bytes: Fastify adds a charset to text, and this media type has none.
  return reply.type('application/problem+json').send(Buffer.from(JSON.stringify(problem(response))));
}

export const plainError = ({ status, message }: ErrorResponse) => ({ error: message, code: String(status) });

export const problem = ({ status, type = 'about:blank', message, issues }: ErrorResponse) => ({
  type,
  title: STATUS_CODES[status],
  status,
  detail: message,
  ...(issues.length > 0 && { errors: issues.map(problemError) }),
});

const wantsProblem = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(accept);

/** `{ index, field, message }`: no index outside a batch, no field if the message is about the whole item. */
function problemError({ path: [first, ...rest], message }: Issue) {
  const isIndexed = typeof first === 'number';
  const field = isIndexed || first === undefined ? rest : [first, ...rest];
  return { ...(isIndexed && { index: first }), ...(field.length > 0 && { field: formatPath(field) }), message };
}
