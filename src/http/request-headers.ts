/**
 * The headers with which a client says how a write is stored: `Idempotency-Key` marks a request that it may repeat, and
 * `X-Change-Message` says why it changes records. Interface: "Every rule".
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import { count, expected } from '../model/issues.ts';

export const idempotencyKeyPattern = '^[ -~]{1,255}$';

const validKey = new RegExp(idempotencyKeyPattern);

/**
 * Returns the key and a hash that is the same for repeats of the request; undefined without the header. `handling` is
 * whatever else changes its meaning. Throws a ServiceError 400 if the key is not valid.
 */
export function idempotencyKeyOf(
  { method, url, headers, bodyHash }: FastifyRequest,
  operation: string,
  handling = '',
): { operation: string; key: string; requestHash: string } | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !validKey.test(key)) {
    throw badRequest(
      `Idempotency-Key: ${expected('1 to 255 printable ASCII characters, such as a UUID', String(key))}`,
    );
  }
  const asked = JSON.stringify([method, url, handling, bodyHash]);
  return { operation, key, requestHash: createHash('sha256').update(asked).digest('base64url') };
}

export const mergePatchType = 'application/merge-patch+json';

/** True if external IDs are to be merged (RFC 7396) instead of replaced as a whole. */
export const isMergePatch = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === mergePatchType;

export const markReplayed = (reply: FastifyReply) => void reply.header('idempotency-replayed', 'true');

/** The greatest length of a message, in Unicode code points. */
export const maxMessageLength = 500;

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
