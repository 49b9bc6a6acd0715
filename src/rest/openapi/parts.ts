/** The headers and parameters that the OpenAPI document describes once and refers to. */
import { idempotencyKeyPattern, maxMessageLength } from '../../http/request-headers.ts';
import { count } from '../../model/issues.ts';

export type Json = Readonly<Record<string, unknown>>;

export const ref = (section: string, name: string): Json => ({ $ref: `#/components/${section}/${name}` });

const text = (description: string) => ({ description, schema: { type: 'string' } });

const number = (description: string) => ({ description, schema: { type: 'integer' } });

const always = (header: Json) => ({ ...header, required: true });

export const headers = {
  'X-Request-Id': always(
    text(
      'The ID that the request has in the logs: the `X-Request-Id` of the request if it is valid, otherwise a new one.',
    ),
  ),
  'API-Version': always(text('The version of this interface.')),
  'Export-Count': always(number('The number of records in the file.')),
  ETag: always(text('Changes whenever the response changes.')),
  'Idempotency-Replayed': text('`true` if this is the response to an earlier request with the same `Idempotency-Key`.'),
  'Preference-Applied': text('`handling=lenient`, if the request asked for it.'),
  'WWW-Authenticate': always(text('How to send the key.')),
  'Retry-After': number('Seconds until a retry may succeed. Absent if the request may have been stored.'),
  'RateLimit-Limit': number('Requests per minute. These three headers are sent if the service limits requests.'),
  'RateLimit-Remaining': number('Requests left in this minute.'),
  'RateLimit-Reset': number('Seconds until the minute ends.'),
} satisfies Record<string, Json>;

export type HeaderName = keyof typeof headers;

export function responseHeaders(...names: readonly HeaderName[]): Json {
  const rateLimit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
  const all: readonly HeaderName[] = ['X-Request-Id', 'API-Version', ...names, ...rateLimit];
  return Object.fromEntries(all.map((name) => [name, ref('headers', name)]));
}

const sent = (name: string, description: string, rules: Json = {}): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...rules },
});

export const parameters: Json = {
  Prefer: sent('Prefer', '`handling=lenient` (RFC 7240): unknown fields are ignored instead of rejected.'),
  IdempotencyKey: sent(
    'Idempotency-Key',
    'A value unique to this request, such as the random UUID `6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b`. Requests with the same key and the same body run once, and repeats get the first response. See **Retries**.',
    { pattern: idempotencyKeyPattern },
  ),
  XChangeMessage: sent(
    'X-Change-Message',
    `Why the records are created or changed, in UTF-8 and at most ${count(maxMessageLength)} characters: it is kept with each change, beside the user of the key and the ID of the request.`,
  ),
  IfNoneMatch: sent(
    'If-None-Match',
    'The `ETag` of a response that the client has: if it is still current, the response is 304 without a body.',
  ),
};
