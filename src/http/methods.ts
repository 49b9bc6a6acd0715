/** Responds to methods that a path does not support: 405 with `Allow`, before the body is read. */
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.ts';

/**
 * Adds the routes, and then one for every method that their paths do not support: Fastify would respond to it with 404. The response
 * has the hint for the method and the path, if there is one.
 */
export async function rejectOtherMethods(
  app: FastifyInstance,
  hintFor: (method: string, path: string) => string | undefined,
  addRoutes: () => Promise<void>,
): Promise<void> {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  await addRoutes();
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // Copied because the routes added here are collected too.
  for (const url of [...paths]) {
    const isAllowed = (method: string) => app.hasRoute({ method, url });
    const allowed = app.supportedMethods.filter(isAllowed).join(', ');
    const others = app.supportedMethods.filter((method) => !isAllowed(method));
    const reject = async ({ method }: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allowed);
      const hint = hintFor(method, url);
      throw new ServiceError(405, `this path supports ${allowed} only${hint ? `: ${hint}` : ''}`);
    };
    app.route({ method: others, url, onRequest: reject, handler: reject });
  }
}
