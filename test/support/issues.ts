import type { Issue } from '../../src/model/issues.ts';

/** Only the places and the messages of issues, for tests that are not about codes. */
export const placesIn = (issues: readonly Issue[]) => issues.map(({ path, message }) => ({ path, message }));
