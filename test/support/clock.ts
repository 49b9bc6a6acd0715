/** Lets time pass without waiting for it. */

const now = performance.now.bind(performance);
let passed = 0;

/**
 * Sets the clock ahead by which this process measures how long it may keep what it has cached, such as keys. Never back: what is cached
 * would be kept too long.
 */
export async function passTime(milliseconds: number): Promise<void> {
  passed += milliseconds;
  performance.now = () => now() + passed;
  // A cache asks for the time at most once a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 5));
}
