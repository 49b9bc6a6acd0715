/**
 * Of the rare methods of HTTP, lets a service refuse PROPFIND only, and not thirty others on each of its paths: that would be half of the
 * work of starting it, which most tests do. To processes, it makes no difference.
 */
import { vi } from 'vitest';

vi.mock('../../src/http/methods.ts', async (load) => {
  const { rejectOtherMethods } = await load<typeof import('../../src/http/methods.ts')>();
  const rejectFewer: typeof rejectOtherMethods = async (app, ...more) => {
    const addHttpMethod = app.addHttpMethod.bind(app);
    app.addHttpMethod = (method, ...options) => (method === 'PROPFIND' ? addHttpMethod(method, ...options) : app);
    await rejectOtherMethods(app, ...more);
    app.addHttpMethod = addHttpMethod;
  };
  return { rejectOtherMethods: rejectFewer };
});
