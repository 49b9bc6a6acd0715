/** Spreadsheets as offices save them, imported as the explorer proposes it: without an option that somebody types. */
import { expect, test } from 'vitest';
import { describeFile, type ImportFile } from '../../src/import/file.ts';
import { describeNotes, prepare, preview, startRun, store } from '../../src/import/import.ts';
import { type Choices, chosenProfile, likelyKind, propose, proposeTargets } from '../../src/import/proposal.ts';
import { kindNamed } from '../../src/records/index.ts';
import { useImports } from '../support/import.ts';

const imports = useImports();

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\r\n`).join('');
const german = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string, mark = '\uFEFF') => Buffer.from(mark + text, 'utf16le');

/** Drops the file on the table of the kind, and confirms what is proposed. */
async function drop(
  kind: string,
  name: string,
  content: string | Uint8Array,
  changed: Partial<Choices> = {},
  known?: Partial<Choices>,
  { language = 'de-DE', beforeStoring = async (): Promise<unknown> => undefined } = {},
) {
  const bytes = Buffer.from(content);
  const file: ImportFile = {
    ...describeFile(name, kindNamed(kind)),
    async *bytes() {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
    isUnchanged: () => true,
  };
  const yardgraph = imports.client();
  const { columns, choices: proposed } = await propose([file], { language, knownChoices: () => known });
  const choices = { ...proposed, timeZone: 'Europe/Berlin', ...changed };
  const setting = { yardgraph, files: [file], signal: new AbortController().signal, onProgress() {} };
  const work = await prepare(chosenProfile(columns, choices), { ...setting, encoding: choices.encoding });
  const checked = await preview(work);
  const notes: string[] = [];
  describeNotes(work, checked, (text) => notes.push(text));
  const texts: string[] = [];
  const refusedFiles = [{ name: 'refused.csv', write: (text: string) => void texts.push(text) }];
  const storing = {
    run: await startRun(yardgraph, String(performance.now())),
    save() {},
    fileKeys: ['0'],
    restart: undefined,
  };
  await beforeStoring();
  await store(work, { storing, refusedFiles, isPreviewed: true }, { say() {}, table() {} });
  const { CREATED, UPDATED, UNCHANGED, REJECTED } = checked.totals.rows;
  const targets = Object.fromEntries(
    columns.map((column) => [column.name, choices.targets[`${column.kind.plural} ${column.name}`]]),
  );
  return {
    targets,
    choices,
    notes,
    counts: [CREATED, UPDATED, UNCHANGED, REJECTED],
    refused: texts.join(''),
    values: checked.refusals.values,
    doubts: [...checked.doubts.values()].map(({ message, first, rows }) => [message, first.join('; '), rows.length]),
  };
}

const stored: readonly (readonly [
  name: string,
  kind: string,
  content: string | Uint8Array,
  fields: string,
  records: readonly string[],
])[] = [
  [
    'Maschinen.csv',
    'Asset',
    german(
      lines(
        'Maschinenliste Stand 11/2026',
        '',
        'Bezeichnung;Inventarnummer;Baujahr;Angeschafft am;Standort;Preis;Bemerkung',
        'Kran;GE-1;2021;30.08.2021;Hof Süd;18.450,00;Schlüssel im Büro',
      ),
    ),
    'name uid manufacturedAt acquiredAt currentLocation { name }',
    ['Kran, GE-1, 2021-01-01T00:00:00.000Z, 2021-08-30T00:00:00.000Z, Hof Süd'],
  ],
  [
    'machines - Copy.csv',
    'Asset',
    lines('Machine,Asset Tag,Year,Purchase date,Location', 'Crane,A-1,2020,08/30/2021,Hof Süd'),
    'name uid manufacturedAt acquiredAt currentLocation { name }',
    ['Crane, A-1, 2020-01-01T00:00:00.000Z, 2021-08-30T00:00:00.000Z, Hof Süd'],
  ],
  ...['Name,Number,Part of', 'Name,UID,Parent'].map(
    (headings) =>
      [
        'attachments.csv',
        'Asset',
        lines(headings, 'Bucket,B-1,Bagger'),
        'uid parent { name }',
        ['B-1, Bagger'],
      ] as const,
  ),
  [
    'Standorte.csv',
    'Location',
    german(
      lines('Name;Straße;PLZ;Ort;Land;Breitengrad;Längengrad', 'Hof Nord;Am Deich 8;04103;Leipzig;DE;51,34;12,37'),
    ),
    'name address1 postalCode city country latitude longitude',
    ['Hof Nord, Am Deich 8, 04103, Leipzig, DE, 51.34, 12.37'],
  ],
  [
    'Auftraege.csv',
    'WorkOrder',
    lines(
      'Auftragsnummer;Bezeichnung;Maschine;Standort;Beginn;Ende;Bemerkung',
      'A-1;Wartung;Bagger;Hof Süd;01.12.2026 07:30;01.12.2026;dringend',
    ),
    'reference name asset { name } location { name } startDate endDate notes',
    ['A-1, Wartung, Bagger, Hof Süd, 2026-12-01T06:30:00.000Z, 2026-12-01T00:00:00.000Z, dringend'],
  ],
  [
    'plan.csv',
    'WorkOrder',
    lines('Datum;Tätigkeit;Gerät', '3/12/2026;Prüfung;Bagger', '25/11/2026;Abbau;Bagger'),
    'name startDate asset { name }',
    ['Prüfung, 2026-12-03T00:00:00.000Z, Bagger', 'Abbau, 2026-11-25T00:00:00.000Z, Bagger'],
  ],
  [
    'Jira.csv',
    'WorkOrder',
    lines('Summary,Issue key,Due date,Comment,Comment,Description', 'Service,Y-1,3/Dec/26 7:30 AM,a,b,soon'),
    'name reference endDate notes',
    ['Service, Y-1, 2026-12-03T06:30:00.000Z, soon'],
  ],
  [
    'Projektplan.csv',
    'WorkOrder',
    lines('Vorgang;Anfang;Ende;Dauer', 'Aufbau;Mo 02.03.26 08:00;Di 03.03.26 17:00;2 Tage'),
    'name startDate endDate',
    ['Aufbau, 2026-03-02T07:00:00.000Z, 2026-03-03T16:00:00.000Z'],
  ],
  [
    'Kategorien.csv',
    'AssetCategory',
    lines('Kategorie;Beschreibung;Oberkategorie', 'Bagger;Alle Bagger;', 'Minibagger;Bis 3 t;Bagger'),
    'name description parent { name }',
    ['Bagger, Alle Bagger, null', 'Minibagger, Bis 3 t, Bagger'],
  ],
  [
    'snipe.csv',
    'Asset',
    lines(
      'ID,Asset Name,Asset Tag,Serial,Model,Status,Location,Company,Purchase Date,Purchase Cost',
      '1,Crane,A-1,S-9,V 45,In Betrieb,Hof Süd,Acme,2024-05-01,100.00',
    ),
    'name uid assetTypeId statusId currentLocation { name } ownerId acquiredAt externalIds',
    ['Crane, A-1, V 45, 7, Hof Süd, Acme, 2024-05-01T00:00:00.000Z, {"snipe-it":"1","serial":"S-9"}'],
  ],
];

test.each(stored)('%s, dropped on the table of %s, is stored', async (name, kind, content, fields, records) => {
  await imports.import({
    'locations.csv': 'name\nHof Süd\n',
    'labels.csv': 'type,id,name\nSTATUS,7,In Betrieb\n',
    'assets.ndjson': '{"name":"Bagger"}\n',
  });

  const dropped = await drop(kind, name, content);

  expect([dropped.counts, dropped.refused]).toEqual([[records.length, 0, 0, 0], '']);
  const list = kindNamed(kind).plural.replace(/^./, (letter) => letter.toLowerCase());
  const found = (await imports.records(list, fields)).slice(-records.length);
  const text = (value: unknown): string =>
    value !== null && typeof value === 'object' && 'name' in value
      ? String(value.name)
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  expect(found.map((record: object) => Object.values(record).map(text).join(', '))).toEqual(records);
});

const encodings: Readonly<Record<string, (text: string) => Uint8Array>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
  'Windows-1252': german,
  'UTF-16': (text) => utf16(text),
  'UTF-16 without a mark': (text) => utf16(text, ''),
  'UTF-16, big endian': (text) => utf16(text).swap16(),
};

test.each(Object.keys(encodings))('a list in %s is stored, with any separator', async (name) => {
  for (const separator of [';', ',', '\t', '|']) {
    const rows = [
      ['Gerätenummer', 'Bezeichnung', 'Hersteller', 'Angeschafft am'],
      [`${name}-${separator}1`, 'Rüttelplatte', 'Größe & Söhne', '1.3.2026'],
      [`${name}-${separator}2`, 'Säge', '', '31.12.2025'],
    ];
    // In quotes, as each program writes a cell that has the separator.
    const cell = (text: string) => (/[;,\t|]/.test(text) ? `"${text}"` : text);
    const content = lines(...rows.map((row) => row.map(cell).join(separator)));
    expect((await drop('Asset', 'Geräte.csv', encodings[name]?.(content) ?? '')).refused).toBe('');
  }
  const stored = await imports.records('assets', 'name manufacturerId acquiredAt');
  const [plate, saw] = [
    { name: 'Rüttelplatte', manufacturerId: 'Größe & Söhne', acquiredAt: '2026-03-01T00:00:00.000Z' },
    { name: 'Säge', manufacturerId: null, acquiredAt: '2025-12-31T00:00:00.000Z' },
  ];
  expect(stored).toEqual(Array.from({ length: 4 }, () => [plate, saw]).flat());
});

const noTables: readonly (readonly [name: string, content: string | Uint8Array, sentence: string])[] = [
  ['Maschinen.xlsx', 'PK', 'Maschinen.xlsx is a workbook, which is not read'],
  ['Maschinen.csv', Buffer.from('PK\x03\x04'), 'Maschinen.csv is a workbook, which is not read'],
  ['Maschinen.csv', Buffer.of(0xd0, 0xcf, 0x11, 0xe0), 'Maschinen.csv is a workbook, which is not read'],
  ['Liste.csv', '%PDF-1.6\n%âãÏÓ\n701 0 obj\n', 'Liste.csv is no text file: in the program that it comes from, export'],
  ['Bild.csv', Uint8Array.from({ length: 2_000 }, (_, at) => (at * 7) % 256), 'Bild.csv is no text file'],
  ['Liste.csv', 'Bezeichnung;Gerätenummer;Foto\n', 'Liste.csv: there are no rows below the headings'],
  ['export.csv', '<!DOCTYPE html><title>Anmelden</title>', 'export.csv is a web page, not a table'],
  ['leer.csv', '', 'leer.csv: it is empty: expected a line with the names of the columns'],
  [
    'titel.csv',
    'Liste 2026;;\n\nXyz;Abc;Def\n1;2;3\n4;5;6\n',
    'titel.csv: no heading is known: leave out the lines above',
  ],
];

test.each(noTables)('%s is refused with one sentence: %#', async (name, content, sentence) => {
  await expect(drop('Asset', name, content)).rejects.toThrow(sentence);
});

test('rows that cannot be read say why, and what helps: a name that is meant, or a record to create', async () => {
  await imports.import({ 'locations.csv': 'name\nNorth yard\n', 'labels.csv': 'type,id,name\nSTATUS,7,In use\n' });
  const file = lines(
    'Name;Standort;Status;Gekauft',
    'A;north yard;In use;31.02.2024',
    'B;Depot;;',
    'C;north yard;;',
    'D;;in use;',
    'E;;vermietet;',
  );

  const { values, counts } = await drop('Asset', 'assets.csv', file);

  expect(counts).toEqual([0, 0, 0, 5]);
  const shown = [...values.values()]
    .toSorted((a, b) => a.line - b.line)
    .map(({ message, text, alike, creatable, count }) => [message, text, alike, creatable?.name, count]);
  expect(shown).toEqual([
    [expect.stringContaining('acquiredAt: expected a day that exists'), undefined, undefined, undefined, 1],
    [expect.stringContaining('there is "North yard", did you mean it?'), 'north yard', 'North yard', undefined, 2],
    [expect.stringContaining('no location'), 'Depot', undefined, 'Location', 1],
    [expect.stringContaining('there is the status "In use", did you mean it?'), 'in use', 'In use', undefined, 1],
    [expect.stringContaining('no status has the name or ID'), 'vermietet', undefined, 'Label', 1],
  ]);
  const chosen = {
    names: { currentLocation: { 'north yard': 'North yard' }, status: { 'in use': 'In use' } },
    createMissing: ['locations', 'labels'],
  };
  expect((await drop('Asset', 'assets.csv', file, chosen)).counts).toEqual([4, 0, 0, 1]);
  expect(await imports.records('assets', 'name statusId currentLocation { name }')).toEqual([
    { name: 'B', statusId: null, currentLocation: { name: 'Depot' } },
    { name: 'C', statusId: null, currentLocation: { name: 'North yard' } },
    { name: 'D', statusId: '7', currentLocation: null },
    { name: 'E', statusId: 'vermietet', currentLocation: null },
  ]);
});

test('an export changes nothing but for the names that are edited in it; a UID finds the asset that has it', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\nSTATUS,8,Idle\n' });
  await imports.import({ 'assets.csv': 'name,uid,status\nKran,GE-1,In use\nBagger,,\n' });
  const forms = [
    ['--names', 'In use', 'Idle'],
    ['--language=de-DE', 'Idle', 'In use'],
  ] as const;
  await imports.service.create('/locations', { name: "'=1+1" });
  const places = (await imports.command('export', 'locations')).out.join('\n');
  expect((await drop('Location', 'locations.csv', places)).counts).toEqual([0, 0, 1, 0]);
  for (const [form, before, after] of forms) {
    const exported = (await imports.command('export', 'assets', form)).out.join('\n');
    expect((await drop('Asset', 'assets.csv', exported)).counts).toEqual([0, 0, 2, 0]);
    expect((await drop('Asset', 'assets.csv', exported.replace(before, after))).counts).toEqual([0, 1, 1, 0]);
  }
  expect(await imports.records('assets', 'statusId')).toEqual([{ statusId: '7' }, { statusId: null }]);

  expect((await drop('Asset', 'Liste.csv', 'Bezeichnung;Inventarnummer\nKran 2;GE-1\nLader;GE-2\n')).counts).toEqual([
    1, 1, 0, 0,
  ]);
});

test.each(['en', 'en-PH', 'es-PR'])(
  'dates with two meanings, exported for Excel in %s, come back unchanged',
  async (language) => {
    await imports.service.create('/assets', { name: 'Kran', acquiredAt: '2026-02-03' });
    const { out } = await imports.command('export', 'assets', '--language', language);
    expect(out.join()).toContain('02/03/2026');
    expect((await drop('Asset', 'assets.csv', out.join('\n'), {}, {}, { language })).counts).toEqual([0, 0, 1, 0]);
  },
);

test.each(['latin1', 'utf8', 'utf16le'] as const)(
  'texts that a spreadsheet would execute or change come back unchanged, also after the first rows, in %s',
  async (encoding) => {
    const texts = ['=Summe', "'=Summe", '00815', '1E5', '4711081547110815', '1-2', 'MÄR1', 'WAHR', '7'];
    const names = [...Array.from({ length: 500 }, (_, at) => `K ${at}`), ...texts];
    await imports.service.create('/assets', ...names.map((name) => ({ name, uid: name })));
    const { out } = await imports.command('export', 'assets', '--language', 'de-DE');
    const file = `${encoding === 'utf16le' ? '\uFEFF' : ''}${out.join('\n').slice(1)}`;
    const saved = file.replace(/"=""([^"]*)"""/g, '$1');
    expect(saved).toContain(';00815;');
    for (const text of [file, saved])
      expect((await drop('Asset', 'assets.csv', Buffer.from(text, encoding))).counts).toEqual([0, 0, names.length, 0]);
  },
);

test('the encoding is the one of this file, whatever the last file had', async () => {
  await drop('Asset', 'a.csv', 'Bezeichnung;Nr\nGroße Öse;1\n', {}, { encoding: 'windows-1252' });
  expect(await imports.records('assets', 'name')).toEqual([{ name: 'Große Öse' }]);
});

test('files in two encodings are not read in one of them', async () => {
  const files = [german('Name\nÖse\n'), Buffer.from('Name\nBohrer\n'), Buffer.from('Name\nÖl\n')].map(
    (content, at) => ({
      ...describeFile(`assets-${at}.csv`, undefined),
      async *bytes() {
        yield content;
      },
      isUnchanged: () => true,
    }),
  );
  const read = async (...some: readonly number[]) =>
    (
      await propose(
        some.flatMap((at) => files[at] ?? []),
        { language: 'de-DE' },
      )
    ).choices.encoding;

  await expect(read(0, 1, 2)).rejects.toThrow(
    'assets-0.csv and assets-2.csv have different encodings: import them one after the other',
  );
  expect([await read(0, 1), await read(1, 2)]).toEqual(['windows-1252', undefined]);
});

test('a label that is renamed before the rows are stored is the one of the preview', async () => {
  const name = (text: string) => imports.import({ 'labels.csv': `type,id,name\nSTATUS,7,${text}\n` });
  await name('In use');
  const beforeStoring = () => name('Rented');
  await drop('Asset', 'a.csv', 'Name;Status\nKran;In use\n', {}, {}, { beforeStoring });
  expect(await imports.records('assets', 'statusId')).toEqual([{ statusId: '7' }]);
});

const attributes: readonly (readonly [kind: string, names: readonly string[], targets: readonly (string | null)[]])[] =
  [
    ['Asset', ['Gerätewert', 'Gerätebezeichnung'], [null, 'name']],
    ['Asset', ['Machine price', 'Machine name'], [null, 'name']],
    ['Asset', ['Bezeichnung', 'Standort-Nr.', 'Standgebühr', 'Status date'], ['name', null, null, null]],
    ['Asset', ['Motorleistung', 'Kostenstelle', 'Geräte-Nr.'], [null, null, 'uid']],
  ];

const headings: typeof attributes = [
  ['WorkOrder', ['Auftrag', 'Bezeichnung', 'Fällig am'], ['reference', 'name', 'endDate']],
  ['WorkOrder', ['Auftragsnr.', 'Auftrag', 'Anfang', 'Ende'], ['reference', 'name', 'startDate', 'endDate']],
  ['WorkOrder', ['Issue key', 'Summary', 'Issue Type', 'Due date'], ['reference', 'name', 'type', 'endDate']],
  ['WorkOrder', ['Aufgabe', 'Gerät', 'Gerätenummer'], ['name', null, 'asset.uid']],
  ['WorkOrder', ['Task', 'Asset no.', 'Location ID', 'Location'], ['name', 'asset.uid', 'Location ID', 'Location']],
  ['WorkOrder', ['Task Name', 'Progress', 'Due Date', 'Notes'], ['name', 'status', 'endDate', 'Notes']],
  [
    'Asset',
    ["N° d'inventaire", 'Désignation', 'Emplacement', 'Marque'],
    ['uid', 'name', 'currentLocation', 'manufacturer'],
  ],
  ['Project', ['Projectnummer', 'Naam', 'Opdrachtgever', 'Einddatum'], ['reference', 'name', 'company', 'endDate']],
  ['Location', ['Nom', 'Rue', 'Code postal', 'Ville', 'Pays'], ['name', 'address1', 'postalCode', 'city', 'country']],
];

test.each(attributes)('in a list of %s, %s are not taken for what they are attributes of', (kind, names, targets) => {
  const proposed = proposeTargets(kindNamed(kind), names);
  expect(names.map((name) => proposed.get(name) ?? null)).toEqual(targets);
});

test('a new row whose number is nearly that of a stored record has a note with both', async () => {
  await drop('Asset', 'a.csv', 'Name;Nr\nKran;MB-3004\nBagger;MB-3006\nLader;ÖL-1\n');
  const { counts, notes } = await drop('Asset', 'b.csv', 'Name;Nr\nA;mb-3004\nB;"MB-3006 "\nC;öl-1\nD;MB-3005\n');
  expect(counts).toEqual([4, 0, 0, 0]);
  const first = 'line 2, "mb-3004" and "MB-3004", then in line 3, "MB-3006 " and "MB-3006"';
  expect(notes).toContain(`  b.csv: a stored asset has nearly the same uid: 3 times, first in ${first}`);
});

test('an older export says which rows replace newer values, and which keys a spreadsheet has changed', async () => {
  const uids = ['00815', '1E5', '4711081547110815', 'C-1', 'C-2'];
  const ids = (await imports.service.create('/assets', ...uids.map((uid) => ({ name: 'Kran', uid })))).map(
    ({ id }) => id,
  );
  const damaged = ['815', '100000', '4711081547110820', 'C-1', 'C-9'];
  const rows = damaged.map(
    (uid, at) => `${ids[at]};Kran;${uid};${at === 1 ? '31.12.2099 08:30:15' : '01.02.2020 08:30'}\n`,
  );
  const { counts, notes, doubts } = await drop('Asset', 'a.csv', `ID;Name;UID;Updated at\n${rows.join('')}`);
  expect(counts).toEqual([0, 4, 1, 0]);
  const replaced = 'line 2, 815 Kran; line 4, 4711081547110820 Kran; line 6, C-9 Kran';
  expect(doubts).toEqual([['would replace newer values of stored assets', replaced, 3]]);
  const wrong = 'a spreadsheet has probably changed the uid: 3 times, first in line 2, from "00815" to "815"';
  expect(notes).toEqual([
    'Allowed, and probably wrong:',
    `  a.csv: ${wrong}, then in line 3, from "1E5" to "100000"`,
    '  a.csv: the stored record was changed after the file was written: the file replaces its values: 3 times, first in line 2',
  ]);
});

test('a file says which texts have lost letters, and which rows of a refused file replace stored values', async () => {
  const [{ id } = { id: '' }] = await imports.service.create('/assets', { name: 'Kran −30 °C', uid: 'C-1' });
  const lost = await drop('Asset', 'a.csv', `ID;Name\n${id};Kran ?30 °C\n`);
  expect(lost.notes).toContain(
    '  a.csv: a spreadsheet has probably changed the name: line 2, from "Kran −30 °C" to "Kran ?30 °C"',
  );
  const row = 'Bagger;C-1;refused: uid: line 2 also has it';
  const { notes } = await drop('Asset', 'b.csv', `Name;UID;refused because\n${row}\nLader;C-2;refused: why\n`);
  const replaced = 'the row was refused before, and would replace values of a stored record';
  expect(notes).toEqual(['Allowed, and probably wrong:', `  b.csv: ${replaced}: line 2`]);
});

test('totals, reversed times and other names for stored records are in doubt, but not if an ID finds the record', async () => {
  const [{ id } = { id: '' }] = await imports.service.create('/locations', {
    name: 'Gesamt 2',
    externalIds: { e: '1' },
  });
  await imports.service.create('/labels', { key: 'STATUS:7', name: 'In use' });
  const rename = ['would rename a stored location, found by e', 'line 2, Gesamt 3 → Hof', 1];
  const totals = ['may be a total or a footer', 'line 2, Summe; line 3, Total; line 4, Gesamt', 4];
  const times = '2026-12-14T07:00:00.000Z – 2026-12-11T00:00:00.000Z';
  const reversed = ['would end before the start', `line 2, W-1 Wartung, ${times}`, 1];
  const order = 'Auftragsnummer;Name;Beginn;Ende\nW-1;Wartung;14.12.2026 08:00;11.12.2026\n';
  for (const [kind, content, doubts, upsertBy] of [
    ['WorkOrder', order, [reversed]],
    ['WorkOrder', order, []],
    ['Location', `ID;Name\n${id};Gesamt 3\n`, []],
    ['Label', 'type;id;name\nSTATUS;7;Idle\n', []],
    ['Location', 'externalIds.e;Name\n1;Hof\n', [rename], ['locations=externalIds.e']],
    ['Location', 'Name;City\nSumme;2\nTotal;\nGesamt;3\nAnzahl;4\nGesamtlager;Kiel\n', [totals]],
  ] as const)
    expect((await drop(kind, 'a.csv', content, upsertBy && { upsertBy: [...upsertBy] })).doubts).toEqual(doubts);
});

test.each([
  ['Name;Auftragsnummer\nWartung;W-1\nWartung;W-2\n', [0, 0, 2, 0]],
  ['Name;Auftragsnummer\nWartung;W-1\nPflege;W-1\n', [2, 0, 0, 0]],
  ['Name;Auftragsnummer\nWartung;W-1\nPflege;\n', [2, 0, 0, 0]],
])('work orders dropped again are found by their references if each row has its own: %#', async (content, counts) => {
  await drop('WorkOrder', 'a.csv', content);
  expect((await drop('WorkOrder', 'b.csv', content)).counts).toEqual(counts);
});

test('a month alone is its first day in a column of months, and refused among dates', async () => {
  const months = await drop('Asset', 'a.csv', 'Name;Baujahr;Gekauft\nA;Mrz 21;1.6.21\nB;Mai 2019;12.01.2027\n');
  const among = await drop('Asset', 'b.csv', 'Name;Gekauft\nA;Mrz 21\nB;1.6.2021\n');

  expect([months.counts, among.counts]).toEqual([
    [2, 0, 0, 0],
    [1, 0, 0, 1],
  ]);
  expect(among.refused).toContain('of a month alone, write a day, such as 2021-03-01');
  expect(await imports.records('assets', 'manufacturedAt acquiredAt')).toEqual([
    { manufacturedAt: '2021-03-01T00:00:00.000Z', acquiredAt: '2021-06-01T00:00:00.000Z' },
    { manufacturedAt: '2019-05-01T00:00:00.000Z', acquiredAt: '2027-01-12T00:00:00.000Z' },
    { manufacturedAt: null, acquiredAt: '2021-06-01T00:00:00.000Z' },
  ]);
});

test.each([
  ['Auftrag;Gerätenummer\nUVV-Prüfung;\nÖlwechsel;\n', 'name'],
  ['Work order\nWO-17 Oil change\n', 'name'],
  ['Auftrag;Bezeichnung\nUVV;Prüfung\n', 'reference'],
  ['Auftrag;Beginn\nWO-17;01.02.2026\n', 'reference'],
])(
  'a first heading that means a name or a reference is decided by the other headings and its values: %j',
  async (content, target) => {
    const { targets } = await drop('WorkOrder', 'a.csv', content);
    expect(Object.values(targets)[0]).toBe(target);
  },
);

test('titles above the headings are left out, which is no warning', async () => {
  const { notes } = await drop('Asset', 'a.csv', 'Liste;; ;Halle 3;\nStand: 01.03.2026\n\nName;Nr\nKran;1\n');
  expect(notes).toEqual(['Left out:', '  a.csv: 2 title lines above the headings: line 1, "Liste; Halle 3"']);
});

test.each(headings)('in a list of %s, %s have fields', (kind, names, targets) => {
  expect(names.map((name) => proposeTargets(kindNamed(kind), names).get(name) ?? null)).toEqual(targets);
});

test('dates with two orders, and headings that nobody knows, are not guessed', async () => {
  const { choices } = await drop('Project', 'a.csv', 'Name;Von;Bis\nA;31/12/2026;12/31/2026\n');
  expect(choices.dates).toBeUndefined();
  // With dots, the day is first, and another date is wrong.
  const dotted = await drop('Project', 'a.csv', 'Name;Von;Bis\nA;03.12.2026;12.13.2026\nB;03.12.2026;04.12.2026\n');
  expect([dotted.choices.dates, dotted.counts]).toEqual(['31.12.2026', [1, 0, 0, 1]]);
  const american = (dates: string) => drop('Project', 'a.csv', `Name;Von\n${dates}\n`, {}, { dates: '12/31/2026' });
  expect((await american('A;03/04/2026')).choices.dates).toBe('12/31/2026');
  expect((await american('A;03/04/2026\nB;31/12/2026')).choices.dates).toBe('31/12/2026');
  const places = 'Name;Lat;Lon\nA;53.5;8.5\n';
  expect((await drop('Location', 'c.csv', places, {}, { decimalComma: true })).counts).toEqual([1, 0, 0, 0]);
  const many = Array.from({ length: 500 }, (_, n) => `{"kind":"ASSET","name":"A","uid":"${n}"}\n`).join('');
  expect((await drop('Asset', 'all.ndjson', `${many}{"kind":"LOCATION","name":"B"}\n`)).counts).toEqual([501, 0, 0, 0]);
  const { targets, counts } = await drop('Asset', 'b.csv', 'Name;Xyz;Preis;Reifendruck\nA;1;2;3\n');
  expect(targets).toEqual({ Name: 'Name', Xyz: null, Preis: null, Reifendruck: null });
  expect(counts).toEqual([1, 0, 0, 0]);
});

test.each([
  ['Location', 'Yards\n\nStraße;PLZ;Ort;Breite;Länge\nKai 1;20457;Hamburg;53.5;10.0\n'],
  ['WorkOrder', 'Bezeichnung;Auftragsnummer;Gerät\nWartung;W-1;M-002\n'],
  ['Asset', 'Name\nKran\n'],
  ['Asset', 'Xyz;Abc\n1;2\n'],
  ['Location', '[{"Straße":"Kai 1","PLZ":"20457","Ort":"Hamburg"}]', 'Liste.json'],
])(
  'a list dropped where no kind is chosen is one of %s by its headings: %#',
  async (kind, content, name = 'Liste 1.csv') => {
    async function* bytes() {
      yield Buffer.from(content);
    }
    const file = { ...describeFile(name, undefined), bytes, isUnchanged: () => true };
    expect((await likelyKind(file)).name).toBe(kind);
    // On the page of another kind, too, unless its fields have as many of the headings.
    expect((await likelyKind(file, kindNamed('Project'))).name).toBe(kind === 'Asset' ? 'Project' : kind);
  },
);

test.each([Array.from({ length: 501 }, (_, n) => `Column ${n}`), ['N'.repeat(501)]])(
  'a table with too many columns, or too long a heading, is refused: %#',
  async (...names) => {
    await expect(drop('Asset', 'a.csv', `${names.join(';')}\nx\n`)).rejects.toThrow('a file has more than 500 columns');
  },
);
