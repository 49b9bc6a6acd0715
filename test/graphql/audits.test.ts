/** GraphQL over HTTP, as the specification has it. */
import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService();

test.each(['graphql-js', 'graphql-jit, which runs a query that is sent again'])(
  'all audits of graphql-http pass: %s',
  async () => {
    const audits = serverAudits({ url: `${await listen(service.app)}/graphql` });
    const failed = [];
    for (const audit of audits) {
      const result = await audit.fn();
      if (result.status !== 'ok') failed.push(`${audit.name}: ${'reason' in result ? result.reason : ''}`);
    }

    expect(failed).toEqual([]);
    expect(audits.length).toBeGreaterThanOrEqual(61);
  },
);
