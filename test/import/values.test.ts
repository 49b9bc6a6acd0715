/** What the columns and cells of a file mean, without a service: a value is read as it was written, or the row is refused. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { createColumnFinder, parseKindName, parseUpsertKeys } from '../../src/import/columns.ts';
import { type Profile, profileOf, rowOptions } from '../../src/import/profiles.ts';
import type { Cell, SourceRow } from '../../src/import/row.ts';
import { createRowReader } from '../../src/import/values.ts';
import { WarningCollector } from '../../src/import/warnings.ts';
import { formatIssue } from '../../src/model/issues.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, label, location, project } from '../../src/records/index.ts';

const source = (names: readonly string[], cells: readonly Cell[], line = 2): SourceRow => {
  return { line, names, cells, text: '' };
};

const profileNamed = (profile: string, options: Profile = {}) =>
  profileOf({ ...options, profile, map: [], linkBy: [] }, (path) => readFileSync(path, 'utf8'));

/** Reads a row of these cells, by the names of their columns. */
function read(kind: RecordKind, row: Readonly<Record<string, Cell>>, profile: Profile = {}) {
  const readOne = createRowReader(kind, rowOptions(profile, kind));
  const { fields, externalIds, links, id, issues } = readOne(source(Object.keys(row), Object.values(row)));
  const linked = links.map(({ name, by, value }) => [`${name}.${by}`, value] as const);
  return { fields, externalIds, links: Object.fromEntries(linked), id, issues: issues.map(formatIssue) };
}

/** The value of a cell, or why it is refused. */
function cellOf(kind: RecordKind, name: string, cell: Cell, profile?: Profile): unknown {
  const { fields, issues } = read(kind, { [name]: cell }, profile);
  return issues.length > 0 ? issues.join('; ').replace(`${name}: `, '') : fields[name];
}

const dateOf = (cell: Cell, profile?: Profile) => cellOf(project, 'startDate', cell, profile);

describe('dates and times', () => {
  const german = { dates: '31.12.2026', timeZone: 'Europe/Berlin' };
  const american = { dates: '12/31/2026', timeZone: 'Europe/Berlin' };
  const short = { dates: '31.12.26' };

  test.each<[string, Profile, string[]]>([
    ['2026-03-01T00:00:00.000Z', {}, ['2026-03-01', '2026-3-1', '2026/03/01', ' 2026-03-01 ', '1. März 2026']],
    ['2026-03-01T00:00:00.000Z', {}, ['March 1st, 2026', 'Mar 1, 2026', '1-Mar-2026', '2026-Mar-01', '01.Mrz.2026']],
    ['2026-03-01T00:00:00.000Z', {}, ['01-Mar-2026', '1er mars 2026', '1 maart 2026', '1 mrt. 2026']],
    ['2026-08-01T00:00:00.000Z', {}, ['1 août 2026', '1 augustus 2026', '1. Aug. 2026']],
    ['2026-07-01T00:00:00.000Z', { months: true }, ['2026-07', '7/2026', '07.2026', 'Juli 2026', 'Jul 26', 'Juil. 26']],
    ['2026-03-01T07:30:00.000Z', {}, ['2026-03-01T07:30:00Z', '2026-03-01T07:30Z', '2026-03-01 07:30:00+00']],
    ['2026-03-01T07:30:00.000Z', {}, ['2026-03-01 07:30:00 UTC', '1 March 2026 7:30 AM UTC']],
    ['2026-03-01T02:00:00.500Z', {}, ['2026-03-01 07:30:00.5+0530', '2026-02-28 21:00:00.500000 -05:00']],
    ['2026-03-01T00:00:00.000Z', german, ['01.03.2026', '1.3.2026', '2026-03-01', 'So, 01.03.2026', 'So 1.3.2026']],
    ['2026-03-01T00:00:00.000Z', short, ['1.3.26', '1.3.2026', '1. Mrz 26']],
    ['1961-03-01T00:00:00.000Z', short, ['1.3.61']],
    ['2026-03-01T00:00:00.000Z', { dates: '31/12/2026' }, ['1/3/2026']],
    ['2026-03-01T00:00:00.000Z', { dates: '26-12-31' }, ['26-03-01']],
    ['2026-03-01T06:30:00.000Z', american, ['03/01/2026 7:30 AM', '3/1/2026, 7:30:00 am', '2026-03-01 07:30']],
    ['2026-02-28T23:05:00.000Z', american, ['3/1/2026 12:05 AM']],
    // Beside the hours that a zone skips or has twice.
    ['2026-03-29T00:59:00.000Z', german, ['29.03.2026 01:59']],
    ['2026-03-29T01:00:00.000Z', german, ['29.03.2026 03:00']],
    ['2026-10-24T23:59:00.000Z', german, ['25.10.2026 01:59']],
    ['2026-10-25T02:00:00.000Z', german, ['25.10.2026 03:00']],
    ['2026-03-01T11:05:00.000Z', american, ['3/1/2026 12:05 p.m.', '3/1/2026 12:05']],
    ['2026-07-01T05:30:00.000Z', german, ['01.07.2026 7:30:00', '01.07.2026 07:30 Uhr', '1. Juli 2026, 7:30']],
    ['2024-03-02T00:33:49.802Z', german, ['2024-03-02 01:33:49.802', '2024-03-02T05:33:49.802+05:00']],
  ])('%s, with %j, is %j', (expected, profile, cells) => {
    expect(cells.map((cell) => dateOf(cell, profile))).toEqual(cells.map(() => expected));
  });

  const anyDate = 'a date such as 2026-03-01 or 2026-03-01T07:30:00Z';
  const once = 'a time that occurs once in Europe/Berlin, or its offset, such as +02:00';
  test.each<[string, Profile, string[]]>([
    [`${anyDate}, or its order with --dates, such as 31.12.2026 or 12/31/2026`, {}, ['03/01/2026', '01.03.2026']],
    ['a date such as 31.12.2026 (--dates)', german, ['03/01/2026', 'soon', '1. März 26', '2026./03./01']],
    ['a date such as 31.12.2026, with four digits of the year (--dates)', german, ['01.03.26', '1.3.26 16:00']],
    ['a date such as 31.12.2026 (--dates)', german, ['31.12/2026', '2026-03-01 07:30 CET']],
    [anyDate, {}, ['soon', 'x'.repeat(10_000)]],
    [`${anyDate} (spreadsheets number days: give the column the format of a date`, german, ['45658', '45658.25']],
    [`${anyDate} (of a year alone, write a day, such as 2019-01-01)`, german, ['2019']],
    [`${anyDate} (of a month alone, write a day, such as 2021-03-01)`, german, ['Mrz 21', 'März 2021', '2021-03']],
    [anyDate, { months: true }, ['2021-13', '13/2021', '1/21', 'Jui 21', '1 jui 2021']],
    ['a day that exists', german, ['30.02.2026', '2026-02-30']],
    ['a time from 00:00 to 23:59', german, ['2026-03-01 24:00', '2026-03-01 13:00 PM']],
    ['a date and time such as', german, ['2026-03-01 07:60']],
    ['a time with a zone such as Z or +02:00, or with --time-zone Europe/Berlin', {}, ['2026-03-01 07:30']],
    ['a time in whole milliseconds', {}, ['2026-03-01T07:30:00.123456Z']],
    [once, german, ['29.03.2026 02:30', '25.10.2026 02:30']],
  ])('expected %s, with %j, but received %j', (what, profile, cells) => {
    for (const cell of cells) {
      expect(dateOf(cell, profile)).toContain(`expected ${what}`);
      expect(dateOf(cell, profile)).toContain(`received "${cell.slice(0, 100)}"`);
    }
  });

  test('options of another form are rejected', () => {
    for (const dates of ['31.12', '30.12.2026', '31-12/2026', '31.31.2026', 'soon', '2026-31-12']) {
      expect(() => rowOptions({ dates }, project)).toThrow('--dates: expected 31 December 2026 as the file writes');
    }
    expect(() => rowOptions({ timeZone: 'Mars/North' }, project)).toThrow('--time-zone: expected a time zone');
  });

  test('no option makes 03/04/2026 be guessed', () => {
    const dates = fc.constantFrom(undefined, '31.12.2026', '12.31.2026', '31-12-2026', '2026/12/31', '31.12.26');
    const day = fc.integer({ min: 1, max: 12 });
    const property = fc.property(day, day, dates, fc.constantFrom('2026', '26'), (first, second, order, year) => {
      expect(dateOf(`${first}/${second}/${year}`, { timeZone: 'Europe/Berlin', dates: order })).toContain('expected');
    });
    void fc.assert(property);
  });
});

describe('numbers', () => {
  const comma = { decimalComma: true };
  test.each<[Profile, Record<string, number>]>([
    [{}, { '53.08': 53.08, ' -8 ': -8, '+8': 8, '008.50': 8.5, '.5': 0.5, '53.08-': -53.08, '1e1': 10, '0.1': 0.1 }],
    // As databases divide.
    [{}, { '53.0800000000000000': 53.08, '100.0': 100, '0.00': 0 }],
    [{}, { '53.079999999999998': 53.08, '0.30000000000000004': 0.30000000000000004 }],
    [{}, { '1,234.56': 1234.56, '-12,345,678.5': -12345678.5 }],
    [comma, { '53,08': 53.08, '-,5': -0.5, '1.234,56': 1234.56, '1.234,56-': -1234.56 }],
  ])('with %j, %j', (profile, values) => {
    for (const [cell, value] of Object.entries(values)) {
      expect([cell, cellOf(location, 'latitude', cell, profile)]).toEqual([cell, value]);
    }
  });

  test.each<[string, Profile, string[]]>([
    ['a number such as 53.08, or 53,08 with --decimal-comma', {}, ['53,08', '1.234,5', '1,234', '1,234.']],
    ['a number such as 53.08', {}, ['1 234', '-5-', '5--', '53°', '0x10', 'NaN', 'Infinity']],
    [
      'a number such as 53,08 (--decimal-comma)',
      comma,
      ['53.08', '1,234.5', '12.34,5', '1234.567,8', '1.234', '1,2,3'],
    ],
    ['a number that is kept with all its digits, not as Infinity', {}, ['1e400']],
    [
      'a number that is kept with all its digits',
      {},
      ['1e-400', '12345678901234567890', '12345678901234567890.0', '0.12345678901234567890123'],
    ],
  ])('expected %s, with %j, but received %j', (what, profile, cells) => {
    for (const cell of cells) {
      expect(cellOf(location, 'latitude', cell, profile)).toContain(`expected ${what}`);
      expect(cellOf(location, 'latitude', cell, profile)).toContain(`received "${cell}"`);
    }
  });
});

test.each([
  ...['TRUE', 'yes', 'Y', '1', 't', 'ja', 'J', 'WAHR', 'checked', true].map((cell) => [cell, true] as const),
  ...['False', 'no', 'n', '0', 'F', 'Nein', 'FALSCH', false].map((cell) => [cell, false] as const),
  ...['x', 'maybe', '2', 'on'].map((cell) => [cell, expect.stringContaining('expected yes or no')] as const),
])('%j is the truth value %j', (cell, expected) => {
  expect(cellOf(asset, 'trackUtilization', cell)).toEqual(expected);
});

const digits = (text: string) => new LosslessNumber(text);
const shortened =
  'expected all digits, which a spreadsheet has left out (there, give the column the format of a number without decimals, and save it again)';
const ofIds = 'externalIds: expected an object of texts such as {"erp":"4711"}, received';

test.each<[string, Cell, string]>([
  ['name', { a: 1 }, 'name: expected text, received an object'],
  ['externalIds.erp', ['a'], 'externalIds.erp: expected text, received an array'],
  ['currentLocationId', {}, 'currentLocationId: expected text, received an object'],
  ['uid', '4,71E+11', `uid: ${shortened}, received "4,71E+11"`],
  ['location.name', digits('1e+16'), `currentLocation.name: ${shortened}, received "1e+16"`],
  ['', 'x', "a column without a name has a value: name it, or leave it out with --skip ''"],
  ['externalIds', '[]', `${ofIds} "[]"`],
  ['externalIds', '{"a":"1","a":"2"}', String.raw`${ofIds} "{\"a\":\"1\",\"a\":\"2\"}"`],
  ['externalIds', { a: { b: {} } }, 'externalIds: expected an object with text as "a", received an object'],
  ['externalIds', 'M-1', `${ofIds} "M-1"`],
  ['name', null, 'name: required: the name of the asset'],
])('the column %j with %j is refused', (name, cell, issue) => {
  expect(read(asset, { [name]: cell }).issues).toEqual([issue]);
});

const cleared = { uid: null, statusId: null, acquiredAt: null, trackUtilization: null, externalIds: null };
const emptied = [...Object.keys(cleared), 'currentLocationId', 'id'];

test.each<[string, RecordKind, Readonly<Record<string, Cell>>, object, Profile?]>([
  [
    'texts and IDs are as they are, with their spaces and all digits',
    asset,
    { name: ' 1,5 ', uid: digits('12345678901234567890'), 'externalIds.erp': digits('1.10') },
    { fields: { name: ' 1,5 ', uid: '12345678901234567890' }, externalIds: { erp: '1.10' } },
  ],
  ['external IDs are read', asset, { externalIds: '{"a":1.10}' }, { fields: { externalIds: { a: '1.10' } } }],
  [
    'external IDs of JSON are read',
    asset,
    { externalIds: { a: digits('1') } },
    { fields: { externalIds: { a: '1' } } },
  ],
  ['white space is no object', asset, { externalIds: ' ' }, { fields: { externalIds: null } }],
  ...['', null].map((cell): [string, RecordKind, Record<string, Cell>, object] => [
    `${JSON.stringify(cell)} clears what is no text`,
    asset,
    Object.fromEntries(emptied.map((name) => [name, cell])),
    { fields: cleared, externalIds: {}, links: { 'currentLocation.id': null }, issues: [] },
  ]),
  [
    'a quoted empty text is one, which the service may refuse; an empty cell clears',
    location,
    { name: '', city: null, 'externalIds.erp': '' },
    { fields: { name: '', city: null }, externalIds: { erp: null }, issues: [] },
  ],
  [
    '--null is no value',
    location,
    { city: '\\N', state: 'N' },
    { fields: { city: null, state: 'N' } },
    { null: '\\N' },
  ],
  [
    '--blank keep keeps what is stored',
    location,
    { city: null, latitude: '', country: '', 'externalIds.erp': null },
    { fields: { country: '' }, externalIds: {} },
    { blank: 'keep' },
  ],
])('%s', (_, kind, row, expected, profile) => {
  expect(read(kind, row, profile)).toMatchObject(expected);
});

test('missing cells at the end keep what is stored', () => {
  const row = createRowReader(location, rowOptions({}, location))(source(['name', 'city'], ['a']));

  expect(row.fields).toEqual({ name: 'a' });
});

test('a column of one external ID concerns this one; __proto__ is a name like any other', () => {
  const { fields, externalIds } = read(asset, { 'externalIds.__proto__': 'P', 'external IDs.a.b': null });
  const all: object = read(asset, { externalIds: '{"__proto__":"1"}' }).fields.externalIds ?? {};

  expect(fields).toEqual({});
  expect([...Object.entries(externalIds), ...Object.entries(all)].map(String)).toEqual([
    '__proto__,P',
    'a.b,',
    '__proto__,1',
  ]);
});

test('of the same column, the command counts, then what a profile says for the kind, then what it says for all', () => {
  const said = { map: { ID: 'externalIds.x' }, kinds: { locations: { map: { ID: 'id' } } } };
  const file = JSON.stringify({
    ...said,
    decimalComma: true,
    dates: '12/31/2026',
    skip: ['Status'],
    upsertBy: ['uid'],
  });
  const given = {
    profile: 'own.json',
    linkBy: [],
    upsertBy: [],
    decimalComma: false,
    dates: '31.12.2026',
    skip: ['Other'],
  };
  const profileWith = (map: readonly string[] = []) => profileOf({ ...given, map }, () => file);
  const meansOf = (kind: RecordKind, map?: readonly string[]) => rowOptions(profileWith(map), kind).map.get('ID');

  expect([meansOf(asset), meansOf(location), meansOf(location, ['ID=name'])]).toEqual(['externalIds.x', 'id', 'name']);
  const { map, form } = rowOptions(profileWith(), asset);
  expect([map.get('Other'), map.has('Status') && map.get('Status'), profileWith().upsertBy]).toEqual([
    null,
    null,
    ['uid'],
  ]);
  expect(form).toMatchObject({ decimalComma: true, dates: { example: '31.12.2026' } });
});

describe('the columns of a file', () => {
  test.each([
    ['assets', 'Current location ID', 'link currentLocation id'],
    ['assets', 'current_location.NAME', 'link currentLocation name'],
    ['assets', 'location', 'link currentLocation any'],
    ['assets', 'Location.external-ids.erp.eu', 'link currentLocation externalIds.erp.eu'],
    ['assets', 'status', 'field statusId'],
    ['assets', 'UID', 'field uid'],
    ['assets', 'created-at', 'skipped'],
    ['assets', 'kind', 'skipped'],
    ['assets', 'refused because', 'skipped'],
    ['assets', 'ID', 'id'],
    ['assets', ' ', 'unnamed'],
    ['assets', 'externalIds.', undefined],
    ['assets', 'status.name', 'field statusId'],
    ['assets', 'constructor', undefined],
    ['workOrders', 'project.reference', 'link project reference'],
    ['assetCategories', 'assetCategory', undefined],
    ['assetCategories', 'parent.name', 'link parent name'],
    ['assetCategories', 'parent.externalIds.erp', undefined],
  ])('%s: %s is %s', (kindName, name, expected) => {
    const kind = parseKindName(kindName) as RecordKind;
    const column = createColumnFinder(kind, rowOptions({}, kind))(name);
    const { is, ...rest } = column ?? {};
    const about = Object.entries(rest).flatMap(([key, value]) =>
      typeof value === 'string' && !(column?.is === 'link' && key === 'field') ? [value] : [],
    );

    expect(column && [is, ...about].join(' ')).toBe(expected);
  });

  test('--map names whatever a column can be, --link-by what a link has', () => {
    const map = { Depot: 'currentLocation.name', 'Serial no': 'externalIds.serial', locationId: 'currentLocationId' };
    const row = { Depot: 'North', location: 'L-1', locationId: null, ' Serial no': '7' };
    const { links, externalIds } = read(asset, row, { map, linkBy: { 'Current Location': 'externalIds.erp' } });

    expect([externalIds, links]).toEqual([
      { serial: '7' },
      { 'currentLocation.name': 'North', 'currentLocation.externalIds.erp': 'L-1', 'currentLocation.id': null },
    ]);
    const byName = { linkBy: { location: 'name' }, map: { Depot: 'Current location', Ort: 'location.id' } };
    for (const column of ['location', 'Depot']) {
      expect(read(asset, { [column]: 'North' }, byName).links).toEqual({ 'currentLocation.name': 'North' });
    }
    expect(read(asset, { Ort: 'North' }, byName).links).toEqual({ 'currentLocation.id': 'North' });
  });

  test.each(['customer=name', 'location=city', 'location=reference', 'status=name'])(
    '--link-by %s is rejected',
    (pair) => {
      const linkBy = Object.fromEntries([pair.split('=')]);
      const form = 'a link and what its records are found by, such as location=name or project=externalIds.erp';
      expect(() => rowOptions({ linkBy }, asset)).toThrow(`--link-by: expected ${form}, received "${pair}"`);
    },
  );

  test('unknown ones are refused with what to do, or left out, and said once', () => {
    const row = { Colour: 'red', namee: 'a', Depot: 'x' };
    const typo = { map: { Depot: 'locatoin.name' } };
    expect(() => read(asset, row, typo)).toThrow(
      'unknown columns "Colour"; "namee", did you mean "name"?; "Depot", mapped to "locatoin.name"',
    );
    expect(() => read(asset, row)).toThrow(
      'map it to a field with --map "Colour=…", leave it out with --skip "Colour", or leave out all unknown columns with --skip-others. The fields of assets are name, uid',
    );
    expect(() => read(asset, row, { ...typo, skipOthers: true })).toThrow(
      'unknown column "Depot", mapped to "locatoin',
    );

    const { warn, groups } = new WarningCollector();
    const readOne = createRowReader(asset, rowOptions({ skipOthers: true }, asset), warn);
    const names = ['Colour', 'name', 'Weight'];
    for (const line of [2, 3]) readOne(source(names, ['red', 'a', '1'], line));
    const first = { line: 2, column: '', message: 'columns without a field here', detail: '"Colour", "Weight"' };
    expect(groups()).toMatchObject([{ count: 1, first }]);
  });

  test('--upsert-by says what a column says, for all kinds or for one', () => {
    const keysOf = (...options: readonly string[]) => [
      ...parseUpsertKeys([asset, project, label], options).keys.values(),
    ];

    for (const name of ['externalIds.erp', 'external-ids.erp', 'External ID.erp']) {
      expect(keysOf(name)).toEqual(['externalIds.erp', 'externalIds.erp', 'key']);
      expect(read(asset, { [name]: '1' }).externalIds).toEqual({ erp: '1' });
    }
    expect(keysOf('id')).toEqual(['id', 'id', 'id']);
    expect(keysOf('uid', 'projects=Reference', 'labels=create')).toEqual(['uid', 'reference']);
    expect(keysOf()).toEqual(['key']);
    expect(parseUpsertKeys([asset, project], ['externalIds.a=b']).problems).toEqual([]);
    expect(parseUpsertKeys([asset], ['locations=name', 'assets=name']).problems).toEqual([
      '--upsert-by: assets cannot be found by "name": expected --upsert-by assets=uid, or --upsert-by assets=externalIds.erp, or --upsert-by assets=id, or --upsert-by assets=create',
    ]);
    expect(() => keysOf('tools=uid')).toThrow('--upsert-by: unknown kind "tools", expected one such as assets');
  });

  test.each<[string[], string, RecordKind?]>([
    [['name', 'Name'], 'the columns "name" and "Name" mean the same: leave one out with --skip "Name"'],
    [['name', 'name'], 'the columns "name" and "name" mean the same: rename one in the first line'],
    [['externalIds', 'external ids.erp'], 'the columns "external ids.erp" and "externalIds" mean the same'],
    [['externalIds.a', 'externalIds.b', 'externalIds'], 'the columns "externalIds.a" and "externalIds" mean the same'],
    [['location', 'currentLocationId', 'location.name'], 'the columns "location" and "location.name" mean the same'],
    [['type', 'id', 'key'], 'the columns "type" and "key" mean the same', label],
  ])('%j are refused', (names, message, kind: RecordKind = asset) => {
    const readOne = createRowReader(kind, rowOptions({}, kind));
    expect(() => readOne(source(names, ['a', 'b']))).toThrow(message);
  });
});

describe('warnings', () => {
  function warningsOf(kind: RecordKind, columns: string, rows: readonly string[], profile: Profile = {}) {
    const { warn, groups } = new WarningCollector();
    const readOne = createRowReader(kind, rowOptions(profile, kind), warn);
    const names = columns.split('|');
    for (const [index, row] of rows.entries()) readOne(source(names, row.split('|'), index + 2));
    return groups().map(({ message, first: { line, column, detail }, count }) => {
      return [message, [line, column, detail].filter(Boolean).join(' '), count];
    });
  }

  const ofTotals = ['(2 rows)', 'Seite 1 von 2', 'Total|12', 'summe', '------+---', 'Page|1', 'Total Station|1'];
  const days = ['1899-12-30', '1900-01-01', '2100-12-31', '2101-01-01'];
  const damaged = ['KÃ¶ln', 'Köln', 'SÃO PAULO', 'â€œdepot'];
  const lost = ['B?ro', 'Gie\uFFFDen', 'Wo?', 'Was? Ja', '? Kran', 'Kran 7?8', 'x.example/find?id=7'];
  test.each<[RecordKind, string, readonly string[], string, string, number?]>([
    [asset, 'name', lost, 'another program has lost letters', '2 name "B?ro", then in line 3, "Gie\uFFFDen"', 2],
    [
      project,
      'startDate',
      days,
      'the date is before 1900 or after 2100',
      '2 startDate "1899-12-30", then in line 5, "2101-01-01"',
      2,
    ],
    [location, 'latitude|longitude', ['0|0.0', '0|1'], 'the coordinates are 0 and 0', '2 latitude'],
    [asset, 'uid', ['C-1', 'c-1', 'C-2', 'C-1'], 'values differ only in case', '3 uid "c-1" and "C-1" in line 2'],
    [
      asset,
      'location.name',
      ['Köln', 'Ko\u0308ln'],
      'values differ only in the form of letters',
      '3 location.name "Ko\u0308ln" and "Köln" in line 2',
    ],
    [
      asset,
      'uid',
      ['K 007', 'k\u00a07'],
      'values differ only in accents, leading zeros or the like',
      '3 uid "k\u00a07" and "K 007" in line 2',
    ],
    [asset, 'name', ['a ', 'b'], 'there is white space around the value', '2 name "a "'],
    [asset, 'uid', ['\u200BC-1', 'C-2'], 'there is white space around the value', '2 uid "\u200BC-1"'],
    [asset, 'name', ["'-x", "'x"], 'an apostrophe before the value: --excel removes it', '2 name "\'-x"'],
    [asset, 'uid', ['="00012"'], 'there is a formula around the value: --excel removes it', '2 uid "=\\"00012\\""'],
    [
      location,
      'city',
      ['NA', 'N/A.', 'NULL', 'na'],
      'stored as text: --null reads it as empty',
      '2 city "NA", then in line 4, "NULL"',
      2,
    ],
    [
      location,
      'city',
      damaged,
      'another program has probably damaged letters',
      '2 city "KÃ¶ln", then in line 5, "â€œdepot"',
      2,
    ],
    [
      project,
      'name|startDate|endDate',
      ['A|2026-12-05|2026-12-03', 'B|2026-12-05T07:30:00Z|2026-12-05', 'C|2026-12-05|'],
      'the row ends before it starts',
      '2',
    ],
    [location, 'name|latitude', ofTotals, 'this row is probably a total or a footer', '2', 5],
  ])('%o %s %j', (kind, columns, rows, message, where, count = 1) => {
    expect(warningsOf(kind, columns, rows)).toEqual([[expect.stringContaining(message), where, count]]);
  });

  test('a text that --null reads as empty is no value', () => {
    expect(warningsOf(location, 'city', ['NA'], { null: 'NA' })).toEqual([]);
  });

  test('100,000 values are compared', () => {
    const rows = Array.from({ length: 100_002 }, (_, index) => `C-${index}`);

    expect(warningsOf(asset, 'uid', [...rows, 'c-100001', 'c-7'])).toEqual([
      ['values differ only in case', '100005 uid "c-7" and "C-7" in line 9', 1],
    ]);
  });
});

describe('profiles', () => {
  test.each(['snipe-it', 'shelf', 'homebox', 'atlas'])('all columns that %s maps exist', (name) => {
    const profile = profileNamed(name);
    for (const kindName of profile.kind === undefined ? Object.keys(profile.kinds ?? {}) : [profile.kind]) {
      const kind = parseKindName(kindName) as RecordKind;
      const find = createColumnFinder(kind, rowOptions(profile, kind));
      const { map } = rowOptions(profile, kind);
      expect([...map.keys()].filter((column) => find(column) === undefined)).toEqual([]);
    }
  });

  test('an unknown one is refused with those that are ready', () => {
    expect(() => profileNamed('nothing')).toThrow(
      'there is no such file; the built-in profiles are snipe-it, shelf, homebox, atlas',
    );
    expect(() => profileNamed('package.json')).toThrow('--profile package.json: Unrecognized keys: "name"');
    const withMap = (map: readonly string[]) => profileOf({ map, linkBy: [] }, String);
    expect(() => withMap(['uid'])).toThrow('--map: expected two names, such as "Serial no.=uid", received "uid"');
    expect(withMap(['a=b=uid']).map).toEqual({ 'a=b': 'uid' });
    expect(() => profileOf({ map: [], linkBy: [], blank: 'no' as 'keep' }, String)).toThrow(
      '--blank: Invalid option: expected one of "clear"|"keep"',
    );
  });
});
