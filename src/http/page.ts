/** The Content-Security-Policy of the pages that the service sends. No page may load anything from another origin. */

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
