/** Says who makes a request, and why: both are kept with each change that the request makes. */

import type { FastifyRequest } from 'fastify';
import { changeMessage } from '../http/change-message.ts';
import type { Author } from '../store/query/tables.ts';
import type { Identity } from './keyring.ts';

/** Throws a ServiceError 400 if the message is too long. */
export const authorOf = ({ id, headers }: Pick<FastifyRequest, 'id' | 'headers'>, { userId }: Identity): Author => ({
  userId,
  requestId: id,
  message: changeMessage(headers),
});
