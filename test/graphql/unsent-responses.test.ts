/** Responses that wait to be sent: what they may hold together. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createTextHolder } from '../../src/graphql/endpoint.ts';

test('while unsent responses hold too much, further ones get 503, those that have begun are completed, and one that is closed makes room', () => {
  const holdUntilClosed = createTextHolder();
  const responses = [0, 1].map(() => Object.assign(new EventEmitter(), { closed: false, destroyed: false }));
  const [hold, holdOther] = responses.map((response) => holdUntilClosed(response as never));
  hold?.(30_000_000);
  hold?.(1);

  expect(() => holdOther?.(0)).toThrow('too many long responses are being sent, try again');
  responses[0]?.emit('close');

  expect(() => holdOther?.(1)).not.toThrow();
});
