/** The common parts of the service's pages. No page may load anything from another origin. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** True if the request comes from a browser that opens a page: other clients do not list this type. */
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

/** The source of styles that are in the page itself. */
export const styleSource = (styles: string): string =>
  `'sha256-${createHash('sha256').update(styles).digest('base64')}'`;

interface PageHead {
  readonly title: string;
  /** Their URLs, relative to the page. */
  readonly styles: readonly string[];
  /** The relative URL of the home page, if that is in another folder. */
  readonly top?: string;
}

/** Returns the beginning of a page. The page adds its scripts, and closes the head. */
export const pageHead = ({ title, styles, top = '' }: PageHead): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    `<link rel="icon" href="${top}favicon.ico" type="image/svg+xml">`,
    ...styles.map((url) => `<link rel="stylesheet" href="${url}">`),
  ].join('\n');
