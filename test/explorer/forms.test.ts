/** The forms of the explorer in a real browser: which values are stored, and which changes of others stay. */
import { parse } from 'graphql';
import type { Locator, Page, Route } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { barriers, describeInChromium, look, moveTo, usePages } from '../support/browser.ts';
import { useSharedService } from '../support/service.ts';

const stored = {
  name: 'Set up the crane',
  statusId: 'status-planned',
  startDate: '2026-03-02T06:00:00.000Z',
  endDate: '2026-03-02T11:00:30.123Z',
  notes: 'The road to the quay\r\nis closed.',
};

describeInChromium('a work order in the explorer', () => {
  const service = useSharedService();
  const newPage = usePages();
  let locations: { id: string }[];
  let order: { id: string };

  beforeAll(async () => {
    const yards = [{ name: 'North yard' }, { name: 'South yard' }, { name: 'South yard', address1: 'Quay 2' }];
    locations = await service.create('/locations', ...yards.map((yard) => ({ ...yard, city: 'Bremen' })));
    await service.create('/work-orders', { statusId: 'status-released' });
  });
  beforeEach(async () => {
    [order] = (await service.create('/work-orders', { ...stored, locationId: locations[0]?.id })) as [{ id: string }];
  });

  const read = async () => {
    const fields =
      'name statusId startDate endDate locationId notes externalIds updatedAt history { nodes { action } }';
    return (await service.data(`query ($id: ID!) { workOrder(id: $id) { ${fields} } }`, { id: order.id })).workOrder;
  };

  /** `sent`: what was sent to change work orders. */
  const openForm = async () => {
    const { page, visit, origin } = await newPage(service);
    await moveTo(page, 'Europe/Berlin');
    const sent: object[] = [];
    await page.route('**/graphql', (route) => {
      const body = route.request().postData() ?? '';
      if (body.includes('updateWorkOrders')) sent.push(JSON.parse(body).variables.input);
      return route.continue();
    });
    await page.goto(`${origin}/explore?kind=WorkOrder&id=${order.id}`);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('form', { name: 'Edit' }).waitFor();
    return { page, visit, sent };
  };

  const save = (page: Page, name = 'Save') => page.getByRole('button', { name, exact: true });
  const saveAllTheSame = (page: Page) => save(page, 'Save all the same').click();
  const status = (page: Page) => page.locator('.toast');

  const issueAt = (page: Page, name: string) => page.locator(`#field-${name}-error`);

  const change = (values: object) =>
    service.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, ...values }],
    });

  test('keeps what others change, in a field that was restored and after an undo, and a text that no input can show', async () => {
    await change({ name: 'Set up\nthe crane' });
    const { page, sent } = await openForm();
    const input = (name: string) => page.locator(`[name="${name}"]`);
    await input('reference').fill('R-1');
    await input('reference').fill('');
    await change({ reference: 'R-9' });
    await expect.poll(() => input('reference').inputValue()).toBe('R-9');
    await input('notes').fill('It is open.');
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('updateWorkOrders')) return route.fallback();
      const response = await route.fetch();
      sent.push(JSON.parse(route.request().postData() ?? '').variables.input);
      await change({ reference: 'R-10' });
      return route.fulfill({ response });
    });
    await save(page).click();
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page)
      .getByText(/undone/i)
      .waitFor();

    expect(sent).toEqual([[{ id: order.id, ifUpdatedAt: expect.any(String), notes: 'It is open.' }]]);
    const query = 'query ($id: ID!) { workOrder(id: $id) { name reference } }';
    const { workOrder } = await service.data(query, { id: order.id });
    expect(workOrder).toEqual({ name: 'Set up\nthe crane', reference: 'R-10' });
  });

  test('is moved by a day, with nothing else changed, and back', async () => {
    const before = await read();
    const nextDay = { startDate: '2026-03-03T06:00:00.000Z', endDate: '2026-03-03T11:00:30.123Z' };
    const { page, visit, sent } = await openForm();
    expect(await page.evaluate('document.activeElement.name')).toBe('name');

    const input = (name: string) => page.locator(`[name="${name}"]`);
    const values = () =>
      Promise.all(['startDate', 'startDate.time', 'endDate', 'endDate.time'].map((name) => input(name).inputValue()));
    expect(await values()).toEqual(['2026-03-02', '07:00', '2026-03-02', '12:00:30.123']);
    // The end goes along with a start that would be after it, from where it was, and back.
    for (const [day = '', end, remark] of [
      ['2026-03-04', '2026-03-04', 'Wednesday, moved with the start'],
      ['2026-03-05', '2026-03-05', 'Thursday, moved with the start'],
      ['', '2026-03-02', 'Monday'],
      ['2026-03-03', '2026-03-03', 'Tuesday, moved with the start'],
    ]) {
      await input('startDate').fill(day);
      expect(await input('endDate').inputValue()).toBe(end);
      await issueAt(page, 'endDate').getByText(`${remark}`, { exact: true }).waitFor();
    }
    // One that somebody has entered stays.
    await input('endDate').fill('2026-03-04');
    for (const day of ['2026-03-04', '2026-03-03']) await input('startDate').fill(day);
    expect(await input('endDate').inputValue()).toBe('2026-03-04');
    await input('endDate').fill('2026-03-02');
    await save(page).click();
    await issueAt(page, 'endDate').getByText('The end is before the start.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('endDate');
    expect(sent).toEqual([]);
    await page.getByLabel('Move start and end by days').fill('-1');
    await input('endDate').fill('2026-03-02');
    await page.getByLabel('Move start and end by days').fill('0');
    await issueAt(page, 'endDate').getByText('Tuesday').waitFor();
    await page.getByText('Times are in Europe/Berlin.').waitFor();
    await save(page).dblclick();
    await status(page).getByText('Saved.').waitFor();

    expect(sent).toEqual([[{ id: order.id, ifUpdatedAt: before.updatedAt, ...nextDay }]]);
    expect(await read()).toMatchObject({ ...stored, ...nextDay, locationId: locations[0]?.id });
    await page.locator('dd time[datetime="2026-03-03T06:00:00.000Z"]').waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-saved');

    // The keyboard is beside the undo, which can be undone.
    for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
    await status(page).getByText('Undone.').waitFor();
    // The second click of a double click does not press the button that takes its place.
    await status(page).getByRole('button', { name: 'Redo' }).hover();
    for (const press of ['down', 'up'] as const) await page.mouse[press]({ clickCount: 2 });
    await status(page).getByText('Undone.').waitFor();
    expect(await read()).toMatchObject({ ...stored, locationId: locations[0]?.id });
    await page.locator('dd time[datetime="2026-03-02T06:00:00.000Z"]').waitFor();
    await status(page).getByRole('button', { name: 'Redo' }).click();
    await status(page).getByText('Redone.').waitFor();
    expect(await read()).toMatchObject(nextDay);
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('Undone.').waitFor();
    await page.locator('dd time[datetime="2026-03-02T06:00:00.000Z"]').waitFor();
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    expect(await status(page).count()).toBe(0);
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('is stored when somebody goes on to another page meanwhile, and stays there', async () => {
    const { page } = await openForm();
    await page.getByLabel('Notes').fill('Bring chains.');
    const gates = ['updateWorkOrders', 'projects('].map((part) => {
      const gate = { part, open: () => {}, isOpen: Promise.resolve() };
      gate.isOpen = new Promise((resolve) => {
        gate.open = resolve;
      });
      return gate;
    });
    await page.route('**/graphql', async (route) => {
      const body = route.request().postData() ?? '';
      const gate = gates.find(({ part }) => body.includes(part));
      if (!gate) return route.fallback();
      const response = await route.fetch();
      await gate.isOpen;
      await route.fulfill({ response });
    });
    page.on('dialog', (dialog) => dialog.accept());
    await save(page).click();
    await page.getByRole('button', { name: 'Saving…' }).waitFor();
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.waitForURL(/kind=Project/);
    gates[0]?.open();
    await status(page).getByText('Saved.').waitFor();
    gates[1]?.open();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(page.url()).toContain('kind=Project');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(await read()).toMatchObject({ notes: 'Bring chains.' });
  });

  test('is not left with unsaved changes without a question, and shows at its field what is refused', async () => {
    const { page, sent } = await openForm();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      return dialog.dismiss();
    });
    await page.getByRole('link', { name: 'Assets' }).click();
    await page.getByRole('heading', { name: 'Assets' }).waitFor();
    expect(asked).toEqual([]);
    await page.goBack();
    await page.getByRole('form', { name: 'Edit' }).waitFor();
    // A text that names no location yet is asked about, too.
    const place = page.getByRole('combobox', { name: 'Location' });
    await place.fill('Nor');
    await page.getByRole('link', { name: 'Assets' }).click();
    await expect.poll(() => asked).toEqual(['confirm']);
    asked.length = 0;
    await place.fill('North yard');
    await place.press('Enter');
    const notes = page.getByLabel('Notes');
    const long = 'n'.repeat(10_001);
    await notes.fill(long);
    await page.getByRole('link', { name: 'Assets' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.evaluate('setTimeout(() => location.reload())');
    await expect.poll(() => asked).toEqual(['confirm', 'confirm', 'beforeunload']);
    expect(await notes.inputValue()).toBe(long);

    await page.getByLabel('End date', { exact: true }).fill('');
    await save(page).click();
    await issueAt(page, 'endDate').getByText('Enter the date of this time.').waitFor();
    await page.getByLabel('End date, time').fill('');
    await save(page).click();
    await issueAt(page, 'notes')
      .getByText(/10,000 characters/)
      .waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect([await read(), sent.length]).toMatchObject([stored, 1]);
    // A date that is not whole is no cleared one.
    await page.getByLabel('Start date', { exact: true }).press('Backspace');
    await save(page).click();
    await change({ notes: 'Storm' });
    await page.getByRole('button', { name: 'Use theirs' }).click();
    await expect.poll(() => notes.inputValue()).toBe('Storm');
    // What is typed is kept where nothing can be read.
    await page.route('**/graphql', (route) => route.fulfill({ status: 500, body: '{}' }));
    await notes.fill('short');
    await save(page).click();
    await page
      .getByRole('alert')
      .getByText(/^Not saved: /)
      .waitFor();
    await page.unroute('**/graphql');
    // Only a write that fails may be stored all the same. What fails after it hides nothing but its undo.
    const isSent = (route: Route, text: string) => route.request().postData()?.includes(text) ?? false;
    const fail = (route: Route) => route.fulfill({ status: 500, body: '{}' });
    await page.route('**/graphql', (route) => (isSent(route, 'updateWorkOrders') ? fail(route) : route.fallback()));
    await save(page).click();
    await page.getByText('May be saved: the service did not say whether it has stored this.').waitFor();
    await page.unroute('**/graphql');
    let isStored = false;
    await page.route('**/graphql', (route) => {
      isStored ||= isSent(route, 'updateWorkOrders');
      return isStored && isSent(route, '{ changeCursor }') ? fail(route) : route.fallback();
    });
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    expect(await status(page).getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await read()).toMatchObject({ ...stored, notes: 'short' });
    // The message is on this page, and on no other one.
    await page.getByRole('link', { name: 'Edit' }).click();
    await notes.waitFor();
    await status(page).waitFor({ state: 'detached' });
  });

  test('gets a status, first those that work orders have, a location that is found by its name, notes, and no end any more', async () => {
    const labels = { planned: 'Planned', released: 'Released', edited: 'Edited' };
    for (const [status, name] of Object.entries(labels))
      await service.create('/labels', { key: `STATUS:status-${status}`, name, color: '#1565c0' });
    const { page, visit } = await openForm();
    const [state, place] = ['Status', 'Location'].map((name) => page.getByRole('combobox', { name })) as [
      Locator,
      Locator,
    ];
    const options = (within: Locator) => within.locator('..').getByRole('option').allInnerTexts();
    expect(await state.inputValue()).toBe('Planned');
    // What is typed replaces the name of the stored one.
    await state.click();
    await page.keyboard.type('ed');
    await expect.poll(() => options(state)).toEqual(['Planned', 'Released', 'Edited', 'Create “ed” as a status']);
    await page.locator('li:has-text("Not used for work orders so far") + li', { hasText: 'Edited' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    const foreign = page.getByRole('option', { name: 'as an ID of another system' });
    await page.route('**/graphql', () => {});
    await state.fill('status-7');
    expect(await foreign.count()).toBe(0);
    await page.unroute('**/graphql');
    await state.fill('status-8');
    await foreign.waitFor();
    await state.fill('released');
    await state.press('Tab');
    // Two locations have this name: Enter chooses none of them.
    await place.fill('south yard');
    await page.getByRole('option', { name: /^South yard Quay 2/ }).waitFor();
    await place.press('Enter');
    expect(await place.inputValue()).toBe('south yard');
    // Down leads to the first.
    await place.press('ArrowDown');
    await page.locator('[role=option]:first-child[aria-selected=true]').waitFor();
    // On the way back, nothing is taken.
    await place.press('Shift+Tab');
    await place.locator('..').getByText('Choose a location from the list.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await save(page).click();
    expect(await place.evaluate((input: HTMLInputElement) => input.validity.customError)).toBe(true);
    await place.press('ArrowDown');
    await page.getByRole('option', { name: /^South yard Quay 2/ }).click();
    await page.getByLabel('Notes').fill('Open again.');
    await page.getByLabel('End date', { exact: true }).fill('');
    await page.getByLabel('End date, time').fill('');
    await page.getByLabel('End date, time').press('Enter');
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({
      statusId: 'status-released',
      locationId: locations[2]?.id,
      notes: 'Open again.',
      startDate: stored.startDate,
      endDate: null,
    });

    // Its history has names, where there are any.
    await change({ locationId: 'ERP-LOCATION-7' });
    const history = page.locator('.history li');
    await history.filter({ hasText: /Location\s+South yard\s+→\s+ERP-LOCATION-7/ }).waitFor();
    const coloured = history.filter({ hasText: /Status\s+Planned\s+→\s+Released/ }).locator('.label');
    expect(await coloured.count()).toBe(2);
    expect(await coloured.first().evaluate((it) => getComputedStyle(it).textDecorationLine)).toBe('line-through');
    // The latest of its changes can be undone.
    expect(await history.getByRole('button', { name: 'Undo' }).count()).toBe(1);
    await history.filter({ hasText: 'ERP-LOCATION-7' }).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('Undone.').waitFor();
    expect((await read()).locationId).toBe(locations[2]?.id);
    expect(visit.errors).toEqual([]);
  });

  test('keeps what others change meanwhile, and what somebody is typing', async () => {
    const { page, sent } = await openForm();
    const start = page.getByLabel('Start date', { exact: true });
    await start.fill('2026-03-01');
    await page.getByLabel('Notes').focus();
    await change({ statusId: 'status-stopped', notes: 'Storm' });
    // Without a save: the page is live.
    await page.getByRole('alert').getByText('status-stopped').waitFor();
    expect(await start.inputValue()).toBe('2026-03-01');
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-conflict');

    await page.setViewportSize({ width: 1280, height: 500 });
    await page.evaluate('scrollTo(0, 1000)');
    await save(page).click();
    await page.locator('fieldset:enabled').waitFor();
    const choice = page.getByRole('button', { name: 'Keep mine' });
    await expect.poll(async () => (await choice.boundingBox())?.y).toBeGreaterThan(48);
    expect(sent.length).toBe(1);
    expect(await read()).toMatchObject({ statusId: 'status-stopped', notes: 'Storm', startDate: stored.startDate });

    await choice.click();
    expect([await start.inputValue(), await page.getByLabel('Notes').inputValue()]).toEqual(['2026-03-01', 'Storm']);
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    const moved = { startDate: '2026-03-01T06:00:00.000Z', notes: 'Storm', statusId: 'status-stopped' };
    expect(await read()).toMatchObject(moved);

    // What has changed since is not undone.
    await change({ startDate: '2026-02-01' });
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page)
      .getByText(/^Not undone: Set up the crane has changed since, last on \w{3} \w{3} \d\d \d+:\d+/)
      .waitFor();
    expect(await read()).toMatchObject({ startDate: '2026-02-01T00:00:00.000Z' });

    // Nor is the reason hidden where the time of that change cannot be read.
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Notes').fill('Bring chains.');
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    await change({ notes: 'Ice' });
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('{\\n  history(')
        ? route.fulfill({ status: 500, body: '{}' })
        : route.fallback(),
    );
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('Not undone: the record has changed since.').waitFor();

    // After a failure, the button is still there.
    await change({ notes: 'Bring chains.' });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Notes').fill('Storm');
    await save(page).click();
    const refuse = (route: Route) =>
      route.request().postData()?.includes('revertChanges')
        ? route.fulfill({ status: 400, body: '{}' })
        : route.fallback();
    await page.route('**/graphql', refuse);
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page)
      .getByText(/^Not undone: /)
      .waitFor();
    await page.unroute('**/graphql', refuse);
    await status(page).getByRole('button', { name: 'Try again' }).click();
    await status(page).getByText('Undone.').waitFor();
    expect(await read()).toMatchObject({ notes: 'Bring chains.' });
  });

  test('keeps what somebody is typing while others delete it, and undo that', async () => {
    const { page } = await openForm();
    await page.getByLabel('Notes').fill('Bring chains.');
    await service.data('mutation ($ids: [ID!]!) { deleteWorkOrders(ids: $ids) { id } }', { ids: [order.id] });
    await page.getByText('Your entries stay: restore the record to save them.').waitFor();
    await save(page).click();
    await page.getByText('Not saved: somebody has deleted this record meanwhile.').waitFor();
    await page.locator('.notice', { hasText: 'Deleted' }).getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Notes').inputValue()).toBe('Bring chains.');
    await page.getByText('Enter saves, in a long text Ctrl+Enter.').waitFor();
    await page.getByLabel('Notes').press('Control+Enter');
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({ name: stored.name, notes: 'Bring chains.' });
  });

  test('has whole external IDs only, one of each system, whatever its name', async () => {
    await change({ mergeExternalIds: { erp: '4711' } });
    const { page, sent } = await openForm();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const enter = async (row: number, system: string, id: string) => {
      await page.getByLabel('System', { exact: true }).nth(row).fill(system);
      await page.getByLabel('ID in this system').nth(row).fill(id);
    };
    const wrong = {
      crm: ['', /both the system/],
      '': ['7', /both the system/],
      erp: ['7', /an ID of erp already/],
      ERP: ['7', /Other records call this system “erp”/],
    };
    await page.locator('#systems option').first().waitFor({ state: 'attached' });
    for (const [system, [id, problem]] of Object.entries(wrong) as [string, [string, RegExp]][]) {
      await enter(0, system, id);
      await save(page).click();
      await page.locator('.field:has([name="externalIds+0"])').getByText(problem).waitFor();
    }
    for (const [row, system] of ['crm', 'mes', 'SAP ERP'].entries()) await enter(row, system, '7');
    for (const row of [0, 1]) await enter(row, '', '');
    await page.getByText('Mutation', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy mutation' }).click();
    const [mutation = '', variables = ''] = (await page.evaluate<string>('navigator.clipboard.readText()')).split(
      '# Variables: ',
    );
    expect(parse(mutation).definitions).toHaveLength(1);
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    expect(sent).toEqual([JSON.parse(variables).input]);
    expect((await read()).externalIds).toEqual({ erp: '4711', 'SAP ERP': '7' });
    // A changed one may be that of another record.
    await service.create('/work-orders', { externalIds: { erp: 'B 9' } });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.locator('[name="externalIds.erp"]').fill('B 9');
    await save(page).click();
    await page.getByText('has this ID already.').waitFor();
    expect((await read()).externalIds).toMatchObject({ erp: '4711' });
  });

  test('has times as a clock shows them, also where it is changed, and an end that is a whole day', async () => {
    await change({ startDate: '2026-10-25T08:00:00Z', endDate: '2026-10-25T01:30:00Z' });
    const { page } = await openForm();
    const enter = async (values: object) => {
      for (const [name, value] of Object.entries(values)) await page.locator(`[name="${name}"]`).fill(value);
    };
    const saved = async () => {
      await save(page).click();
      await page.getByRole('link', { name: 'Edit' }).click();
      const { startDate, endDate } = await read();
      return [startDate, endDate];
    };
    await enter({ 'startDate.time': '02:30', 'endDate.time': '02:45' });
    for (const remark of ['02:30 twice on this day: this is the first', '02:45 twice on this day: this is the second'])
      await page.getByText(`The clock shows ${remark} time.`).waitFor();
    expect(await saved()).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:45:00.000Z']);
    await enter({ startDate: '2026-03-29', 'startDate.time': '02:30' });
    await save(page).click();
    await issueAt(page, 'startDate').getByText('The clock never shows 02:30 on this day.').waitFor();
    await enter({ startDate: '2026-01-10', 'startDate.time': '01:00' });
    await page.getByText('01:00 is midnight UTC, which is shown as a date without a time.').waitFor();
    await enter({ 'startDate.time': '10:00', endDate: '2026-01-10', 'endDate.time': '' });
    expect(await saved()).toEqual(['2026-01-10T09:00:00.000Z', '2026-01-10T00:00:00.000Z']);
    // A time alone is on the day of the start.
    await enter({ endDate: '', 'endDate.time': '11:00' });
    expect(await saved()).toEqual(['2026-01-10T09:00:00.000Z', '2026-01-10T10:00:00.000Z']);
    // Work past midnight goes along with its start, too.
    await change({ startDate: '2026-03-02T21:00:00Z', endDate: '2026-03-03T01:00:00Z' });
    await expect.poll(() => page.locator('[name="startDate.time"]').inputValue()).toBe('22:00');
    await enter({ startDate: '2026-03-03' });
    await issueAt(page, 'endDate').getByText('Wednesday, moved with the start').waitFor();
    await enter({ 'endDate.time': '23:00', endDate: '2026-03-02' });
    await issueAt(page, 'endDate').getByText('Monday, before the start').waitFor();
    // On one day, the time is wrong, and is judged anew where both are moved.
    await enter({ 'endDate.time': '21:00', endDate: '2026-03-03' });
    await save(page).click();
    await issueAt(page, 'endDate').and(page.locator('.error')).waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('endDate.time');
    expect(await page.locator('[name=endDate]').getAttribute('aria-invalid')).toBe(null);
    await enter({ days: '1' });
    await issueAt(page, 'endDate').and(page.locator(':not(.error)')).getByText('Wednesday, before the start').waitFor();
  });

  test('of every kind is entered in a form of its fields, copied as a mutation, and undone', async () => {
    const { page, visit, origin } = await newPage(service);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const yard = locations[0]?.id;
    const values = { uid: 'CR-1', currentLocationId: yard, externalIds: { crm: 'A 0' } };
    const [crane] = await service.create('/assets', { name: 'Crane', ...values });
    for (const kind of ['Asset', 'WorkOrder', 'TransportOrder', 'Project', 'Location', 'AssetCategory']) {
      await page.goto(`${origin}/explore?kind=${kind}`);
      await page.getByRole('link', { name: /^New / }).click();
      await page.getByLabel('Name', { exact: true }).fill(`A new ${kind}`);
      expect(await barriers(page)).toEqual([]);
      await page.getByText('Mutation', { exact: true }).click();
      await page.getByRole('button', { name: 'Copy mutation' }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`[{ name: "A new ${kind}" }]`);
      await save(page).click();
      await page.getByRole('heading', { name: `A new ${kind}` }).waitFor();
      await status(page).getByRole('button', { name: 'Undo' }).click();
      await status(page).getByText('Undone.').waitFor();
    }
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await status(page).waitFor({ state: 'detached' });
    // The holder of a number is named, and that of an ID at once.
    await page.goto(`${origin}/explore?kind=Asset&view=new`);
    await page.getByLabel('Name', { exact: true }).fill('Crane');
    const taken = { uid: 'CR-1', 'externalIds+0': 'crm', 'externalIds=0': 'A 0' };
    for (const [name, value] of Object.entries(taken)) await page.locator(`[name="${name}"]`).fill(value);
    await save(page).click();
    await issueAt(page, 'uid').getByText('CR-1 Crane has this number already.').waitFor();
    await page.getByText('CR-1 Crane has this ID already.').waitFor();
    expect(await page.getByRole('button', { name: 'Save all the same' }).count()).toBe(0);
    for (const name of ['name', ...Object.keys(taken)]) await page.locator(`[name="${name}"]`).fill('');
    // A work order may be where its asset is, and its status may be new.
    const link = (name: string) => page.getByRole('combobox', { name, exact: true });
    const place = async () => [await link('Asset').inputValue(), await link('Location').inputValue()];
    await page.goto(`${origin}/explore?kind=WorkOrder&view=new`);
    await save(page).click();
    await issueAt(page, 'name').getByText('Nothing is entered yet.').waitFor();
    // An end is that of the start until somebody enters or clears one.
    const times = async (...entries: [name: string, value: string][]) => {
      for (const [name, value] of entries) await page.locator(`[name="${name}"]`).fill(value);
      return page.locator('[name=endDate]').inputValue();
    };
    await moveTo(page, 'America/New_York', 'en-US');
    // West of Greenwich, midnight UTC would be the whole next day.
    await times(['startDate', '2036-12-01'], ['startDate.time', '19:00']);
    await page.getByText('19:00 is midnight UTC, which is shown as the next day without a time.').waitFor();
    await page.locator('[name=name]').fill('Late shift');
    await save(page).click();
    expect(await page.locator('[name=startDate]').getAttribute('aria-invalid')).toBe('true');
    await page.locator('[name=name]').fill('');
    expect(await times(['startDate.time', '18:59'])).toBe('2036-12-01');
    await times(['endDate', '2036-12-08'], ['startDate.time', ''], ['startDate', '2036-12-08']);
    expect(await times(['startDate', '2036-12-02'])).toBe('2036-12-08');
    for (const start of ['startDate', 'endDate'])
      expect(
        await times(
          ['endDate', '2036-12-09'],
          [start, ''],
          ['endDate', ''],
          ['startDate', ''],
          ['startDate', '2036-12-05'],
        ),
      ).toBe('');
    await times(['startDate', '']);
    // A list that was only looked at chooses nothing: the place is that of the asset.
    await link('Location').click();
    await link('Location').press('Escape');
    await link('Location').press('Tab');
    await link('Asset').fill('r-1');
    // Tab also takes the only match that is shown.
    await page.getByRole('option', { name: 'Crane' }).waitFor();
    await link('Asset').press('Tab');
    await page.getByText('A proposal: the asset is here now.').waitFor();
    expect(await place()).toEqual(['CR-1 Crane', 'North yard']);
    // Without digits, also one that is still looked for.
    await link('Location').fill('north');
    await link('Location').press('Tab');
    await expect.poll(() => link('Location').inputValue()).toBe('North yard');
    await link('Location').fill('Site 9');
    let respond = () => {};
    const isChosen = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('createLocations')) await isChosen;
      await route.continue();
    });
    await page.getByRole('option', { name: 'Create “Site 9” as a location' }).dblclick();
    // A later choice stays.
    await link('Location').fill('north yard');
    await link('Location').press('Enter');
    await expect.poll(place).toEqual(['CR-1 Crane', 'North yard']);
    respond();
    await status(page).getByText('Location created.').waitFor();
    const sites = '{ locations(where: { name: { eq: "Site 9" } }) { totalCount } }';
    expect((await service.data(sites)).locations.totalCount).toBe(1);
    const begin = async () => {
      await link('Status').fill('Just begun');
      await page.getByRole('option', { name: 'Create “Just begun” as a status' }).click();
      await expect.poll(() => status(page).innerText()).toContain('Status created.');
    };
    await begin();
    // Without the new one, the field is empty again.
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => link('Status').inputValue()).toBe('');
    await begin();
    await page.getByText('Mutation', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy mutation' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      `[{ assetId: "${crane?.id}", statusId: "status-just-begun", locationId: "${yard}" }]`,
    );
    // From the page of the asset, with its link and an ID of another system.
    page.once('dialog', (dialog) => dialog.accept());
    await page.goto(`${origin}/explore?kind=Asset&id=${crane?.id}`);
    await page.getByRole('link', { name: 'New allocation' }).click();
    expect(await place()).toEqual(['CR-1 Crane', '']);
    expect(await link('Asset').getAttribute('aria-required')).toBe('true');
    await page.getByLabel('Start date', { exact: true }).fill('2026-03-02');
    await page.getByLabel('System', { exact: true }).fill('erp');
    await page.getByLabel('ID in this system').first().fill('A 1');
    await service.data(
      `mutation { createAllocations(input: [{ assetId: "${crane?.id}", externalIds: { erp: "A 1" } }]) { id } }`,
    );
    await save(page).click();
    await page.getByText('Crane has this ID already.').waitFor();
    await look(page, 'explorer-form');
    await saveAllTheSame(page);
    await status(page).getByText('Allocation created.').waitFor();
    const allocations = async () =>
      (await service.data('{ allocations { nodes { asset { name } startDate externalIds } } }')).allocations.nodes;
    const other = { asset: { name: 'Crane' }, startDate: null, externalIds: { erp: 'A 1' } };
    const first = { ...other, startDate: '2026-03-02T00:00:00.000Z' };
    expect(await allocations()).toEqual([other, first]);
    // Another one at the same time is asked for twice.
    await page.goto(`${origin}/explore?kind=Asset&id=${crane?.id}`);
    await page.getByRole('link', { name: 'New allocation' }).click();
    await page.getByLabel('Start date', { exact: true }).fill('2026-03-05');
    await page.getByLabel('System', { exact: true }).fill('erp');
    await page.getByLabel('ID in this system').first().fill('A 1');
    await save(page).click();
    await page.locator('.field:has([aria-invalid])').getByText('has this ID already.').waitFor();
    await page.getByText('Not saved: CR-1 Crane has an allocation (Mar 02, 2026) at this time.').waitFor();
    expect(await allocations()).toEqual([other, first]);
    // Other values are asked about again.
    await page.getByLabel('ID in this system').first().fill('A 2');
    await save(page).click();
    await saveAllTheSame(page);
    await status(page).getByText('Allocation created.').waitFor();
    expect(await allocations()).toHaveLength(3);
    // The service knows of one that comes at the same moment.
    await page.goto(`${origin}/explore?kind=Asset&id=${crane?.id}`);
    await page.getByRole('link', { name: 'New allocation' }).click();
    await page.getByLabel('Start date', { exact: true }).fill('2026-03-06');
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('found: allocations')
        ? route.fulfill({ json: { data: { found: { totalCount: 0, nodes: [] } } } })
        : route.fallback(),
    );
    await save(page).click();
    await page.getByText('Not saved: the asset has another allocation at this time.').waitFor();
    expect(await allocations()).toHaveLength(3);
    await saveAllTheSame(page);
    await status(page).getByText('Allocation created.').waitFor();
    await page.unroute('**/graphql');
    // The name of a status is entered, and changed, on its page.
    await page.goto(`${origin}/explore?kind=Status&id=status-8`);
    await page.getByRole('link', { name: 'Name and colour' }).click();
    await page.getByRole('heading', { name: 'New status' }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).getAttribute('aria-required')).toBe('true');
    await page.goBack();
    for (const [name, message] of Object.entries({ 'In plan': 'Status created.', 'Planned again': 'Saved.' })) {
      await page.getByRole('link', { name: 'Name and colour' }).click();
      await page.getByLabel('Name', { exact: true }).fill(name);
      expect(await page.getByLabel('Key', { exact: true }).count()).toBe(0);
      await page.getByLabel('Colour').fill('#2e7d32');
      await save(page).click();
      await page.getByRole('heading', { name, exact: true }).waitFor();
      await status(page).getByText(message).waitFor();
    }
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('is asked about where its asset has another one at the same time', async () => {
    const { page, origin } = await newPage(service);
    await moveTo(page, 'Europe/Berlin');
    const [crane] = await service.create('/assets', { name: 'Crane 3' }, { name: 'Crane 5' });
    const at = (startDate: string, endDate?: string) => ({ assetId: crane?.id, startDate, endDate });
    await service.create(
      '/work-orders',
      { name: 'Winter service', ...at('2036-12-01T07:00:00Z', '2036-12-01T10:00:00Z') },
      { name: 'Inspection', ...at('2036-12-03', '2036-12-03') },
      { name: 'Without an end', ...at('2036-11-01') },
    );
    const count = async () => (await service.data('{ workOrders { totalCount } }')).workOrders.totalCount;
    for (const [clash, ...times] of [
      ['', '2036-12-01', '11:00', '', '12:00'],
      ['Winter service (Dec 01, 2036 8:00 AM to 11:00 AM) and 1 more', '2036-12-01', '10:00', '2036-12-02', ''],
      ['Inspection (Dec 03, 2036)', '2036-12-03', '10:00', '2036-12-04', '12:00'],
    ]) {
      await page.goto(`${origin}/explore?kind=WorkOrder&view=new&filter=assetId.eq:${crane?.id}`);
      // Without another end, an order ends on the day of its start.
      for (const [at, name] of ['startDate', 'startDate.time', 'endDate', 'endDate.time'].entries())
        if (times[at]) await page.locator(`[name="${name}"]`).fill(times[at]);
      if (!clash) await issueAt(page, 'endDate').getByText('Monday, the day of the start: a proposal').waitFor();
      await save(page).click();
      if (clash) {
        const asked = page.getByText(`Not saved: Crane 3 has ${clash} at this time.`);
        await asked.waitFor();
        const before = await count();
        // A double click, or Enter twice, stores nothing.
        await page.keyboard.press('Enter');
        await save(page).click();
        await asked.waitFor();
        expect(await count()).toBe(before);
        // The answer is the next stop of the keyboard.
        for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
      }
      await status(page).getByText('Work order created.').waitFor();
      const marks = page.locator('.notice', { hasText: 'Double-booked' }).getByRole('link');
      // The keyboard is beside the undo.
      await page.locator('.toast:focus').waitFor();
      await expect.poll(() => marks.count()).toBe(clash ? 1 + Number(/\d(?= more)/.exec(clash)) : 0);
    }
    // What is finished occupies nothing.
    await service.data('mutation { createLabels(input: [{ key: "STATUS:over", name: "Done" }]) { id } }');
    const done = { name: 'Was done', statusId: 'over', ...at('2036-12-09', '2036-12-09') };
    const [next] = await service.create('/work-orders', { name: 'Next', ...at('2036-12-09', '2036-12-09') }, done);
    const isRead = new Promise<void>((resolve) => {
      void page.route('**/graphql', async (route) => {
        if (!route.request().postData()?.includes('where: $where')) return route.fallback();
        await route.fulfill({ response: await route.fetch() });
        resolve();
      });
    });
    await page.goto(`${origin}/explore?kind=WorkOrder&id=${next?.id}`);
    await isRead;
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.facts').waitFor();
    expect(await page.getByText('Double-booked').count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // Until it is opened again.
    await page.goto(`${origin}/explore?kind=WorkOrder&search=was+done`);
    await page.getByRole('link', { name: 'Was done' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('combobox', { name: 'Status' }).fill('');
    await save(page).click();
    await page.getByText('Not saved: Crane 3 has Next (Dec 09, 2036) at this time.').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).fill('Done');
    await page.getByRole('combobox', { name: 'Status' }).press('Enter');
    await page.goto(`${origin}/explore?kind=WorkOrder&view=new&filter=assetId.eq:${crane?.id}`);
    for (const name of ['startDate', 'endDate']) await page.locator(`[name="${name}"]`).fill('2036-12-09');
    await save(page).click();
    await page.getByText('Not saved: Crane 3 has Next (Dec 09, 2036) at this time.').waitFor();
    await saveAllTheSame(page);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Notes').fill('Bring chains.');
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    // Also where several are moved: they do not meet each other where they were.
    const times = ['2036-12-05', '2036-12-06', '2036-12-07'].map((day) => at(day, day));
    await service.create('/work-orders', ...times.map((time, order) => ({ name: `Move ${order}`, ...time })));
    await page.goto(`${origin}/explore?kind=WorkOrder&search=move`);
    for (const order of [1, 2]) await page.getByLabel(`Select Move ${order}`).check();
    await page.getByRole('button', { name: 'Change…' }).click();
    await page.getByRole('dialog').getByLabel('Field').selectOption('Start and end, by days');
    await page.getByLabel('Move start and end by days').fill('-1');
    await page.getByRole('button', { name: 'Change 2 work orders' }).click();
    await page.getByText('Not saved: Crane 3 has Move 0 (Dec 05, 2036) at this time.').waitFor();
    await saveAllTheSame(page);
    await status(page).getByText('2 work orders changed.').waitFor();
    await page.getByRole('link', { name: 'New work order' }).click();
    await page.getByRole('form').waitFor();
    expect(await status(page).count()).toBe(0);
    // The service rejects an allocation at the time of a finished one, too.
    const rent = `{ assetId: "${crane?.id}", startDate: "2036-12-20", endDate: "2036-12-20", statusId: "over" }`;
    await service.data(`mutation { createAllocations(input: [${rent}]) { id } }`);
    await page.goto(`${origin}/explore?kind=Allocation&view=new&filter=assetId.eq:${crane?.id}`);
    for (const name of ['startDate', 'endDate']) await page.locator(`[name="${name}"]`).fill('2036-12-20');
    await save(page).click();
    await page.getByText('Not saved: Crane 3 has an allocation (Dec 20, 2036) at this time.').waitFor();
    page.once('dialog', (dialog) => dialog.accept());
    // An asset, which an allocation must have, is chosen once.
    await service.data(`mutation { createAllocations(input: [{ assetId: "${crane?.id}" }]) { id } }`);
    await page.goto(`${origin}/explore?kind=Allocation`);
    await page.locator('[name=pick]').first().check();
    await page.getByRole('button', { name: 'Change…' }).click();
    await page.getByRole('dialog').getByLabel('Field').selectOption('Asset');
    await page.getByRole('combobox', { name: 'Asset' }).fill('Crane 5');
    await page.getByRole('combobox', { name: 'Asset' }).press('Enter');
    await page.getByRole('button', { name: /^Change \d/, disabled: false }).waitFor();
  });

  test('is refused where its location has been deleted, without its ID', async () => {
    const [place] = await service.create('/locations', { name: 'Depot' });
    const { page } = await newPage(service, `/explore?kind=WorkOrder&view=new&filter=locationId.eq:${place?.id}`);
    await page.getByLabel('Name').fill('Paint');
    await service.data(`mutation { deleteLocations(ids: ["${place?.id}"]) { id } }`);
    await save(page).click();
    await issueAt(page, 'locationId').getByText('This location is not stored here.').waitFor();
  });

  test('is deleted after a look at the records that refer to it, and restored with their links', async () => {
    const { page, origin } = await newPage(service);
    const [place, crane] = await Promise.all([
      service.create('/locations', { name: 'Old yard' }),
      service.create('/assets', { name: 'Crane 2', uid: 'CR-2' }),
    ]).then((all) => all.map(([record]) => record?.id));
    await change({ locationId: place });
    const [job] = await service.create('/projects', { name: 'Quay', companyId: 'KOCH', startDate: '2026-03-01' });
    const input = `{ assetId: "${crane}", projectId: "${job?.id}" }`;
    await service.data(`mutation { createAllocations(input: [${input}]) { id } }`);
    const asked: string[] = [];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.message());
      // While the question is open, others refer to it, too.
      if (asked.length === 2) await service.create('/work-orders', { name: 'Late', locationId: place });
      return dialog.accept();
    });
    await page.goto(`${origin}/explore?kind=Asset&id=${crane}`);
    await page.getByRole('cell', { name: 'Quay KOCH' }).waitFor();
    await page.locator('tbody th a').first().click();
    await page.locator('.facts').getByText('KOCH').waitFor();
    await page.goBack();
    await page.getByRole('cell', { name: 'Quay KOCH' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await status(page)
      .getByText('CR-2 Crane 2 cannot be deleted, because it is needed by 1 allocation, listed on this page.')
      .waitFor();
    // A failure does not go along.
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await status(page).waitFor({ state: 'detached' });
    await page.goto(`${origin}/explore?kind=Location&id=${place}`);
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    const isDeletion = (route: Route) => route.request().postData()?.includes('deleteLocations');
    await page.route('**/graphql', (route) => (isDeletion(route) ? route.fulfill({ status: 500 }) : route.fallback()));
    await page.getByRole('button', { name: 'Delete' }).click();
    await status(page)
      .getByText(/^Not deleted: /)
      .waitFor();
    await page.unroute('**/graphql');
    expect(asked).toEqual([]);
    // Without a response, it may be deleted.
    const isDryRun = (route: Route) => route.request().postData()?.includes('"dryRun":true');
    await page.route('**/graphql', (route) =>
      isDeletion(route) && !isDryRun(route) ? route.fulfill({ status: 500 }) : route.fallback(),
    );
    await page.getByRole('button', { name: 'Delete' }).click();
    await status(page).getByText('It is not known whether the service has done this.').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Delete' }).click();
    await status(page).getByText('Location deleted.').waitFor();
    expect(asked.map((text) => text.split('.')[0])).toEqual([
      ...Array(2).fill('Delete Old yard? It is used by 1 work order'),
      'Delete Old yard? It is used by 2 work orders',
    ]);
    expect((await read()).locationId).toBe(null);
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('Location restored.').waitFor();
    expect((await read()).locationId).toBe(place);
  });

  test('is changed together with the other selected rows of a table, and undone together', async () => {
    const { page, origin } = await newPage(service);
    await moveTo(page, 'Europe/Berlin');
    const yard = locations[0]?.id;
    // One is moved into summer time, one has no dates.
    const [crane] = await service.create('/assets', { name: 'Crane 4', uid: 'CR-4' });
    const values = [
      { startDate: '2026-03-28T06:00:00.000Z', endDate: '2026-03-28' },
      { assetId: crane?.id },
      { endDate: '2026-04-01' },
      {},
    ];
    const made = await service.create('/work-orders', ...values.map((dates, at) => ({ name: `B ${at}`, ...dates })));
    const query = '{ workOrders(where: { name: { startsWith: "B " } }) { nodes { startDate endDate locationId } } }';
    const found = async () => (await service.data(query)).workOrders.nodes;
    const before = await found();
    await page.goto(`${origin}/explore?kind=WorkOrder&search=B&sort=-name`);
    await page.getByLabel('Select B 2').check();
    await page.getByLabel('Select B 1').click({ modifiers: ['Shift'] });
    // No range leads from here to the last one.
    await page.getByLabel('Select B 0').check();
    await page.getByLabel('Select B 1').uncheck();
    await page.getByLabel('Select B 0').uncheck();
    await page.getByLabel('Select B 0').check();
    await page.getByLabel('Select B 2').press('Shift+ArrowDown');
    await page.getByText('3 selected').waitFor();
    await page.getByLabel('Select B 0').uncheck();
    await page.getByLabel('Select B 1').click();
    await page.getByLabel('Select B 1').click();
    for (const [name, way] of [
      ['B 1', 'Down'],
      ['B 0', 'Up'],
      ['B 1', 'Down'],
    ])
      await page.getByLabel(`Select ${name}`).press(`Shift+Arrow${way}`);
    await page.getByText('3 selected').waitFor();
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.getByLabel('Select B 0').and(page.locator(':focus')).waitFor();
    const scrolled = await page.evaluate('scrollY');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('scrollY')).toBe(scrolled);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Change…' }).and(page.locator(':focus')).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Change 3 work orders' });
    const store = async (button: string, report: string) => {
      expect(await barriers(page)).toEqual([]);
      await dialog.getByRole('button', { name: button }).click();
      await status(page).getByText(report).waitFor();
      // The undo is the next stop of the keyboard.
      await page.locator('.toast:focus').waitFor();
    };
    const undo = async (report: string, places: unknown[] = [null, null, null, null], within = status(page)) => {
      await within
        .getByRole('button', { name: /^(Undo|Redo)/ })
        .last()
        .click();
      await status(page).getByText(report).waitFor();
      expect(await found()).toEqual(before.map((order: object, at: number) => ({ ...order, locationId: places[at] })));
    };
    const fields = async () => (await dialog.getByRole('option').allInnerTexts()).slice(0, 4);
    await expect.poll(fields).toEqual(['Status', 'Location', 'Start and end, by days', 'Asset']);
    await dialog.getByLabel('Field').selectOption('Start and end, by days');
    expect(await dialog.getByRole('rowheader').count()).toBe(3);
    await dialog.getByRole('button', { name: 'Change 3 work orders', disabled: true }).waitFor();
    await dialog.getByLabel('Move start and end by days').fill('1');
    expect(await dialog.getByRole('row', { name: /^B 1 .*unchanged$/ }).count()).toBe(1);
    await store('Change 2 work orders', '2 work orders changed.');
    expect(await found()).toMatchObject([
      { startDate: '2026-03-29T05:00:00.000Z', endDate: '2026-03-29T00:00:00.000Z' },
      { startDate: null, endDate: null },
      { startDate: null, endDate: '2026-04-02T00:00:00.000Z' },
      { startDate: null, endDate: null },
    ]);
    await undo('2 changes undone.');
    await page.getByRole('button', { name: 'Change…' }).click();
    await dialog.waitFor();
    expect(await status(page).count()).toBe(0);
    await dialog.getByLabel('Field').selectOption('Location');
    await dialog.getByRole('combobox', { name: 'Location' }).fill('north y');
    await dialog.getByRole('combobox', { name: 'Location' }).press('Enter');
    await dialog.getByRole('cell', { name: 'North yard' }).first().waitFor();
    expect(await dialog.getByRole('cell', { name: 'nothing' }).count()).toBe(3);
    expect(await dialog.getByRole('rowheader').allInnerTexts()).toEqual(['B 2', 'B 1 · CR-4', 'B 0']);
    expect(await dialog.getByRole('link').count()).toBe(0);
    // Another text is no location: nothing can be stored until it is.
    await dialog.getByRole('combobox', { name: 'Location' }).fill('north x');
    await dialog.getByRole('button', { name: 'Change 3 work orders', disabled: true }).waitFor();
    expect(await dialog.getByRole('cell', { name: 'North yard' }).count()).toBe(0);
    expect(await dialog.getByRole('rowheader').count()).toBe(3);
    // Escape closes the list, and keeps the text.
    const north = dialog.getByRole('combobox', { name: 'Location' });
    await north.press('Escape');
    expect(await north.inputValue()).toBe('north x');
    await north.fill('north yard');
    await north.press('Enter');
    await store('Change 3 work orders', '3 work orders changed.');
    expect((await found()).map((order: { locationId: string }) => order.locationId)).toEqual([yard, yard, yard, null]);
    await page.getByRole('button', { name: 'Change…' }).click();
    await dialog.getByLabel('Field').selectOption('Location');
    await dialog.getByRole('combobox', { name: 'Location' }).press('Enter');
    await store('Clear location of 3 work orders', '3 work orders changed.');
    await expect.poll(found).toEqual(before);
    // Without the message, the history of each of them undoes all.
    await page.getByRole('link', { name: 'B 1' }).click();
    const history = page.locator('.history');
    await history.getByRole('button', { name: 'Undo for all 3' }).waitFor();
    await change({ name: 'Of others' });
    await undo('3 changes undone.', [yard, yard, yard, null], history);
    // So can the undo, by its message and by the history.
    await history.getByText('Undid a change').nth(0).waitFor();
    await undo('3 changes redone.');
    await history.getByText('Undid a change').nth(1).waitFor();
    await undo('3 changes undone.', [yard, yard, yard, null], history);
    expect(await history.innerText()).not.toContain('in the explorer');
    await page.goBack();
    // A time without its date is not on the day of each start.
    const stored = await found();
    await page.reload();
    await page.getByLabel('Select B 0').check();
    await page.getByRole('button', { name: 'Change…' }).click();
    const ofOne = page.getByRole('dialog', { name: 'Change 1 work order' });
    await ofOne.getByLabel('Field').selectOption('Start date');
    await ofOne.getByLabel('Start date', { exact: true }).fill('2026-05-01');
    await ofOne.getByLabel('Field').selectOption('End date');
    expect(await ofOne.getByLabel('End date', { exact: true }).inputValue()).toBe('');
    await ofOne.getByLabel('End date, time').fill('12:00');
    await ofOne.getByRole('button', { name: 'Clear end date of 1 work order' }).click();
    await ofOne.getByText('B 0: Enter the date of this time.').waitFor();
    expect(await found()).toEqual(stored);
    // A start that is past its end takes it along, as in a form.
    await ofOne.getByLabel('Field').selectOption('Start date');
    await ofOne.getByLabel('Start date', { exact: true }).fill('2026-03-30');
    await ofOne.getByLabel('Start date, time').fill('08:00');
    await ofOne.getByRole('row').getByText(/30/).nth(1).waitFor();
    await ofOne.getByRole('button', { name: 'Change 1 work order' }).click();
    await status(page).getByText('1 work order changed.').waitFor();
    expect((await found())[0]).toMatchObject({
      startDate: '2026-03-30T06:00:00.000Z',
      endDate: '2026-03-30T00:00:00.000Z',
    });
    const { changeCursor } = await service.data('{ changeCursor }');
    await service.data(`mutation { revertChanges(after: "${changeCursor - 1}", upTo: "${changeCursor}") { made } }`);
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('This was undone already.').waitFor();
    expect(await found()).toEqual(stored);
    await page.getByRole('button', { name: 'Change…' }).click();
    await ofOne.getByLabel('Field').selectOption('End date');
    await ofOne.getByLabel('End date', { exact: true }).fill('2026-05-01');
    await service.data(`mutation { updateWorkOrders(input: [{ id: "${made[0]?.id}", reference: "R" }]) { id } }`);
    await ofOne.getByRole('button', { name: 'Change 1 work order' }).click();
    await ofOne.getByText('Not saved: somebody has changed R B 0 meanwhile.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Select B 2').check();
    await page.getByRole('button', { name: 'Change…' }).click();
    const ofTwo = page.getByRole('dialog', { name: 'Change 2 work orders' });
    await ofTwo.getByLabel('Field').selectOption('Start and end, by days');
    await ofTwo.getByLabel('Move start and end by days').fill('1');
    await service.data(`mutation { deleteWorkOrders(ids: ["${made[2]?.id}"]) { id } }`);
    await ofTwo.locator('.primary').click();
    await ofTwo.getByText('Not saved: somebody has deleted B 2 meanwhile.').waitFor();
    await ofTwo.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Change…' }).click();
    // A list of choices is over the dialog, which it does not scroll.
    await service.create('/locations', ...Array.from({ length: 9 }, (_, at) => ({ name: `Pier ${at}` })));
    await ofOne.getByLabel('Field').selectOption('Location');
    const place = ofOne.getByRole('combobox', { name: 'Location' });
    for (const size of [
      { width: 1280, height: 900 },
      { width: 420, height: 860 },
    ]) {
      await page.setViewportSize(size);
      const before = await place.boundingBox();
      await place.press('ArrowUp');
      await ofOne.getByRole('option').last().click({ trial: true });
      expect(await place.boundingBox()).toEqual(before);
      await place.press('Escape');
    }
    // A position of the map does not close it, but rows in place of the selected ones do.
    await page.evaluate("history.replaceState(null, '', '#5/1/1')");
    expect(await ofOne.count()).toBe(1);
    await ofOne.getByRole('button', { name: 'Cancel' }).click();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('Pier')) await ofOne.waitFor().catch(() => {});
      return route.fallback();
    });
    await page.evaluate("void navigation.navigate('explore?kind=WorkOrder&search=Pier')");
    await page.getByRole('button', { name: 'Change…' }).click();
    await status(page).getByText('No longer selected').waitFor();
    expect(await ofOne.count()).toBe(0);
  });
});
