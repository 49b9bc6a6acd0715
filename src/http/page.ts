/** What the pages that the service sends have in common. No page may load anything from another origin. */
import type { FastifyRequest } from 'fastify';

/** Whether the request comes from a browser that opens a page: other clients do not list this type. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean => !!headers.accept?.includes('text/html');

interface PageSources {
  readonly scripts: string;
  readonly styles: string;
  readonly workers?: string;
  readonly fonts?: string;
}

/** Allows the given sources, requests to this service, and nothing else. */
export const contentSecurityPolicy = ({ scripts, styles, workers, fonts }: PageSources): string =>
  [
    "default-src 'none'",
    `script-src ${scripts}`,
    ...(workers === undefined ? [] : [`worker-src ${workers}`]),
    `style-src ${styles}`,
    "img-src 'self' data:",
    ...(fonts === undefined ? [] : [`font-src ${fonts}`]),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
