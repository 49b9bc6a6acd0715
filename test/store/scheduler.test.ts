/** Which workspace gets a connection next, and which gives one back: decided with made-up work, on a clock of its own. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Preempted } from '../../src/store/connections/database-error.ts';
import { createScheduler, type Lease } from '../../src/store/connections/scheduler.ts';
import { numberOf } from '../support/open-store.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

const schedulerOf = (size: number, repeatedFor = 0) =>
  createScheduler({ size, timeout: 10_000, timeoutError: () => new Error('no connection'), repeatedFor });

/** Work of a workspace that lasts for some time unless its connection is taken back, and what became of it. */
function begin(schedule: ReturnType<typeof createScheduler>, workspace: string, milliseconds: number) {
  const work = { began: undefined as number | undefined, ended: undefined as number | undefined, wasTakenBack: false };
  const holding = (lease: Lease) =>
    new Promise<void>((resolve, reject) => {
      work.began = performance.now();
      setTimeout(resolve, milliseconds);
      lease.cancel = () => reject(new Preempted());
    });
  const done = schedule(numberOf(workspace), holding).then(
    () => {
      work.ended = performance.now();
    },
    (error) => {
      if (!(error instanceof Preempted)) throw error;
      work.wasTakenBack = true;
    },
  );
  return Object.assign(work, { done });
}

test('work begins at once while connections are free', async () => {
  const schedule = schedulerOf(2);

  begin(schedule, 'a', 1_000);
  const second = begin(schedule, 'a', 1_000);

  expect(second.began).toBe(performance.now());
});

test('a free connection goes to the workspace that has held connections for the least time', async () => {
  const schedule = schedulerOf(1);
  const order: string[] = [];
  const later = (name: string) => schedule(numberOf(name), async () => void order.push(name));
  begin(schedule, 'busy', 1_000);

  const waiting = [later('busy'), later('busy'), later('idle')];
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all(waiting);

  expect(order).toEqual(['idle', 'busy', 'busy']);
});

test('a workspace that holds none waits at most 125 ms for those that hold all for long, however many there are', async () => {
  const schedule = schedulerOf(3, 60_000);
  for (const busy of ['a', 'b', 'c', 'd', 'e', 'a', 'b']) void begin(schedule, busy, 60_000);
  await vi.advanceTimersByTimeAsync(10_000);

  for (let read = 0; read < 10; read += 1) {
    const asked = performance.now();
    const work = begin(schedule, 'ours', 5);
    await vi.advanceTimersByTimeAsync(200);
    expect((work.began ?? Number.POSITIVE_INFINITY) - asked).toBeLessThanOrEqual(125);
  }
});

test('work whose connection was taken back is repeated before later work of its workspace', async () => {
  const schedule = schedulerOf(2, 60_000);
  begin(schedule, 'oldest', 4_000);
  const first = begin(schedule, 'ours', 300);
  const second = begin(schedule, 'ours', 300);
  begin(schedule, 'theirs', 50);

  await vi.advanceTimersByTimeAsync(3_000);

  expect(first.began).toBeGreaterThan(100);
  expect(first.ended).toBeLessThanOrEqual(second.began ?? 0);
});

test('work of several workspaces that is longer than they may go on ends all the same', async () => {
  const schedule = schedulerOf(2, 60_000);
  begin(schedule, 'oldest', 60_000);

  const works = ['a', 'b', 'c'].map((workspace) => begin(schedule, workspace, 700));
  await vi.advanceTimersByTimeAsync(4_900);

  for (const work of works) expect(work.ended).toBeDefined();
});

test('work that does not notice that its connection is taken back does not keep others from giving theirs', async () => {
  const schedule = schedulerOf(3, 60_000);
  begin(schedule, 'oldest', 60_000);
  begin(schedule, 'theirs', 60_000);
  void schedule(numberOf('deaf'), () => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(100);

  const works = ['a', 'b'].map((workspace) => begin(schedule, workspace, 300));
  await vi.advanceTimersByTimeAsync(2_000);

  for (const work of works) expect(work.ended).toBeDefined();
});

test('work whose connection is taken back again and again fails in the end', async () => {
  const schedule = schedulerOf(2, 1_000);
  begin(schedule, 'oldest', 4_000);
  const ours = begin(schedule, 'ours', 10_000);
  const keepAsking = setInterval(() => begin(schedule, `other${Math.random()}`, 10), 20);

  await vi.advanceTimersByTimeAsync(2_000);

  expect(ours.wasTakenBack).toBe(true);
  clearInterval(keepAsking);
});

test('the work that has run longest goes on for five seconds', async () => {
  const schedule = schedulerOf(2);
  const oldest = begin(schedule, 'a', 4_000);
  for (let workspace = 0; workspace < 20; workspace += 1) begin(schedule, `b${workspace}`, 1_000);

  await vi.advanceTimersByTimeAsync(4_000);

  expect(oldest).toMatchObject({ wasTakenBack: false, ended: expect.any(Number) });
});

test('the workspace that has held connections for the most time gives one back', async () => {
  const schedule = schedulerOf(3);
  begin(schedule, 'oldest', 10_000);
  await vi.advanceTimersByTimeAsync(1_000);
  const light = begin(schedule, 'light', 10_000);
  await vi.advanceTimersByTimeAsync(100);
  const heavy = begin(schedule, 'oldest', 10_000);
  await vi.advanceTimersByTimeAsync(300);

  const waiting = begin(schedule, 'waiting', 5);
  await vi.advanceTimersByTimeAsync(10);

  expect([light.wasTakenBack, heavy.wasTakenBack]).toEqual([false, true]);
  expect(waiting.ended).toBeDefined();
});

test('nothing is taken back for a workspace that holds a connection already', async () => {
  const schedule = schedulerOf(2);
  const theirs = begin(schedule, 'theirs', 3_000);
  begin(schedule, 'ours', 3_000);

  begin(schedule, 'ours', 5);
  await vi.advanceTimersByTimeAsync(3_000);

  expect(theirs.wasTakenBack).toBe(false);
});

test('the only connection of a pool is never taken back', async () => {
  const schedule = schedulerOf(1);
  const long = begin(schedule, 'long', 9_000);

  const waiting = begin(schedule, 'waiting', 5);
  await vi.advanceTimersByTimeAsync(9_100);

  expect([long.wasTakenBack, waiting.ended !== undefined]).toEqual([false, true]);
});

test('work that waits too long fails, and does not begin later', async () => {
  const schedule = schedulerOf(1);
  begin(schedule, 'long', 20_000);
  const late = vi.fn(async () => {});

  const outcome = schedule(numberOf('late'), late).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(30_000);

  expect(await outcome).toBe('no connection');
  expect(late).not.toHaveBeenCalled();
});

test('time counts half as much after ten seconds', async () => {
  const schedule = schedulerOf(1);
  const order: string[] = [];
  const later = (name: string) => schedule(numberOf(name), async () => void order.push(name));
  begin(schedule, 'earlier', 1_000);
  await vi.advanceTimersByTimeAsync(30_000);
  begin(schedule, 'recent', 500);

  const waiting = [later('recent'), later('earlier')];
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(waiting);

  expect(order).toEqual(['earlier', 'recent']);
});

/** A workspace that does one piece of work after another until it is stopped, and the longest that one took, which may be the current one. */
function keepUsing(schedule: ReturnType<typeof createScheduler>, workspace: string, milliseconds: number, pause = 1) {
  let asked = performance.now();
  let slowest = 0;
  let isOver = false;
  const next = () => {
    asked = performance.now();
    void begin(schedule, workspace, milliseconds).done.then(() => {
      slowest = Math.max(slowest, performance.now() - asked);
      if (!isOver) setTimeout(next, pause);
    });
  };
  next();
  return {
    stop(): number {
      isOver = true;
      return Math.max(slowest, performance.now() - asked);
    },
  };
}

test.each([2, 4])('a workspace in steady use does not wait until %i new ones have caught up with it', async (count) => {
  const schedule = schedulerOf(2, 10_000);
  const steady = keepUsing(schedule, 'steady', 110);
  const light = keepUsing(schedule, 'light', 5, 50);
  await vi.advanceTimersByTimeAsync(20_000);

  for (let index = 0; index < 2 * count; index += 1) begin(schedule, `new${index % count}`, 3_000);
  await vi.advanceTimersByTimeAsync(8_000);

  expect(steady.stop()).toBeLessThan(1_500);
  expect(light.stop()).toBeLessThan(400);
});

test('on a single connection, a workspace in steady use waits for one piece of work of each new one', async () => {
  const schedule = schedulerOf(1);
  const steady = keepUsing(schedule, 'steady', 110);
  await vi.advanceTimersByTimeAsync(20_000);

  for (let index = 0; index < 16; index += 1) begin(schedule, `new${index % 2}`, 500);
  await vi.advanceTimersByTimeAsync(7_000);

  expect(steady.stop()).toBeLessThan(1_300);
});

test('a new workspace is hardly ahead of one in steady use, however short its work is', async () => {
  const schedule = schedulerOf(2);
  const steady = keepUsing(schedule, 'steady', 110);
  await vi.advanceTimersByTimeAsync(20_000);

  const others = Array.from({ length: 8 }, (_, index) => keepUsing(schedule, `new${index % 4}`, 50));
  await vi.advanceTimersByTimeAsync(7_000);

  expect(steady.stop()).toBeLessThan(600);
  for (const other of others) other.stop();
});

test('work that a light workspace interrupts may go on for longer when it is repeated', async () => {
  const schedule = schedulerOf(2, 10_000);
  const steady = keepUsing(schedule, 'steady', 110);
  const light = keepUsing(schedule, 'light', 5, 50);
  await vi.advanceTimersByTimeAsync(20_000);

  begin(schedule, 'long', 4_000);
  await vi.advanceTimersByTimeAsync(4_000);

  expect(steady.stop()).toBeLessThan(500);
  light.stop();
});
