/**
 * Limits the requests of a key, and the failed logins of an address. Each process counts separately: behind a load balancer,
 * each process allows the full number.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import type { Config } from '../config.ts';
import { ServiceError, tooManyRequests } from '../errors.ts';

type Settings = Pick<Config, 'requestsPerMinute' | 'failedLoginsPerMinute'>;

export async function createRateLimits(app: FastifyInstance, { requestsPerMinute, failedLoginsPerMinute }: Settings) {
  await app.register(rateLimit, { global: false, timeWindow: '1 minute' });
  const keyGenerator = ({ identity, ip }: FastifyRequest) => identity?.keyPrefix ?? ip;
  const requests = oneAtATime(app.createRateLimit({ max: requestsPerMinute, keyGenerator }));
  const failures = oneAtATime(app.createRateLimit({ max: failedLoginsPerMinute, keyGenerator: ({ ip }) => ip }));

  return {
    async limitRequests(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (requestsPerMinute > 0) applyLimit(reply, 'requests', await requests(request));
    },

    /**
     * Counts failed logins. Beyond the limit an address gets a ServiceError 429 before its key is looked up, unless this key
     * was accepted before: several clients may share the address.
     */
    async limitFailures<T>(
      request: FastifyRequest,
      reply: FastifyReply,
      { wasAccepted, login }: { wasAccepted: () => boolean; login: () => Promise<T> },
    ): Promise<T> {
      if (failedLoginsPerMinute === 0) return login();
      if (!wasAccepted()) {
        const state = await failures(request, { increment: false });
        if (!state.isAllowed && state.remaining === 0)
          applyLimit(reply, 'failed logins', { ...state, isExceeded: true });
      }
      try {
        return await login();
      } catch (error) {
        if (error instanceof ServiceError && error.status === 401) {
          applyLimit(reply, 'failed logins', await failures(request));
        }
        throw error;
      }
    },
  };
}

type Limit = ReturnType<FastifyInstance['createRateLimit']>;

/** Counts requests one after the other: counted concurrently, all would get the count of the last one. */
function oneAtATime(limit: Limit): Limit {
  const queue = pLimit(1);
  return (...args) => queue(() => limit(...args));
}

type State = Awaited<ReturnType<Limit>>;

function applyLimit(reply: FastifyReply, what: 'requests' | 'failed logins', state: State): void {
  if (state.isAllowed) return;
  const { max, remaining, ttlInSeconds, isExceeded } = state;
  reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': ttlInSeconds });
  if (!isExceeded) return;
  reply.header('retry-after', ttlInSeconds);
  throw tooManyRequests(`at most ${max} ${what} per minute: try again in ${ttlInSeconds} s`);
}
