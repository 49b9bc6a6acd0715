/**
 * How many requests a key may send, and an address without a valid one. Each process counts for itself: with several behind
 * a load balancer each allows as much.
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
  const requests = inTurn(app.createRateLimit({ max: requestsPerMinute, keyGenerator }));
  const failures = inTurn(app.createRateLimit({ max: failedLoginsPerMinute, keyGenerator: ({ ip }) => ip }));

  return {
    /** Counts a request of a key. Throws a ServiceError 429. */
    async limitRequests(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (requestsPerMinute > 0) tell(reply, await requests(request));
    },

    /**
     * Counts logins that fail. Beyond the limit an address gets a ServiceError 429 without a look at what it presents,
     * unless that is known to have worked: others may share the address.
     */
    async limitFailures<T>(
      request: FastifyRequest,
      reply: FastifyReply,
      { isKnown, login }: { isKnown: () => boolean; login: () => Promise<T> },
    ): Promise<T> {
      if (failedLoginsPerMinute === 0) return login();
      if (!isKnown()) {
        const state = await failures(request, { increment: false });
        if (!state.isAllowed && state.remaining === 0) tell(reply, { ...state, isExceeded: true });
      }
      try {
        return await login();
      } catch (error) {
        if (error instanceof ServiceError && error.status === 401) tell(reply, await failures(request));
        throw error;
      }
    },
  };
}

type Limit = ReturnType<FastifyInstance['createRateLimit']>;

/** One after the other, for those that are counted at once would all get the last one's count. */
function inTurn(limit: Limit): Limit {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const state = last.then(() => limit(...args));
    last = state.catch(() => undefined);
    return state;
  };
}

type State = Awaited<ReturnType<Limit>>;

/** The headers of the IETF's draft. */
function tell(reply: FastifyReply, state: State): void {
  if (state.isAllowed) return;
  const { max, remaining, ttlInSeconds, isExceeded } = state;
  reply.headers({ 'ratelimit-limit': max, 'ratelimit-remaining': remaining, 'ratelimit-reset': ttlInSeconds });
  if (!isExceeded) return;
  reply.header('retry-after', ttlInSeconds);
  throw tooManyRequests(`at most ${max} requests a minute: try again in ${ttlInSeconds} s`);
}
