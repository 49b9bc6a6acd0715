/** Who makes a request, and why: this is kept with each change that the request makes. */
import type { FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import { count } from '../model/issues.ts';
import { type Author, maxMessageLength } from '../store/changes.ts';
import type { Identity } from './keyring.ts';

/** Throws a ServiceError 400 if the message is too long. */
export const authorOf = ({ id, headers }: Pick<FastifyRequest, 'id' | 'headers'>, { userId }: Identity): Author => ({
  userId,
  requestId: id,
  message: messageIn(headers['x-change-message']),
});

function messageIn(header: string | string[] | undefined): string | null {
  if (header === undefined || header === '') return null;
  const message = textIn(String(header));
  if (message.length <= maxMessageLength) return message;
  const problem = `expected at most ${count(maxMessageLength)} characters, received ${count(message.length)}`;
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
