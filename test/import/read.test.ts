/** Files as people and programs write them, read row by row: no line is lost, and no cell is changed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { afterAll, expect, test } from 'vitest';
import { CsvParser } from '../../src/import/csv.ts';
import { JsonParser } from '../../src/import/json.ts';
import { findFiles } from '../../src/import/local-files.ts';
import { type ReadOptions, readRows, readTable, requireEncoding } from '../../src/import/read.ts';
import type { SourceRow, Warning } from '../../src/import/row.ts';
import { asset } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';

const root = mkdtempSync(join(tmpdir(), 'read-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const known = new Set(['name', 'uid', 'description', 'acquiredat', 'statusid', 'serial no.', 'colour']);

interface Read {
  readonly rows: readonly SourceRow[];
  readonly warnings: readonly Warning[];
  readonly error?: string;
}

async function read(
  content: string | Uint8Array,
  name = 'assets.csv',
  options: Partial<ReadOptions> = {},
): Promise<Read> {
  const [file] = findFiles([join(folderWith({ [name]: content }), name)], undefined).files;
  if (!file) throw new Error('expected a file');
  const warnings: Warning[] = [];
  const rows: SourceRow[] = [];
  const isKnown = (column: string) => known.has(column.toLowerCase());
  try {
    const all = readRows(file, { isKnown, warn: (warning) => warnings.push(warning), ...options });
    for await (const row of all) rows.push(row);
  } catch (error) {
    rmSync(file.path);
    return { rows, warnings, error: String(error) };
  }
  rmSync(file.path);
  return { rows, warnings };
}

/** Rows as `2: Crane|C-1`, with `·` for a cell without a value; refused ones as `2: !`. */
const shown = ({ rows, error }: Read): string[] => [
  ...rows.map(({ line, cells, problem }) => `${line}: ${problem ? '!' : cells.map((cell) => cell ?? '·').join('|')}`),
  ...(error === undefined ? [] : [error]),
];

const csvFiles: [string, string, string[], Partial<ReadOptions>?][] = [
  ['pipes, one at the end', 'name|uid|\nCrane|C-1|\n', ['2: Crane|C-1']],
  [
    'formulas around line breaks and separators',
    'name,uid\nA,="1\n2"\n="1,5",B\nC,="3\n',
    ['2: A|="1\n2"', '4: ="1,5"|B', '5: !'],
  ],
  ['white space before and after quotes', 'name, uid\nA, "C,1"\nB,\t"2" ,\n', ['2: A|C,1', '3: B|2']],
  ['two wrong quotes', 'name,uid\n"24 in. pipe,W-1\n19" reel,W-2\nDrill,W-3\n', ['2: !', '3: !', '4: Drill|W-3']],
  [
    'lines between wrong quotes, one of them wrong',
    'name,uid\n"24 in. pipe,W-1\nA,""\n""B,0\n"B, C",W-2\nD,W-3\n',
    ['2: !', '3: A|', '4: !', '5: !', '6: D|W-3'],
  ],
  ['a quote that is never closed', 'name,uid\nA,1\n"B,2\nC,3\nD,4', ['2: A|1', '3: !', '4: C|3', '5: D|4']],
  ['text after a closing quote', 'name,uid\n"Bolt" M8,1\nB,"2"x\nC,3\n', ['2: !', '3: !', '4: C|3']],
  [
    'a quoted cell that may go on below a broken quote',
    'description,name,uid\nuse it,"He said "stop",1\nand left."\nso,B,2\n',
    ['2: !', '3: !', '4: so|B|2'],
  ],
  [
    'a second cell that opens a quote in a row of two lines',
    'name,uid,colour\n"A\nB","C,x\nD,1,y\nE" x,2,z\nF,3,w\n',
    ['2: !', '4: D|1|y', '5: !', '6: F|3|w'],
  ],
  [
    'line breaks without quotes that are not those of the file',
    'name,description,uid\r\nA,some\nmore,1\r\nB,b,2\nC,short\nD,d,3\r\nE,e,4',
    ['2: !', '4: B|b|2', '5: C|short', '6: D|d|3', '7: E|e|4'],
  ],
  [
    'a first line that ends otherwise',
    'name,uid\r\nA\nB,1\nC,2\nD\nE,3\n',
    ['2: A', '3: B|1', '4: C|2', '5: D', '6: E|3'],
  ],
  [
    'short and long rows',
    'name,uid,acquiredAt,statusId\nR1,R-1,2026-01-01,s\nR2,R-2\nR3,R-3,,,,\nR4,R-4,,,x\n',
    ['2: R1|R-1|2026-01-01|s', '3: R2|R-2', '4: R3|R-3|·|·', '5: !'],
  ],
  ['empty columns at the end of the header', 'name;uid;;\nA;1;;\nB;2\n', ['2: A|1', '3: B|2']],
  ['empty rows', 'name,uid\n\n,\n"",""\n \t\nA,1\n\n', ['6: A|1']],
  ['titles above the header', 'Assets 2026\n\nPrinted: 1.1.2026, by Jana\nname,uid\nA,1\n', ['5: A|1']],
  ['titles with a word that is a name', 'Name,Hamburg\n\nname,uid\nA,1\n', ['4: A|1']],
  ['one column', 'List of tools\nname\nDrill, small\nSaw; big\n', ['3: Drill, small', '4: Saw; big']],
  ['names that are not known', 'Bezeichnung;Nr. 1, 2\nA;1\n', ['2: A|1']],
  [
    'refused rows of a file without a header',
    'name,uid,refused because\nA,1,refused: why\n',
    ['2: A|1|refused: why'],
    { columns: ['name', 'uid'] },
  ],
  ['no header', 'A, small, red;1\nB;2\n', ['1: A, small, red|1', '2: B|2'], { columns: ['name', 'uid'] }],
  ['a header, though its columns are named', 'Name,UID\nA,1\n', ['2: A|1'], { columns: ['name', 'uid'] }],
  ['files put together', '\uFEFFname,uid\nA,1\n\uFEFFname,uid\nB,2\n', ['2: A|1', '4: B|2']],
  ['a NUL', 'name,uid\nA\0,1\nB,2\n', ['2: !', '3: B|2']],
  ['nothing', '', ['Error: assets.csv: it is empty: expected a line with the names of the columns']],
  ['a header only', 'name,uid\n', []],
  [
    'two headers',
    'name\nYard\nname,uid\nZ,1\n',
    ['Error: assets.csv: lines 1 and 3 both look like the header: leave one of them out, or make two files'],
  ],
  ['a file of DOS, with its end', 'name,uid\r\nA,1\r\n\x1A', ['2: A|1']],
];

test.each(csvFiles)('reads CSV with %s', async (_, content, expected, options) => {
  expect(shown(await read(content, 'assets.csv', options))).toEqual(expected);
});

test('a refused row says why', async () => {
  const content = 'name,uid\n"24 in.,W-1\n19" reel,W-2\nrest\nR,1,x\nA\0,1\n';
  const twice = 'a quote within a quoted cell is written twice';

  expect((await read(content)).rows.map(({ problem }) => problem)).toEqual([
    `the quote before "24 in.,W-1" is not closed at the end of its cell: ${twice}`,
    `its quotes and those of line 2 do not match: ${twice}`,
    'it may be the rest of a cell of line 3, whose quotes do not match',
    'expected 2 cells, as in the header, received 3: a cell with a separator needs quotes',
    'it has a NUL character: is the file in another encoding, such as --encoding utf-16le?',
  ]);
  expect((await read('name,uid\r\nA\nB,1\r\n')).rows.map(({ problem }) => problem)).toEqual([
    'it has a line break that does not end other rows: a cell with one needs quotes',
  ]);
  expect((await read('"name,uid\nA,1\n')).error).toContain('line 1, the header: the quote before "name,uid" is not');
});

test('a row has its text as it stands, and the names of all columns', async () => {
  const { rows } = await read('name,Serial\tno.,\r\n"A" ,"x\r\ny"\r\nB\r\n');

  expect(rows.map(({ text }) => text)).toEqual(['"A" ,"x\r\ny"', 'B']);
  expect(rows.map(({ names }) => names)).toEqual(Array(2).fill(['name', 'Serial no.']));
  expect(rows[0]?.names).toBe(rows[1]?.names);
});

test('warns of lines that are left out, and of rows that end early, as after a line break without quotes', async () => {
  const { rows, warnings } = await read('Tools\n\nname,uid\nA,1\nNAME, uid \nB,2\nC\n');
  const one = await read('name\nA\nName\n');

  expect(rows.map(({ line }) => line)).toEqual([4, 6, 7]);
  expect(warnings).toEqual([
    { line: 1, column: '', message: '1 title line above the headings', detail: '"Tools"', isFact: true },
    { line: 5, column: '', message: 'the headings, repeated', isFact: true },
    { line: 7, column: '', message: 'the row has fewer cells than the header' },
  ]);
  expect([one.rows.length, one.warnings]).toEqual([2, []]);
});

const number = (text: string) => new LosslessNumber(text);

async function readJson(content: string) {
  const { rows, error } = await read(content, 'assets.ndjson');
  const found = rows.map(({ line, names, cells, problem }) => [
    line,
    problem ?? Object.fromEntries(names.map((key, index) => [key, cells[index]])),
  ]);
  return error === undefined ? found : [...found, error];
}

const notWhole =
  'Error: assets.ndjson: line 2: the array does not end properly after this: is the file whole, and are its brackets and quotes closed?';
const noJson = expect.stringContaining('it is not JSON: ');

const jsonFiles: readonly (readonly [string, string, readonly unknown[]])[] = [
  [
    'numbers with their digits',
    '{"a":12345678901234567890}\r\n{"a":1.10,"b":1e400}\r\n{"a":-0.0E+1}',
    [
      [1, { a: number('12345678901234567890') }],
      [2, { a: number('1.10'), b: number('1e400') }],
      [3, { a: number('-0.0E+1') }],
    ],
  ],
  [
    'values of all kinds',
    '{"a":true,"b":null,"c":"","d":{"x":[1,{"y":"\\u00e9\\n\\\\"}]},"e":[]}',
    [[1, { a: true, b: null, c: '', d: { x: [number('1'), { y: 'é\n\\' }] }, e: [] }]],
  ],
  [
    'lines that are not objects, or not JSON',
    '1\n[{"a":1}\n{"a":01}\n{"a":NaN}\n{"a":1,}\n{a:1}\n{"a":"\t"}\n{"a":"x\n\n{"a":1} {}\n{"b":1}',
    [
      [1, 'expected a JSON object, received "1"'],
      ...[2, 3, 4, 5, 6, 7, 8, 10].map((n) => [n, noJson]),
      [11, { b: number('1') }],
    ],
  ],
  [
    'a name twice',
    '{"a":1,"a":2}\n{}',
    [
      [1, 'it has the name "a" twice'],
      [2, {}],
    ],
  ],
  [
    'values that are nested too deep',
    `{"a":${'['.repeat(100_000)}\n{}`,
    [
      [1, 'it is nested too deep'],
      [2, {}],
    ],
  ],
  [
    'an array, as jq and pandas write it',
    '\uFEFF[\n  {\n    "name": "A, [\\"] }"\n  },\r\n  {"name": "B"}\r\n]\n',
    [
      [2, { name: 'A, ["] }' }],
      [5, { name: 'B' }],
    ],
  ],
  ['an empty array', ' [ ] ', []],
  [
    'an array with elements that are wrong',
    '[1, {"a": 01},\n{"a": "x\n"},\n[{}], {"a":2},\n]\n',
    [
      [1, 'expected a JSON object, received "1"'],
      [1, noJson],
      [2, noJson],
      [4, 'expected a JSON object, received "[{}]"'],
      [4, { a: number('2') }],
    ],
  ],
  ...['{"a"', '', '{"a":2}},\n{"a":3}]', '{"a":2}]{"b":1}'].map((end): [string, string, unknown[]] => [
    `an array that ends with ${JSON.stringify(end)}`,
    `[{"a":1},\n${end}`,
    [notWhole],
  ]),
];

test.each(jsonFiles)('reads JSON with %s', async (_, content, expected) => {
  expect(await readJson(content)).toEqual(expected);
});

test('names in JSON touch no prototype', async () => {
  const { rows } = await read('{"__proto__":"y","externalIds":{"__proto__":"x","constructor":"z"}}', 'assets.json');

  expect(rows[0]?.names).toEqual(['__proto__', 'externalIds']);
  expect(rows[0]?.cells[0]).toBe('y');
  expect(Object.entries(rows[0]?.cells[1] ?? {})).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'z'],
  ]);
});

test('rows of JSON say their kind, unless the file does', async () => {
  const content = '{"kind":"ASSET","name":"A"}\n{"kind":"work orders"}\n{"kind":"X"}\n{"kind":5}\n{"name":"B"}\n';
  const kinds = async (name: string) =>
    (await read(content, name)).rows.map(({ kind, problem }) => problem ?? kind?.name);
  const wrong = (received: string) => `kind: expected one such as "ASSET", received ${received}`;

  expect(await kinds('assets.jsonl')).toEqual(['Asset', 'WorkOrder', wrong('"X"'), wrong('"5"'), undefined]);
  expect((await kinds('all.ndjson')).at(-1)).toBe(wrong('nothing'));
});

test('a line that is too long, and an array, end the import with advice', () => {
  const long = 'x'.repeat(4_000_001);
  const csv = () => new CsvParser('assets.csv', { isKnown: (name) => known.has(name), warn: () => {} });
  const json = () => new JsonParser({ name: 'assets.json', kind: asset });

  for (const start of ['name,uid\nA,1\n', 'name,uid\n"A\n","']) {
    expect(() => csv().read(start + long, false)).toThrow(
      /^assets.csv: line [23] is longer than 4,000,000 characters: is it a table\?$/,
    );
  }
  expect(() => json().read(`{"a":1}\n${long}`, false)).toThrow('assets.json: line 2 is longer than 4,');
  expect(() => json().read(`[${' '.repeat(64_000_000)}`, false)).toThrow(
    "assets.json: it is an array of more than 64,000,000 characters: make a line of each element, such as by jq -c '.[]' assets.json > all.ndjson",
  );
});

test('a cell of 2 MB is read; a quoted cell of many lines that is too long is refused with its first line', async () => {
  const cell = 'a "line"\n'.repeat(150_000);
  expect((await read(`name,uid\n"${cell.replaceAll('"', '""')}",1\n`)).rows[0]?.cells).toEqual([cell, '1']);

  const { rows } = await read(`name,uid\nA,1\n"B,2\n${`${'C'.repeat(100_000)},3\n`.repeat(42)}"D",4\n`);
  expect(rows.length).toBe(45);
  expect(rows.filter(({ problem }) => problem !== undefined).map(({ line }) => line)).toEqual([3]);
});

test('text of another encoding ends the import with its line', async () => {
  const content = Buffer.concat([Buffer.from(`name\r\n${'Köln\r\n'.repeat(20_000)}`), Buffer.of(0xe4, 0x0d, 0x0a)]);

  expect((await read(content)).error).toBe(
    'Error: assets.csv, line 20002: the text is not UTF-8. Save it as UTF-8, or name its encoding: --encoding windows-1252',
  );
  expect(() => requireEncoding('utf-99')).toThrow(
    '--encoding: expected one such as windows-1252 or utf-16le, received "utf-99"',
  );
});

test('compressed files are read by their content, and damaged ones are refused', async () => {
  const content = gzipSync(`name,uid\n${'A,1\n'.repeat(10_000)}`);

  expect((await read(content, 'assets.csv')).rows.length).toBe(10_000);
  expect((await read('name\nA\n', 'assets.csv.gz')).rows.length).toBe(1);
  expect((await read(Buffer.concat([content, content]), 'assets.csv.gz')).rows.length).toBe(20_000);
  expect((await read(content.subarray(0, -20), 'assets.csv.gz')).error).toBe(
    'Error: assets.csv.gz is damaged or incomplete, and cannot be decompressed: Error: unexpected end of file',
  );
});

test('says how a file is written', async () => {
  const folder = folderWith({ 'assets.csv': 'sep=;\r\nTools\r\nname;uid\r\nA;1\r\n', 'Assets.TXT': 'A\t1\n' });
  const options = { isKnown: (name: string) => known.has(name), warn: () => {} };
  const [tabs, semicolons] = findFiles([folder], undefined).files;

  const names = ['name', 'uid'];
  expect(semicolons && (await readTable(semicolons, options))).toMatchObject({ separator: ';', names });
  expect(tabs && (await readTable(tabs, { ...options, columns: names }))).toMatchObject({ separator: '\t', names });
});

test('every file of a folder is found or named, in the order of names', () => {
  const tables = ['assets.csv', 'assets-2.tab', 'locations.tsv', 'Work orders 2026.txt'];
  const names = [...tables, 'projects.jsonl', 'all.json.gz'];
  const others = ['notes.pdf', 'assets.xlsx', 'assets.csv.part'];
  const hidden = ['.DS_Store', '.~lock.assets.csv#', '~$assets.xlsx', 'assets.csv.import-run'];
  const all = [...names, ...others, ...hidden, 'assets.refused-2.csv'];
  const folder = folderWith(Object.fromEntries(all.map((name) => [name, ''])));
  mkdirSync(join(folder, 'old'));
  const { files, refused, skipped } = findFiles([folder, join(folder, 'assets.csv')], undefined);

  expect(files.map(({ name, format, kind }) => [name, format, kind?.name])).toEqual([
    ['Work orders 2026.txt', 'csv', 'WorkOrder'],
    ['all.json.gz', 'json', undefined],
    ['assets-2.tab', 'csv', 'Asset'],
    ['assets.csv', 'csv', 'Asset'],
    ['locations.tsv', 'csv', 'Location'],
    ['projects.jsonl', 'json', 'Project'],
  ]);
  expect(refused.map((path) => basename(path))).toEqual(['assets.refused-2.csv']);
  expect(skipped.map((path) => basename(path))).toEqual(['assets.csv.part', 'assets.xlsx', 'notes.pdf', 'old']);
});

test('files that cannot be imported are refused before anything is read', () => {
  const folder = folderWith({ 'list.csv': '', 'notes.pdf': '' });

  expect(() => findFiles([join(folder, 'no.csv')], undefined)).toThrow(`there is no file ${join(folder, 'no.csv')}`);
  expect(findFiles([folder], asset).files.map(({ kind }) => kind)).toEqual([asset]);
  rmSync(join(folder, 'list.csv'));
  expect(() => findFiles([folder], asset)).toThrow(
    `there is no file to import: expected files that end with .csv, .tsv, .tab, .txt, .ndjson, .jsonl, .json, or one of these and .gz, found ${join(folder, 'notes.pdf')}`,
  );
});

const numRuns = byEffort({ small: 300, long: 10_000 });

/** Texts of what matters to a reader of CSV, and of anything. */
const cellText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'",;\t|\n\r aé\uFEFF'), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }).filter((text) => !text.includes('\0')),
);

test('what a program writes as CSV, with any separator and line ends, is read as it was', async () => {
  const row = fc.tuple(cellText, fc.option(cellText), fc.option(cellText));
  const form = fc.record({
    separator: fc.constantFrom(',', ';', '\t', '|'),
    ends: fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 3 }),
    quotesAll: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), form, async (rows, { separator, ends, quotesAll }) => {
      // A first cell that makes no row empty.
      const cells = rows.map(([first, ...others]) => [`x${first}`, ...others]);
      const write = (cell: string | null) =>
        quotesAll || (cell !== null && /^$|["\r\n,;\t|]|^\s|\s$/.test(cell))
          ? `"${(cell ?? '').replaceAll('"', '""')}"`
          : (cell ?? '');
      const lines = [['name', 'uid', 'description'], ...cells].map((each) => each.map(write).join(separator));
      const text = lines.map((line, index) => line + ends[index % ends.length]).join('');
      const { rows: found } = await read(text);

      expect(found.map((each) => each.problem ?? each.cells)).toEqual(
        cells.map((each) => (quotesAll ? each.map((cell) => cell || null) : each)),
      );
    }),
    { numRuns },
  );
});

test('whatever is in a file, each of its lines is in a row, refused, or said to be left out', async () => {
  const unit = fc.constantFrom(...'"",;\n\n\r a{}[]:\\1\0');
  const start = fc.constantFrom('', 'name,uid\n', 'Tools\nname;uid\r\n', '"name"\n', '[');
  const content = fc.tuple(start, fc.string({ unit, maxLength: 80 })).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(content, fc.constantFrom('assets.csv', 'assets.json'), async (text, name) => {
      const { rows, warnings, error } = await read(text, name);
      if (error !== undefined) {
        expect(error).toMatch(/^Error: assets\.(csv|json)(, line \d+)?: /);
        return;
      }
      if (name.endsWith('.json')) {
        const withoutForm = (json: string) => json.replace(/[\s,[\]]/g, '');
        expect(withoutForm(rows.map((row) => row.text).join(''))).toBe(withoutForm(text));
        return;
      }
      const all = linesOf(text);
      const given = new Set(warnings.map(({ line }) => line));
      for (const { line, text: ofRow } of rows) {
        for (const at of linesOf(ofRow).keys()) given.add(line + at);
        expect(all.slice(line - 1).join('\n')).toContain(linesOf(ofRow).join('\n').trim());
      }
      // What is above the first row is the header, or in a warning.
      const first = Math.min(...rows.map(({ line }) => line), all.length);
      const lost = all.filter((line, at) => at >= first && !given.has(at + 1) && !/^[\s,;"|[\]]*$/.test(line));
      expect(lost).toEqual([]);
    }),
    { numRuns: numRuns * 3 },
  );
});

test('rows are the same in whatever pieces the text of a file arrives', () => {
  const unit = fc.constantFrom(...'"",\n\r a{}[]:\\1');
  const options = { isKnown: (name: string) => known.has(name), warn: () => {} };
  // Rows that may go on where the header is found, and far below.
  const starts = fc.constantFrom('', 'name,uid\n', `name,uid\n${',\n'.repeat(48)}`, `name,uid\n${',\n'.repeat(200)}`);
  const rowsOf = (parser: CsvParser | JsonParser, pieces: readonly string[]) => {
    try {
      return [...pieces.flatMap((piece) => parser.read(piece, false)), ...parser.read('', true)];
    } catch (error) {
      return String(error);
    }
  };
  fc.assert(
    fc.property(fc.array(fc.string({ unit, maxLength: 4 }), { maxLength: 20 }), starts, (pieces, start) => {
      const whole = pieces.join('');
      const csv = () => new CsvParser('assets.csv', options);
      const json = () => new JsonParser({ name: 'assets.json', kind: asset });

      expect(rowsOf(csv(), [start, ...pieces])).toEqual(rowsOf(csv(), [start + whole]));
      for (const bracket of ['', '[', '\r\n {']) {
        expect(rowsOf(json(), [bracket, ...pieces])).toEqual(rowsOf(json(), [bracket + whole]));
      }
    }),
    { numRuns },
  );
});

const linesOf = (text: string): string[] => text.split(/\r\n|\n|\r/);
