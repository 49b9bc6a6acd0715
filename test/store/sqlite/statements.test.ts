/** Statements that are prepared once. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database.ts';

let database: Database;

beforeEach(async () => {
  database = await openDatabase('sqlite::memory:');
});

afterEach(() => database.close());

test('more of them than are kept all answer, at once and again', async () => {
  const numbers = Array.from({ length: 500 }, (_, n) => n);

  for (let time = 0; time < 2; time += 1) {
    const answers = await Promise.all(numbers.map((n) => database.run(`select ${n} as n, ? as sent`, [`x${n}`])));
    expect(answers.flat()).toEqual(numbers.map((n) => ({ n, sent: `x${n}` })));
  }
});

test('one that is used by many at once answers each its own', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => database.run('select ? as sent', [n])));

  expect(answers.flat()).toEqual(Array.from({ length: 200 }, (_, sent) => ({ sent })));
});

test('one with a long value answers, and so does the next', async () => {
  const long = 'x'.repeat(1_000_000);

  for (const sent of [long, 'short', long]) {
    expect(await database.run('select length(?) as length', [sent])).toEqual([{ length: sent.length }]);
  }
});

test('one that fails says so each time, and leaves the others', async () => {
  for (let time = 0; time < 3; time += 1) {
    await expect(database.run('select * from nothing')).rejects.toThrow('database error: SQLITE_ERROR');
    expect(await database.run('select 1 as n')).toEqual([{ n: 1 }]);
  }
});

test('one that was prepared before a table was changed sees the change', async () => {
  await database.run('create table changing (a)');
  await database.run('insert into changing values (1)');
  expect(await database.run('select * from changing')).toEqual([{ a: 1 }]);

  await database.run('alter table changing add column b default 2');

  expect(await database.run('select * from changing')).toEqual([{ a: 1, b: 2 }]);
});
