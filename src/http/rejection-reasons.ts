/** The reasons for rejections, for the log. Derived from the status only: nothing that a client sent is logged. */

const reasons: Readonly<Record<number, string>> = {
  401: 'no API key',
  403: 'not allowed',
  404: 'unknown record',
  405: 'unsupported method',
  406: 'unsupported Accept',
  408: 'request too slow',
  409: 'conflict with stored records',
  413: 'body too large',
  415: 'unsupported content type',
  429: 'rate limit',
  431: 'headers too large',
  503: 'database unavailable',
};

/** Returns the reason of most responses with a status of 400 or more. */
export const reasonFor = (status: number): string =>
  reasons[status] ?? (status < 500 ? 'invalid input' : 'unexpected error');
