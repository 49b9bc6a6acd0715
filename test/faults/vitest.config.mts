/** The tests with a planted fault: the one that FAULT names when a file is run. */
import { defineConfig } from 'vitest/config';
import tests from '../../vitest.config.mts';
import { faults } from './faults.mjs';
import { edited, placeOf } from './plant.mjs';

const plugin = {
  name: 'planted-fault',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    const fault = faults.find(({ name }) => name === process.env.FAULT);
    const places = (fault?.plant ?? []).map(placeOf).filter(({ file }) => file === id);
    return places.length > 0
      ? edited(
          code,
          places.flatMap(({ edits }) => edits),
        )
      : undefined;
  },
};

export default defineConfig({
  ...tests,
  plugins: [plugin],
  test: { ...tests.test, globalSetup: [], setupFiles: ['test/faults/setup.mjs'], isolate: true, maxWorkers: 1 },
});
