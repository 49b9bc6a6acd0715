/** A file that is dropped on a table of the explorer, in a real browser: it is previewed and stored as `yardgraph import` does it. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Dialog, Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { barriers, describeInChromium, enterKey, look, moveTo, usePages } from '../support/browser.ts';
import { useService, useSharedService } from '../support/service.ts';

const table = `Name;UID;Acquired at;Current location
Crane;A-1;31.12.2025;North yard
Lift;A-2;01.02.2026;South yard
Truck;A-3;45.02.2026;North yard
`;

async function drop(page: Page, name: string, content: Uint8Array): Promise<void> {
  const data = await page.evaluateHandle(
    ({ name, bytes }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(bytes)], name, { lastModified: 0 }));
      return transfer;
    },
    { name, bytes: [...content] },
  );
  await page.dispatchEvent('main', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
}

describeInChromium('a file in the explorer', () => {
  const open = useService();
  const closed = useSharedService({}, { closed: true });
  const newPage = usePages();

  const assets = async () => {
    const fields = 'name uid acquiredAt currentLocation { name }';
    return (await open.data(`{ assets(orderBy: [{ uid: ASC }]) { nodes { ${fields} } } }`)).assets.nodes;
  };

  const number = async () => (await open.data('{ assets(first: 0) { totalCount } }')).assets.totalCount;

  const visitTable = async () => {
    const { page, visit } = await newPage(open, '/explore?kind=Asset');
    await page.getByText('live', { exact: true }).waitFor();
    return { page, visit };
  };

  test('is previewed, stored but for its refused rows, and undone', async () => {
    const { page, visit } = await visitTable();
    expect(visit.requests.filter((url) => url.includes('import'))).toEqual([]);
    await moveTo(page, 'Europe/Berlin');
    await drop(page, 'assets.csv', new TextEncoder().encode(table));

    // The headings, dates and numbers are understood; somebody says what the file does not.
    await page.getByText('0 new, 3 refused').waitFor();
    expect(await page.getByLabel('Field for Current location').inputValue()).toBe('currentLocation');
    await page.getByText('Current location: there is no location with the name "South yard"').waitFor();
    const create = page.getByRole('button', { name: 'Create all missing locations' }).first();
    // The buttons of an old preview would move below the pointer.
    expect(await create.evaluate((it: HTMLButtonElement) => [it.click(), it.matches(':disabled')].at(-1))).toBe(true);
    await page.getByText('To create: 2 locations, North yard, South yard').waitFor();
    await page.getByRole('button', { name: 'Do not create' }).click();
    await create.click();
    await page.getByText('2 new, 1 refused').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Not clear');
    await page.getByText('Dates such as 31.12.2026', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'Line 4 A-3 Truck' }).getByText('received "45.02.2026"').waitFor();
    expect(await assets()).toEqual([]);
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-import');

    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('2 created, 1 refused').waitFor();
    await page.getByText('Created for links to them: 2 locations, North yard, South yard').waitFor();
    expect(await assets()).toEqual([
      { name: 'Crane', uid: 'A-1', acquiredAt: '2025-12-31T00:00:00.000Z', currentLocation: { name: 'North yard' } },
      { name: 'Lift', uid: 'A-2', acquiredAt: '2026-02-01T00:00:00.000Z', currentLocation: { name: 'South yard' } },
    ]);
    expect(await page.getByRole('link', { name: 'Show the records' }).getAttribute('href')).toContain(
      '?view=imports&id=',
    );
    // The table below is live.
    await page.getByRole('rowheader', { name: 'Crane' }).waitFor();
    // The refused rows exist nowhere else.
    const lost: string[] = [];
    const keep = (dialog: Dialog) => void [lost.push(dialog.message()), dialog.dismiss()];
    page.on('dialog', keep);
    for (const name of ['Close', 'Undo']) await page.getByRole('button', { name, exact: true }).click();
    page.off('dialog', keep);
    expect(lost).toEqual(Array(2).fill('Close this import, and lose 1 row not stored?'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'assets.refused.csv' }).click(),
    ]);
    const refused = readFileSync(await download.path(), 'utf8');
    expect(refused).toMatch(
      /^\uFEFFName;UID;Acquired at;Current location;refused because\nTruck;A-3;45\.02\.2026;North yard;"refused: Acquired at: expected a day that exists/,
    );
    expect(refused.trim().split('\n')).toHaveLength(2);

    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('dialog.import').waitFor({ state: 'detached' });

    // The corrected rows come back with the choices of their import, on whatever page they are dropped, read or not.
    const isShown = page.getByText('1 new', { exact: true }).waitFor();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('importRuns')) await isShown;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Imports' }).click();
    const corrected = refused.replace('45.02.2026', '03.02.2026 07:30').replace('North', 'East');
    await drop(page, 'assets.refused.csv', new TextEncoder().encode(corrected));
    await page.getByText('Dates such as 31.12.2026, times in Europe/Berlin', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Imports' }).waitFor();
    await isShown;
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('1 created').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    expect((await assets()).at(-1)).toMatchObject({ name: 'Truck', acquiredAt: '2026-02-03T06:30:00.000Z' });
    // Next month, an unknown name may be a misspelt one.
    await drop(page, 'assets.csv', new TextEncoder().encode(table.replace(/North|South/g, 'Norht')));
    await page.getByText('0 new, 3 refused').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();

    // Any import can be undone later, and its row stays the same one below the new row of the undo.
    await page.reload();
    const row = page.getByRole('row', { name: /^assets.csv/ });
    await row.getByRole('link', { name: 'assets.csv' }).click();
    await page.getByRole('rowheader', { name: 'North yard' }).waitFor();
    expect(await page.getByRole('rowheader').allInnerTexts()).toEqual(['Crane', 'Lift', 'North yard', 'South yard']);
    await page.goBack();
    const shown = await row.elementHandle();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      return asked.length === 1 ? dialog.dismiss() : dialog.accept();
    });
    for (const _ of ['no', 'yes']) await row.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/changes undone/).waitFor();
    await row.getByText(/^undone/).waitFor();
    await page.getByRole('row', { name: 'Undo of assets.csv' }).waitFor();
    expect(asked).toEqual(Array(2).fill('Undo the import of assets.csv? Of its records, 4 will be deleted.'));
    expect(await shown?.innerText()).toContain('undone');
    await row.getByRole('link', { name: 'assets.csv' }).click();
    await page.getByText('None of these records is stored now').waitFor();
    expect(await assets()).toMatchObject([{ name: 'Truck' }]);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('that was stopped says how far it came, and goes on where it is dropped again, not in another tab: nothing is stored twice', async () => {
    const rows = Array.from({ length: 1_001 }, (_, n) => `{"name":"Crane ${n}","currentLocation":"Yard"}\n`);
    const file = gzipSync(`{"name":"Summe"}\n${rows.join('')}`);
    const { page } = await visitTable();
    const other = await page.context().newPage();
    await other.goto(page.url());
    const press = async (tab: Page, name: string) => {
      // A tab behind another is drawn once a second.
      await tab.bringToFront();
      await tab.getByRole('button', { name, exact: true }).click();
    };
    for (const tab of [page, other]) {
      tab.on('dialog', (dialog) => dialog.accept());
      await tab.getByText('live', { exact: true }).waitFor();
      await drop(tab, 'assets.ndjson.gz', file);
      await press(tab, 'Create it');
      await press(tab, 'Leave out');
      await tab.getByRole('button', { name: 'Import 1,001 rows' }).waitFor();
    }
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isStored = (request: Request) => request.postData()?.includes('"dryRun":false') ?? false;
    await page.route('**/graphql', async (route) => {
      if (isStored(route.request())) await held;
      await route.continue();
    });
    const sent = page.waitForRequest(isStored);
    await press(page, 'Import 1,001 rows');
    await sent;
    // A file that is dropped meanwhile does not end the import.
    await drop(page, 'other.csv', new TextEncoder().encode('name\nPump\n'));
    await press(other, 'Import 1,001 rows');
    await other.getByRole('alert').getByText('in another tab').waitFor();
    await press(other, 'Close');
    await press(page, 'Stop');
    release();
    await page.getByRole('alert').getByText('was stopped. Stored or refused so far: 1,000 of 1,002 rows').waitFor();
    expect(await number()).toBe(1_000);

    // On another page, too. Other choices would store its rows a second time.
    await page.goto(`${await page.evaluate(() => location.origin)}/explore?view=imports`);
    await page.getByText('live', { exact: true }).waitFor();
    await drop(page, 'assets.ndjson.gz', file);
    await page.getByText('This import was stopped').waitFor();
    await page.getByLabel('Field for name').selectOption('uid');
    await page.getByRole('alert').getByText('was stopped with other choices').waitFor();
    await page.getByLabel('Field for name').selectOption('name');
    await page.getByText('This import was stopped').waitFor();
    await drop(other, 'assets.ndjson.gz', file);
    await other.getByRole('button', { name: 'Go on' }).waitFor();
    await press(page, 'Go on');
    await page.getByText('1,001 created, 1 left out').waitFor();
    // It has ended, and is not known any more.
    await press(other, 'Go on');
    await other.getByRole('alert').getByText('in another tab').waitFor();
    expect(await number()).toBe(1_001);
  });

  test('is counted at once, and undone from its dialog as from the list; its message goes with the next one', async () => {
    const { page, origin } = await newPage(open);
    // The page counts after its own writes alone.
    await page.addInitScript('window.setInterval = () => 0');
    await page.goto(`${origin}/explore?kind=Asset`);
    await page.getByText('live', { exact: true }).waitFor();
    const file = new TextEncoder().encode('name\nCrane\n');
    await drop(page, 'assets.csv', file);
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('1 created').waitFor();
    await page.locator('#side a', { hasText: /^Assets\s+1$/ }).waitFor();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      return asked.length === 1 ? dialog.dismiss() : dialog.accept();
    });
    for (const _ of ['no', 'yes']) await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('#side a', { hasText: /^Assets\s+0$/ }).waitFor();
    const message = page.getByText('1 change undone.');
    await message.waitFor();
    expect(asked).toEqual(Array(2).fill('Undo the import of assets.csv? Of its records, 1 will be deleted.'));
    await drop(page, 'assets.csv', file);
    await page.getByText('1 new', { exact: true }).waitFor();
    expect(await message.count()).toBe(0);
  });

  test('that is stored, and whose end is not seen, is not stored again', async () => {
    const { page } = await visitTable();
    await drop(page, 'assets.csv', new TextEncoder().encode('name\nCrane\n'));
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('importRun(')
        ? route.fulfill({ status: 400, json: { errors: [{ message: 'the connection was lost' }] } })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByRole('alert').getByText('the connection was lost').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('1 created').waitFor();
    expect(await number()).toBe(1);
  });

  test('is imported where the browser has damaged or old entries, and not where it has no room', async () => {
    const { page } = await visitTable();
    const note = `import ${JSON.stringify([{ workspace: { id: 'default' }, user: null }, [['assets.csv', 11, 0]]])}`;
    const full = "for (let n = 6e6; n > 1; n = Math.floor(n * 0.8)) try { localStorage[n] = 'x'.repeat(n); } catch {}";
    const damage = (entry: string) => `localStorage['yardgraph.imports'] = localStorage['${note}'] = '${entry}'`;
    const old = String.raw`[["default\\nAssets name",{"targets":{"Assets name":"name"},"names":{"x":{"Old":"New"}}}]]`;
    for (const script of [damage('{'), damage('null'), damage('[null]'), damage(old), full]) {
      await page.evaluate(script);
      await drop(page, 'assets.csv', new TextEncoder().encode('name\nCrane\n'));
      await page.getByText('1 new', { exact: true }).waitFor();
      expect(await page.getByText('Old → New').count()).toBe(0);
      if (script !== full) await page.getByRole('button', { name: 'Close' }).click();
    }
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByRole('alert').getByText('this browser has no room left').waitFor();
    expect(await number()).toBe(0);
  });

  test('with machine numbers in place of names finds the machines, also where no table says the kind of its rows', async () => {
    await open.create('/assets', { name: 'Crane', uid: 'M-002' });
    const { page } = await newPage(open, '/explore');
    await page.getByText('live', { exact: true }).waitFor();
    await drop(page, 'Liste.csv', new TextEncoder().encode('Bezeichnung;Gerät\nA;Crane\nB;M-002\n'));
    // The row with a name would be refused by the numbers.
    await page.getByRole('row', { name: 'Line 3: M-002' }).getByText('Correct it in the file').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await drop(page, 'Liste.csv', new TextEncoder().encode('Bezeichnung;Auftragsnummer;Gerät\nWartung;W-1;M-002\n'));
    await page.getByRole('button', { name: 'Use the asset with this number' }).click();
    await page.getByText('1 new', { exact: true }).waitFor();
    await page.getByText('Number of assets').waitFor();
    const menu = page.getByLabel('Field for Gerät');
    expect(await menu.locator('option:checked').innerText()).toBe('Asset, by number');
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('1 created').waitFor();
    expect(await open.data('{ workOrders { nodes { name asset { uid } } } assets { totalCount } }')).toEqual({
      workOrders: { nodes: [{ name: 'Wartung', asset: { uid: 'M-002' } }] },
      assets: { totalCount: 1 },
    });
  });

  test('asks what becomes of totals, and of rows that would rename stored records, for this file alone', async () => {
    await open.create('/assets', { name: 'Excavator', uid: 'A-1' }, { name: 'LIFT', uid: 'A-2' });
    const { page } = await visitTable();
    const file = new TextEncoder().encode('Name;UID\nCrane;A-1\nLift ;A-2\nTruck;A-3\nGesamt 2;A-4\nSumme;\n');
    await drop(page, 'assets.csv', file);
    const doubt = (text: string) => page.locator('.notice').filter({ hasText: text });
    const totals = doubt('2 rows may be a total or a footer: line 5, Gesamt 2; line 6, Summe');
    const renames = doubt('1 row would rename a stored asset, found by Number: line 2, Excavator → Crane');
    const leaveOut = () => totals.getByRole('button', { name: 'Leave out' }).click();
    await page.getByText('First answer the questions above.').waitFor();
    expect(await page.getByRole('button', { name: /^Import \d/ }).count()).toBe(0);
    await leaveOut();
    await page.getByText('1 new, 2 changed, 2 left out').waitFor();
    await totals.getByRole('button', { name: 'Import' }).click();
    await page.getByText('2 new, 2 changed, 1 refused').waitFor();
    await leaveOut();
    await renames.getByRole('button', { name: 'Leave out' }).click();
    await page.getByText('1 new, 1 changed, 3 left out').waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-import-doubts');
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('1 created, 1 updated, 3 left out').waitFor();
    expect((await assets()).map(({ name }: { name: string }) => name)).toEqual(['Excavator', 'Lift ', 'Truck']);
    await page.getByRole('button', { name: 'Close' }).click();

    await drop(page, 'assets.csv', file);
    await leaveOut();
    await renames.getByRole('button', { name: 'Import' }).click();
    await renames.getByRole('button', { name: '✓ Import' }).waitFor();
    // With another key, other rows are in doubt.
    await page.getByText('How the values are read').click();
    await page.getByLabel('Stored records are found by').selectOption('');
    // Totals are the same.
    await page.getByText('0 new, 3 refused, 2 left out').waitFor();
    await totals.getByRole('button', { name: '✓ Leave out' }).waitFor();

    // A remedy puts another row in the same doubt.
    await open.create('/locations', { name: 'North yard' });
    page.once('dialog', (dialog) => dialog.accept());
    const misspelt = 'Name;UID;Current location\nCrane;A-1;\nHoist;A-3;Nort yard\n';
    await drop(page, 'moved.csv', new TextEncoder().encode(misspelt));
    await renames.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('button', { name: 'Use "North yard"' }).click();
    await doubt('2 rows would rename a stored asset, found by Number').waitFor();
    await page.getByText('First answer the questions above.').waitFor();
  });

  test('that was exported says what changes, and which names were changed after it was written', async () => {
    const [yard, lock] = (await open.post('/locations', [{ name: 'Yard' }, { name: 'Lock' }])).body;
    const links = [yard.id, lock.id].map((currentLocationId) => ({ name: 'Crane', currentLocationId }));
    const others = [{ name: 'Truck' }, { ...links[1], name: 'Pump' }];
    const [crane, lift, truck, pump] = (await open.post('/assets', [...links, ...others])).body;
    await open.graphql(`mutation { updateLocations(input: [{ id: "${lock.id}", name: "Kiel lock" }]) { id } }`);
    const heads = 'id,name,uid,acquiredAt,manufacturedAt,currentLocationId,currentLocation.name,createdAt,updatedAt';
    const row = (asset: { id: string }, name: string, at: string, { id }: { id: string }, location: string) =>
      `${asset.id},${name},,${at},,${id},${location},${at},${at}\n`;
    const named = row(lift, 'Crane', '', lock, 'Lock') + row(truck, 'Truck', '', lock, 'Yard');
    const misspelt = row(pump, 'Pump', '', lock, 'Yarf');
    const rows = row(crane, 'Lift', '2026-02-03', yard, 'Yard') + named + misspelt;
    const { page } = await visitTable();
    await drop(page, 'assets.csv', new TextEncoder().encode(`${heads}\n${rows}`));

    const problem = page.getByRole('row', { name: 'Line 3: Lock' });
    await problem.getByText('The ID beside it is that of "Kiel lock". Was it renamed').waitFor();
    // Its button would change other rows with the name of the yard.
    await page.getByRole('row', { name: 'Line 4: Yard' }).getByText('Correct it in the file').waitFor();
    const misspeltRow = page.getByRole('row', { name: 'Line 5: Yarf' });
    expect((await misspeltRow.getByRole('button').allInnerTexts()).slice(0, 2)).toEqual([
      'Use "Yard"',
      'Use "Kiel lock"',
    ]);
    await page.getByText('Columns: 7 of 9 become fields').waitFor();
    expect(await page.getByLabel('Field for uid').isVisible()).toBe(false);
    expect(await barriers(page)).toEqual([]);
    await problem.getByRole('button', { name: 'Use "Kiel lock"' }).click();
    await page.getByText('0 new, 1 changed, 1 unchanged, 2 refused').waitFor();
    const preview = page.locator('.card').filter({ has: page.getByRole('region', { name: 'Changes' }) });
    expect(await preview.evaluate((it) => getComputedStyle(it).maxHeight)).toBe('320px');
    await page.getByText('1 row would replace newer values of stored assets: line 2, Lift').waitFor();
    expect(await page.getByText('probably wrong').count()).toBe(0);
    const changes = await page
      .getByRole('row', { name: /^Crane/ })
      .last()
      .innerText();
    expect(changes.replace(/\s+/g, ' ')).toMatch(/^Crane Name Crane → Lift Acquired at nothing → .*3.*2026/);
  });

  test('says of its rows, in words, which records are not stored, and imports deleted ones as new', async () => {
    const ids = ['asset_00000000000000000000000001', 'asset_00000000000000000000000002'];
    const [stored] = (await open.post('/assets', [{ name: 'Lift' }])).body;
    const { page } = await visitTable();
    const rows = [stored.id, ...ids, 'location_00000000000000000000000003'].map((id) => `${id};Crane\n`);
    await drop(page, 'a.csv', new TextEncoder().encode(`ID;Name\n${rows.join('')}`));
    await page.getByRole('row', { name: 'Line 5' }).getByText('is the ID of a location').waitFor();
    await page.getByText('2 rows may belong to a deleted asset: line 3, Crane; line 4, Crane').waitFor();
    await page.getByRole('button', { name: 'Import as new' }).click();
    await page.getByText('2 new, 1 changed, 1 refused', { exact: true }).waitFor();
    page.on('dialog', (dialog) => dialog.accept());
    await drop(page, 'b.refused.csv', new TextEncoder().encode('Gerätenummer;Standort\nXX-1;\n'));
    await page.getByText('Name: no asset has the Number "XX-1", and a new one needs a name').waitFor();
    await page.getByRole('button', { name: 'Get the refused rows' }).click();
    await page.getByText('Nothing was stored. 0 created, 1 refused').waitFor();
    await page.getByRole('link', { name: 'b.refused.csv', exact: true }).waitFor();
    await drop(page, 'work-orders.csv', new TextEncoder().encode('Name;Beginn;Ende\nOil;14.12.2026;11.12.2026\n'));
    await page
      .getByText(/would end before the start: line 2, Oil, (Mon )?Dec 14(, 2026)? – (Fri )?Dec 11(, 2026)?\./)
      .waitFor();
    expect(await page.getByText('probably wrong').count()).toBe(0);
    await drop(page, 'work-orders.csv', new TextEncoder().encode('Name;Gerätenummer\nOil;XX-1\n'));
    await page.getByText('Asset: there is no asset with the Number "XX-1"').waitFor();
    await open.create('/labels', { key: 'STATUS:7', name: 'Rented' }, { key: 'COMPANY:4', name: 'Acme' });
    await drop(page, 'c.csv', new TextEncoder().encode('Name;Hersteller;Status\nKran;Förster;\nLift;;Reserviert\n'));
    const create = page.getByRole('button', { name: 'Create it' });
    await create.first().click();
    // A status may be misspelt where a company is new.
    await page.getByText(/^To create: company Förster/).waitFor();
    await page.getByRole('row', { name: 'Line 3: Reserviert' }).waitFor();
    await create.click();
    await page.getByText(/^To create: company Förster, status Reserviert/).waitFor();
    await page.getByRole('button', { name: 'Do not create' }).click();
    await page.getByText('0 new, 2 refused').waitFor();
  });

  test('proposes the stored name for one with a wrong letter, and says that new rows have names of stored records', async () => {
    await open.create('/locations', { name: 'Hamburg yard' }, { name: 'Bay 3' });
    await open.create('/assets', { name: 'Crane' }, { name: 'Crane' });
    const { page } = await visitTable();
    await drop(page, 'assets.csv', new TextEncoder().encode('Name;Standort\nCrane;Hamburk yard\nLift;Bay 4\n'));
    await page.getByRole('row', { name: 'Line 3: Bay 4' }).getByRole('button').waitFor();
    expect(await page.getByRole('button', { name: /^Use/ }).allInnerTexts()).toEqual(['Use "Hamburg yard"']);
    await page.getByRole('button', { name: /^Use/ }).click();
    await page.getByText('Hamburk yard → Hamburg yard').waitFor();
    await page.getByRole('button', { name: 'Do not use' }).click();
    await page.getByRole('button', { name: /^Use/ }).click();
    await page.getByText('1 row with names of stored records, such as Crane. They become second records.').waitFor();
    // Choices are entries of somebody, as those of a form.
    const question = 'Close this import, and lose your choices?';
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type() === 'confirm' ? dialog.message() : dialog.type());
      return dialog.dismiss();
    });
    await page.evaluate("location.assign('explore?view=imports')");
    await page.getByRole('button', { name: 'Close' }).click();
    for (const _ of ['first', 'second']) await page.keyboard.press('Escape');
    await drop(page, 'other.csv', new TextEncoder().encode('name\nPump\n'));
    await page.getByRole('heading', { name: 'Import assets.csv' }).waitFor();
    await expect.poll(() => asked).toEqual(Array(5).fill(question));
    await page.evaluate('location.reload()');
    await expect.poll(() => asked.slice(5)).toEqual(['beforeunload']);
  });

  test.each([
    ['TX 18;MB-3001\nTX 20;MB-3002;\nTX 22;MB-3003;new\n', '0 new, 2 refused', 1],
    ['Xyz;Bezeichnung\nTX 20;MB-3002\n', '1 new', 0],
  ])(
    'asks for headings where none is known, and can take the first row as a record: %j',
    async (content, counts, count) => {
      const { page } = await visitTable();
      await drop(page, 'assets.csv', new TextEncoder().encode(content));
      await page.getByText(counts, { exact: true }).waitFor();
      const question = page.getByText('No heading is known. Does the first row of the file have headings?');
      expect(await question.count()).toBe(count);
      if (count === 0) return;
      await page.getByRole('button', { name: 'No: the first row is a record' }).click();
      for (const [column, field] of ['name', 'uid', 'manufacturer'].entries())
        await page.getByLabel(`Field for Column ${column + 1}`).selectOption(field);
      await page.getByRole('button', { name: 'Import 3 rows' }).click();
      await page.getByText('3 created').waitFor();
      expect(await assets()).toMatchObject([{ name: 'TX 18', uid: 'MB-3001' }, { uid: 'MB-3002' }, { uid: 'MB-3003' }]);
    },
  );

  test('of a program is not undone with the changes of others, from which no message tells its own', async () => {
    const run = { 'x-import-run': 'positions' };
    for (const headers of [run, {}, run]) await open.post('/assets', [{ name: 'Crane' }], headers);
    const { page } = await newPage(open, '/explore?view=imports');
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('row', { name: 'positions' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Not undone: others have made changes meanwhile').waitFor();
    expect(await number()).toBe(3);
  });

  test('is said to be undone perhaps, where its undo has no response', async () => {
    await open.post('/assets', [{ name: 'Crane' }], { 'x-import-run': 'run' });
    const { page } = await newPage(open, '/explore?view=imports');
    page.once('dialog', (dialog) => dialog.accept());
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('revertChanges')) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('It is not known whether the service has done this.').waitFor();
    await page.getByRole('row', { name: /^run .* undone/ }).waitFor();
    expect(await number()).toBe(0);
  });

  test('goes on with an undo that was stopped', async () => {
    for (const name of ['Crane', 'Lift']) await open.post('/assets', [{ name }], { 'x-import-run': 'run' });
    const query = 'mutation { revertChanges(after: "1", upTo: "2") { made } }';
    await open.send('POST', '/graphql', { query }, { 'x-import-run': 'undo-run' });
    const { page } = await newPage(open, '/explore?view=imports');
    const run = page.getByRole('row', { name: /^run/ });
    await run.getByText('partly undone').waitFor();
    const asked = page.waitForEvent('dialog');
    const pressed = run.getByRole('button', { name: 'Undo the rest' }).click();
    const question = await asked;
    expect(question.message()).toBe('Undo the rest of the import of run, but for what others have changed?');
    await question.accept();
    await pressed;
    await expect.poll(number).toBe(0);
    await run.getByText(/^undone/).waitFor();
  });

  test('of a program is undone once, and again where it has gone on, with an ID and a message of any length', async () => {
    const [id, message] = ['p'.repeat(63), 'm'.repeat(499)];
    const create = (run: number) =>
      open.post('/assets', [{ name: 'Crane' }], { 'x-import-run': id + run, 'x-change-message': message + run });
    for (const run of [1, 2]) await create(run);
    const { page } = await newPage(open, '/explore?view=imports');
    const rowOf = (run: number) => page.getByRole('row', { name: new RegExp(`^${message}${run}`) });
    const undo = rowOf(1).getByRole('button', { name: 'Undo' });
    page.once('dialog', (dialog) => dialog.accept());
    await undo.click();
    await rowOf(1).getByText('undone').waitFor();
    expect(await rowOf(2).innerText()).not.toContain('undone');
    await create(1);
    page.once('dialog', async (dialog) => {
      await open.data('mutation { revertChanges(after: "3", upTo: "4") { made } }');
      await dialog.accept();
    });
    await undo.click();
    await page.getByText('Not undone: it was undone already, or all its records have changed since.').waitFor();
  });

  test('says how many of its new records an undo has kept, and why, and is itself again after the undo of its undo', async () => {
    const headers = { 'x-import-run': 'run', 'x-change-message': 'import of cranes.csv (run)' };
    const [crane] = (await open.post('/assets', [{ name: 'Crane' }, { name: 'Lift' }], headers)).body;
    await open.post('/labels', [{ key: 'STATUS:7', name: 'Rented' }], headers);
    await open.graphql(`mutation { updateAssets(input: [{ id: "${crane.id}", statusId: "7" }]) { id } }`);
    const { page } = await newPage(open, '/explore?view=imports');
    page.on('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 change undone, 2 not undone: 1 asset changed since, 1 label used since.').waitFor();
    await page.getByRole('row', { name: /^cranes.csv .* partly undone / }).waitFor();
    await page.getByRole('link', { name: 'cranes.csv', exact: true }).click();
    await page.locator('.head').getByText('partly undone').waitFor();
    await page.getByRole('link', { name: 'Imports' }).first().click();
    const asked = page.waitForEvent('dialog').then((dialog) => dialog.message());
    await page.getByRole('row', { name: 'Undo of cranes.csv' }).getByRole('button', { name: 'Undo' }).click();
    expect(await asked).toBe('Undo the undo of cranes.csv? Of its records, 1 will be stored again.');
    const again = page.getByRole('row', { name: /^cranes.csv again/ });
    await again.getByRole('button', { name: 'Undo' }).click();
    // Each undo has a row, and each change is undone once.
    await page.getByRole('row', { name: 'Undo of cranes.csv again' }).waitFor();
    await again.getByText('undone').waitFor();
    expect(await page.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(1);
  });

  test('is imported from the page of a status, too', async () => {
    const { page } = await newPage(open, '/explore?kind=Status&id=status-7');
    await page.getByText('live', { exact: true }).waitFor();
    await drop(page, 'assets.csv', new TextEncoder().encode('name\nCrane\n'));
    await page.getByRole('heading', { name: 'Import assets.csv' }).waitFor();
  });

  test('is not imported with a key that can only read, and the page says so', async () => {
    const { page } = await newPage(closed, '/explore');
    await enterKey(page, await closed.key({ workspace: 'default', readOnly: true }));
    await page.getByText('live', { exact: true }).waitFor();
    await drop(page, 'assets.csv', new TextEncoder().encode('name\nCrane\n'));
    await page.getByText('This key cannot import files here: enter another one.').waitFor();
  });

  test('is stored only in the workspace of its page, as what is entered in a form', async () => {
    const [key, other] = [await closed.key({ workspace: 'own' }), await closed.key({ workspace: 'other' })];
    const { page } = await newPage(closed, '/explore?kind=Asset&view=new');
    await enterKey(page, key);
    await page.getByLabel('Name').fill('Crane');
    await page.getByRole('button', { name: /^API key/ }).click();
    // Its entries stay.
    page.on('dialog', (dialog) => (dialog.type() === 'beforeunload' ? dialog.dismiss() : dialog.accept()));
    await enterKey(page, other);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved: the key is of another workspace than this page.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Crane');
    await drop(page, 'assets.csv', new TextEncoder().encode('name\nCrane\n'));
    for (const _ of ['first', 'again']) {
      await page.getByText('the key is of another workspace than this page.').last().waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
    }
    for (const name of [key, other])
      expect(await closed.as(name).data('{ assets { totalCount } }')).toEqual({ assets: { totalCount: 0 } });
  });

  test('ends where its key is refused, and goes on with another key of its user', async () => {
    const [key, next] = [await closed.key({ user: 'one' }), await closed.key({ user: 'one' })];
    const { page } = await newPage(closed, '/explore?kind=Asset');
    await enterKey(page, key);
    await page.getByText('live', { exact: true }).waitFor();
    const file = new TextEncoder().encode('name\nCrane\n');
    // Loaded, it would open at once.
    await page.evaluate("import('./pages/import.js')");
    await page.getByRole('button', { name: /^API key/ }).click();
    // It would be below the dialog of the import.
    await drop(page, 'assets.csv', file);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await drop(page, 'assets.csv', file);
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    let refusals = 0;
    await page.route('**/graphql', (route) => {
      if (!route.request().postData()?.includes('"dryRun":false') || refusals > 0) return route.continue();
      refusals += 1;
      return route.fulfill({ status: 401, json: { errors: [{ message: 'the API key is not valid' }] } });
    });
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await enterKey(page, next);
    // The page is loaded anew, and the old one is live, too.
    await page.locator('import-dialog').waitFor({ state: 'detached' });
    await page.getByText('live', { exact: true }).waitFor();
    // It is not sent again: the next key may be of another workspace.
    expect(await closed.as(key).data('{ assets { totalCount } }')).toEqual({ assets: { totalCount: 0 } });
    await drop(page, 'assets.csv', file);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('1 created').waitFor();
  });

  test.each([
    ['imports', 'Undo'],
    ['deleted', 'Restore'],
  ])('of a workspace is undone there, whatever key another tab has: %s', async (view, name) => {
    const [key, otherKey] = [
      await closed.key({ workspace: view, user: 'planner' }),
      await closed.key({ workspace: `${view}-2` }),
    ];
    const [own, other] = [closed.as(key), closed.as(otherKey)];
    const [{ id }] = (await own.post('/assets', [{ name: 'Crane' }], { 'x-import-run': 'run' })).body;
    if (view === 'deleted') await own.data(`mutation { deleteAssets(ids: ["${id}"]) { id } }`);
    await other.create('/assets', { name: 'Lift' }, { name: 'Pump' });
    const { page } = await newPage(closed, '/explore');
    const useKey = (key: string) => page.evaluate(`sessionStorage.setItem('yardgraph.key', '${key}')`);
    await useKey(key);
    await page.goto(`${page.url()}?view=${view}`);
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name }).waitFor();
    await page.getByRole('table').getByText('planner').waitFor();
    await useKey(otherKey);
    await page.getByRole('button', { name: /^API key/ }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name }).click();
    await page.getByText(/(undone|restored)\./i).waitFor();
    const count = async (workspace: typeof own) =>
      (await workspace.data('{ assets { totalCount } }')).assets.totalCount;
    expect([await count(own), await count(other)]).toEqual([view === 'deleted' ? 1 : 0, 2]);
  });
});
