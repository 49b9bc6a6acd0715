/** A browser's own EventSource follows the feed, and goes on after the service was away. */
import { expect, test } from 'vitest';
import { describeInChromium, useBrowser, usePages } from '../support/browser.ts';
import { createFile } from '../support/database.ts';
import { listen, startService } from '../support/service.ts';

describeInChromium('EventSource', () => {
  const browser = useBrowser();
  const newPage = usePages(browser);

  /** Opens an EventSource in the page, which keeps what it gets in \`window.received\`. */
  const script = `(query) => {
    window.received = [];
    const source = new EventSource('/graphql?query=' + encodeURIComponent(query));
    source.addEventListener('next', ({ data, lastEventId }) => {
      const { nodes } = JSON.parse(data).data.changes;
      window.received.push({ lastEventId, cursors: nodes.map(({ cursor }) => cursor) });
    });
    source.addEventListener('complete', () => source.close());
    return new Promise((resolve) => source.addEventListener('open', () => resolve(true)));
  }`;
  const query = 'subscription { changes { nodes { cursor } } }';

  test('gets each change once, also what was changed while the service was away', async () => {
    const { url, remove } = await createFile();
    const first = await startService({ DATABASE_URL: url });
    const origin = await listen(first.app);
    const { page } = await newPage(origin);
    await page.goto(`${origin}/`);
    await page.evaluate(`(${script})(${JSON.stringify(query)})`);
    await first.create('/assets', { name: 'Crane' });
    await expect.poll(() => page.evaluate('window.received')).toHaveLength(1);

    await first.stop();
    const second = await startService({ DATABASE_URL: url });
    await second.create('/assets', { name: 'Pump' }, { name: 'Lift' });
    await second.app.listen({ port: Number(new URL(origin).port), host: '127.0.0.1' });

    await expect
      .poll(() => page.evaluate('window.received'), { timeout: 30_000 })
      .toEqual([
        { lastEventId: '1', cursors: ['1'] },
        { lastEventId: '3', cursors: ['2', '3'] },
      ]);
    await page.close();
    await second.stop();
    await remove();
  });
});
