/** Reads server-sent events one by one, those of an injected request or of a response to fetch. */
import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly variables?: object;
}

/** The events of an operation of GraphQL, until the end of the test. */
export async function openEvents(app: FastifyInstance, query: string, { headers, variables }: Options = {}) {
  const response = await app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { accept: 'text/event-stream', ...headers },
    payload: { query, variables },
    payloadAsStream: true,
  });
  /** As if the client had closed the connection. */
  const close = () => void response.raw.res.destroy();
  onTestFinished(close);
  return { status: response.statusCode, headers: response.headers, ...eventReader(response.stream()), close };
}

/** `next` returns undefined if the stream has ended, and `text` all that was read, comments too. */
export function eventReader(stream: AsyncIterable<string | Uint8Array>) {
  let text = '';
  async function* eventsIn() {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream) {
      const received = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
      text += received;
      const blocks = `${rest}${received}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
        const event = fields.get('event');
        if (event === undefined) continue;
        const data = fields.get('data');
        yield { event, id: fields.get('id'), data: data ? JSON.parse(data) : undefined };
      }
    }
  }
  const events = eventsIn();
  return { next: async () => (await events.next()).value || undefined, text: () => text };
}
