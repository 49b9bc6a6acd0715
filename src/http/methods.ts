/** Responds to requests for which there is no route: 405 with `Allow` where the path supports other methods, otherwise 404. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound, ServiceError } from '../errors.ts';

/**
 * Rejects them before they are authenticated and before their bodies are read. The 405 has the hint for the method and the path, if there
 * is one. Covers the routes that are added later.
 */
export function rejectUnknownRoutes(
  app: FastifyInstance,
  hintFor: (method: string, path: string) => string | undefined,
): void {
  const methodsByUrl = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method].flat());
  });

  function reject(request: FastifyRequest, reply: FastifyReply): never {
    const [path = ''] = request.url.split('?');
    const [url, methods = []] = [...methodsByUrl].find(([candidate]) => leadsTo(candidate, path)) ?? [];
    if (url === undefined) throw notFound(`there is nothing at this path${slashHint(path)}`, 'unknown path');
    const allowed = methods.toSorted().join(', ');
    reply.header('allow', allowed);
    const hint = hintFor(request.method, url);
    throw new ServiceError(405, `this path supports ${allowed} only${hint ? `: ${hint}` : ''}`);
  }

  /** Suggests a path only if it is one of ours: a slash at the end is easily overlooked. */
  function slashHint(path: string): string {
    const known = /^\/.+\/$/.test(path) && [...methodsByUrl.keys()].find((url) => leadsTo(url, path.slice(0, -1)));
    return known ? `: ${known.replace(':id', '{id}')} has no slash at the end` : '';
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404 || hasEmptyParameter(request)) reject(request, reply);
    done();
  });
}

/** True for `/projects/:id` and `/projects/x`. Neither a parameter nor what `*` stands for is empty. */
function leadsTo(url: string, path: string): boolean {
  const [expected, sent] = [url.split('/'), path.split('/')];
  return (
    (expected.length === sent.length || (expected.at(-1) === '*' && expected.length < sent.length)) &&
    expected.every((part, index) => (/^[:*]/.test(part) ? sent[index] !== '' : sent[index] === part))
  );
}

/** True for a path such as `/projects/`, at which the router finds `/projects/:id`. */
const hasEmptyParameter = ({ params }: FastifyRequest): boolean => Object.values(params as object).includes('');
