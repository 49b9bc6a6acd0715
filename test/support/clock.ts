/** Lets time pass without waiting for it, and waits for what comes. */
import { vi } from 'vitest';

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

/** Waits until a check passes, however slow the machine is. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });
