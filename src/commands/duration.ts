/** Durations as people write them: `90d`, `12h`, `30m`. */
import ms from 'ms';

/** Later dates are not supported by all databases. */
const longest = ms('1000y');

/** Returns milliseconds, or undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const milliseconds = /^\d+ ?[a-z]+$/i.test(text) ? ms(text as ms.StringValue) : undefined;
  return milliseconds === undefined || milliseconds > longest ? undefined : milliseconds;
}
