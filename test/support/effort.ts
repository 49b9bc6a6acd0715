/**
 * How much the randomized tests do, from TEST_EFFORT: `small` before each merge (the default), `long` before a release,
 * as `npm run test:long` does.
 */
const efforts = ['small', 'long'] as const;

const effort = efforts.find((name) => name === (process.env.TEST_EFFORT ?? 'small'));
if (!effort) throw new Error(`TEST_EFFORT: expected one of ${efforts.join(', ')}`);

/** Whether to run tests that take long and rarely fail: on CI, with each commit, and before a release. */
export const isThorough = process.env.CI !== undefined || effort === 'long';

/** Returns the amount for the chosen effort. */
export const byEffort = <T>(amounts: Readonly<Record<(typeof efforts)[number], T>>): T => amounts[effort];
