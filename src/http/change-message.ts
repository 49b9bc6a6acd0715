/** The header `X-Change-Message`, with which a client says why it changes records. Interface: "Every rule". */
import type { FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import { count } from '../model/issues.ts';

/** The greatest length of a message, in Unicode code points. */
export const maxMessageLength = 500;

/** Returns null without a message. Throws a ServiceError 400 if it is too long. */
export function changeMessage(headers: FastifyRequest['headers']): string | null {
  const header = headers['x-change-message'];
  if (header === undefined || header === '') return null;
  const message = textIn(String(header));
  const { length } = Array.from(message);
  if (length <= maxMessageLength) return message;
  const problem = `expected at most ${count(maxMessageLength)} characters, received ${count(length)}`;
  throw badRequest(`X-Change-Message: ${problem}`);
}

/** Node reads headers as Latin-1. Most clients that send other characters send UTF-8. */
function textIn(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
