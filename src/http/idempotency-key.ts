/**
 * The header `Idempotency-Key`, with which a client marks a request that it may repeat, and `Idempotency-Replayed` of the response to a
 * repeat. Interface: "Every rule".
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import { expected } from '../model/issues.ts';

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

/** Marks a response that repeats an earlier one. */
export const markReplayed = (reply: FastifyReply) => void reply.header('idempotency-replayed', 'true');
