/** Log lines when they cannot be written: a full disk, a reader that is slow, or gone. */
import { expect, test } from 'vitest';
import { createLogs, maxWaiting } from '../src/logs.ts';

/** A place for lines that takes no more than `room` bytes, until there is more. */
function createPlace(room: number) {
  const place = {
    room,
    text: '',
    attempts: 0,
    write(bytes: Buffer): number {
      place.attempts += 1;
      if (place.room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      const taken = bytes.subarray(0, place.room);
      place.room -= taken.length;
      place.text += taken.toString('latin1');
      return taken.length;
    },
    lines: () => place.text.trimEnd().split('\n'),
  };
  return place;
}

const line = (number: number) => `{"number":${number},"padding":"${'x'.repeat(200)}"}\n`;

test('lines are written in pieces, the last ones at the end, and none is missing', () => {
  const place = createPlace(Number.POSITIVE_INFINITY);
  const logs = createLogs(place.write);

  for (let number = 0; number < 100; number += 1) logs.write(line(number));
  logs.flush();

  expect(place.lines().map((it) => JSON.parse(it).number)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(place.attempts).toBeLessThan(10);
});

test('lines wait while there is no room, and are then written complete and in order', () => {
  const place = createPlace(1_000);
  const logs = createLogs(place.write);

  for (let number = 0; number < 100; number += 1) logs.write(line(number));
  expect(place.text).toHaveLength(1_000);
  place.room = Number.POSITIVE_INFINITY;
  logs.flush();

  expect(place.lines().map((it) => JSON.parse(it).number)).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('lines beyond those that may wait are lost, and one line in their place reports how many', () => {
  const place = createPlace(0);
  const logs = createLogs(place.write);
  const sent = Math.ceil((2 * maxWaiting) / line(0).length);

  for (let number = 0; number < sent; number += 1) logs.write(line(number));
  logs.flush();
  place.room = Number.POSITIVE_INFINITY;
  logs.flush();
  logs.write(line(sent));
  logs.flush();
  const lines = place.lines().map((it) => JSON.parse(it));

  const kept = lines.slice(0, -2);
  const said = lines.at(-2);
  expect(kept.map(({ number }) => number)).toEqual(Array.from({ length: kept.length }, (_, index) => index));
  expect(said).toMatchObject({ level: 40, lines: sent - kept.length, msg: 'log lines were lost' });
  expect(said.time).toBeGreaterThan(0);
  expect(lines.at(-1).number).toBe(sent);
  expect(place.text.length).toBeLessThan(maxWaiting + 2_000);
  expect(place.text.length).toBeGreaterThan(maxWaiting / 2);
});

test('each loss of lines is reported once, and a slow reader gets complete lines', () => {
  const place = createPlace(0);
  const logs = createLogs(place.write);
  const sent = Math.ceil((4 * maxWaiting) / line(0).length);

  for (let number = 0; number < sent; number += 1) {
    logs.write(line(number));
    if (number % 100 === 0) place.room = 10_000;
  }
  place.room = Number.POSITIVE_INFINITY;
  logs.flush();

  const lines = place.lines().map((it) => JSON.parse(it));
  const said = lines.filter(({ msg }) => msg !== undefined);
  const lost = said.reduce((sum, { lines: count }) => sum + count, 0);
  expect(said.length).toBeGreaterThan(1);
  expect(said.length).toBeLessThan(10);
  expect(lines.length - said.length + lost).toBe(sent);
});

test('a destination without room is not tried for each line', () => {
  const place = createPlace(0);
  const logs = createLogs(place.write);

  for (let number = 0; number < 20_000; number += 1) logs.write(line(number));

  expect(place.attempts).toBeLessThan(2_000);
});
