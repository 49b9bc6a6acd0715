/** The tests with a planted fault: the one that FAULT names when a module is loaded. */
import { defineConfig } from 'vitest/config';
import tests from '../../vitest.config.mts';
import { faults } from './faults.mjs';
import { edited, placeOf } from './plant.mjs';

const plugin = {
  name: 'planted-fault',
  enforce: 'pre',
  transform(code, id) {
    const fault = faults.find(({ name }) => name === process.env.FAULT);
    const places = (fault?.plant ?? []).map(placeOf).filter(({ file }) => file === id);
    const edits = places.flatMap((place) => place.edits);
    return edits.length > 0 ? edited(code, edits) : undefined;
  },
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/sqlite-template.ts'],
    maxWorkers: 1,
    projects: tests.test.projects.map((project) => ({
      ...project,
      plugins: [plugin],
      // A process of its own for each file: no module is left from the run before.
      test: { ...project.test, setupFiles: ['test/faults/setup.mjs'], isolate: true, hookTimeout: 10_000 },
    })),
  },
});
