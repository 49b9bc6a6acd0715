/** How the text of cells is read. */
import { describe, expect, test } from 'vitest';
import { type CellForm, datePatternOf, valueIn } from '../../src/import/rows.ts';
import { boolean, dateTime, number, text } from '../../src/model/fields.ts';

const plain: CellForm = { hasDecimalComma: false };

test.each([
  ['31.12.2026', '01.03.2026', '2026-03-01'],
  ['31.12.26', '1.3.26', '2026-03-01'],
  ['12/31/2026', '03/01/2026', '2026-03-01'],
  ['31/12/2026', '1/3/2026', '2026-03-01'],
  ['2026-12-31', '2026-03-01', '2026-03-01'],
])('with --dates %s, %s is %s', (example, cell, expected) => {
  const form = { ...plain, datePattern: datePatternOf(example) };

  expect(valueIn(dateTime(''), cell, form)).toBe(expected);
});

test.each(['31.12', '30.12.2026', '31-12/2026', '31.31.2026', 'soon'])('--dates %s is rejected', (example) => {
  expect(() => datePatternOf(example)).toThrow('--dates: expected 31 December 2026 as the file writes dates');
});

describe('times without a zone', () => {
  const form = { ...plain, datePattern: datePatternOf('31.12.2026'), timeZone: 'Europe/Berlin' };

  test.each([
    ['in winter', '01.03.2026 07:30', '2026-03-01T06:30:00.000Z'],
    ['in summer', '01.07.2026 7:30:15', '2026-07-01T05:30:15.000Z'],
    ['in ISO form', '2026-07-01T07:30:00', '2026-07-01T05:30:00.000Z'],
    ['in the hour that is there twice: the second one', '25.10.2026 02:30', '2026-10-25T01:30:00.000Z'],
    ['in the hour that is not there: an hour later', '29.03.2026 02:30', '2026-03-29T01:30:00.000Z'],
  ])('%s', (_, cell, expected) => {
    expect(valueIn(dateTime(''), cell, form)).toBe(expected);
  });

  test('stay without one unless it is said, so that the service refuses them', () => {
    expect(valueIn(dateTime(''), '01.03.2026 07:30', { ...form, timeZone: undefined })).toBe('2026-03-01T07:30:00');
  });

  test('are those of dates and times only: a date is a day, and a time with a zone has its own', () => {
    expect(valueIn(dateTime(''), '01.03.2026', form)).toBe('2026-03-01');
    expect(valueIn(dateTime(''), '2026-03-01T07:30:00+05:00', form)).toBe('2026-03-01T07:30:00+05:00');
  });
});

test.each([
  ['53.08', false, 53.08],
  ['53,08', true, 53.08],
  [' -8 ', false, -8],
  ['1e2', false, 100],
  ['53,08', false, '53,08'],
  ['0x10', false, '0x10'],
  ['', false, ''],
])('the number %j, with decimal commas: %j', (cell, hasDecimalComma, expected) => {
  expect(valueIn(number('', { min: 0, max: 1 }), cell, { hasDecimalComma })).toBe(expected);
});

test.each([
  ['TRUE', true],
  ['no', false],
  ['1', true],
  ['maybe', 'maybe'],
])('%s is the truth value %j', (cell, expected) => {
  expect(valueIn(boolean(''), cell, plain)).toBe(expected);
});

test('a text is as it is, with its spaces', () => {
  expect(valueIn(text(''), ' 1,5 ', plain)).toBe(' 1,5 ');
});
