/**
 * How often a key, and an address that presents wrong ones, may ask. Each process counts for itself: with several behind a
 * load balancer each allows as much.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { ServiceError, tooManyRequests } from '../errors.ts';

type Settings = Pick<Config, 'requestsPerMinute' | 'failedLoginsPerMinute'>;

/** 0 sets no limit. */
export async function createRateLimits(app: FastifyInstance, { requestsPerMinute, failedLoginsPerMinute }: Settings) {
  await app.register(rateLimit, { global: false, timeWindow: '1 minute' });
  const keyGenerator = ({ identity, ip }: FastifyRequest) => identity?.keyPrefix ?? ip;
  const requests = app.createRateLimit({ max: requestsPerMinute, keyGenerator });
  const failures = app.createRateLimit({ max: failedLoginsPerMinute, keyGenerator: ({ ip }) => ip });

  return {
    /** Counts a request of a key. Throws a ServiceError 429. */
    async limitRequests(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (requestsPerMinute > 0) tell(reply, await requests(request));
    },

    /**
     * Counts logins that fail: beyond the limit they are a ServiceError 429. A right key is let in all the same, for others
     * may share the address.
     */
    async limitFailures<T>(request: FastifyRequest, reply: FastifyReply, login: () => Promise<T>): Promise<T> {
      try {
        return await login();
      } catch (error) {
        const isFailure = error instanceof ServiceError && error.status === 401;
        if (isFailure && failedLoginsPerMinute > 0) tell(reply, await failures(request));
        throw error;
      }
    },
  };
}

type State = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

/** The headers of the IETF's draft. */
function tell(reply: FastifyReply, state: State): void {
  if (state.isAllowed) return;
  const { max, remaining, ttlInSeconds, isExceeded } = state;
  reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': ttlInSeconds });
  if (!isExceeded) return;
  reply.header('retry-after', ttlInSeconds);
  throw tooManyRequests(`at most ${max} requests a minute: try again in ${ttlInSeconds} s`);
}
