/** What a dispatcher changes in the explorer, in a real browser: what is stored, what is not, and what others change meanwhile. */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { barriers, describeInChromium, enterKey, look, moveTo, useBrowser, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const stored = {
  name: 'Set up the crane',
  statusId: 'status-planned',
  startDate: '2026-03-02T06:00:00.000Z',
  endDate: '2026-03-02T11:00:30.123Z',
  notes: 'The road to the quay\r\nis closed.',
};

describeInChromium('a work order in the explorer', () => {
  const browser = useBrowser();
  const open = useSharedService();
  const closed = useSharedService({}, { closed: true });
  const newPage = usePages(browser);
  let locations: { id: string }[];
  let order: { id: string };

  beforeAll(async () => {
    const names = ['North yard', 'South yard', 'South yard'];
    locations = await open.create('/locations', ...names.map((name) => ({ name, city: 'Bremen' })));
    await open.create('/work-orders', { statusId: 'status-released' });
  });
  beforeEach(async () => {
    [order] = (await open.create('/work-orders', { ...stored, locationId: locations[0]?.id })) as [{ id: string }];
  });

  const read = async () => {
    const fields = 'name statusId startDate endDate locationId notes updatedAt history { nodes { action } }';
    return (await open.data(`query ($id: ID!) { workOrder(id: $id) { ${fields} } }`, { id: order.id })).workOrder;
  };

  const openForm = async () => {
    const { page, visit } = await newPage(await listen(open.app));
    await moveTo(page, 'Europe/Berlin');
    await page.addInitScript(`window.bodies = []; const send = fetch; window.fetch = async (...sent) => {
      bodies.push(await new Request(sent[0].clone?.() ?? sent[0], sent[1]).text());
      return send(...sent);
    }`);
    await page.goto(`${await listen(open.app)}/explore?kind=WorkOrder&id=${order.id}`);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    return { page, visit };
  };

  /** What was sent to change work orders. */
  const sentItems = async (page: Page) =>
    ((await page.evaluate('bodies')) as string[]).flatMap((body) =>
      body.includes('updateWorkOrders') ? [JSON.parse(body).variables.input] : [],
    );

  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
  const status = (page: Page) => page.locator('.toast');

  test('is moved by a day, with nothing else changed, and back', async () => {
    const before = await read();
    const nextDay = { startDate: '2026-03-03T06:00:00.000Z', endDate: '2026-03-03T11:00:30.123Z' };
    const { page, visit } = await openForm();
    expect(await page.evaluate('document.activeElement.name')).toBe('statusId');
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-edit');

    const start = page.getByLabel('Start (Europe/Berlin)');
    expect(await start.inputValue()).toBe('2026-03-02T07:00');
    expect(await page.getByLabel('End (Europe/Berlin)').inputValue()).toBe('2026-03-02T12:00:30.123');
    await start.fill('2026-03-03T07:00');
    await save(page).click();
    await page.locator('#endDate-issue').getByText('the end is before the start').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('endDate');
    expect(await sentItems(page)).toEqual([]);
    await page.getByLabel('End (Europe/Berlin)').fill('2026-03-03T12:00:30.123');
    await save(page).dblclick();
    await status(page).getByText('Saved.').waitFor();

    expect(await sentItems(page)).toEqual([[{ id: order.id, ifUpdatedAt: before.updatedAt, ...nextDay }]]);
    const moved = await read();
    expect(moved).toMatchObject({ ...stored, ...nextDay, locationId: locations[0]?.id });
    expect(await page.evaluate('document.activeElement.id')).toBe('edit');
    await page.locator('dd time[datetime="2026-03-03T06:00:00.000Z"]').waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-saved');

    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page).getByText('Undone.').waitFor();
    expect(await read()).toMatchObject({ ...stored, locationId: locations[0]?.id });
    await page.locator('dd time[datetime="2026-03-02T06:00:00.000Z"]').waitFor();
    await status(page).getByRole('button', { name: 'Close' }).click();
    expect(await status(page).innerText()).toBe('');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('gets a status in use, a location by its name, notes, and no end any more', async () => {
    const { page, visit } = await openForm();
    await page.locator('#statusId-list option[value=status-released]').waitFor({ state: 'attached' });
    await page.getByLabel('Status').fill('status-released');
    // Two locations have this name.
    await page.getByLabel('Location').fill('South yard');
    const option = page.locator('#locationId-list option').nth(1);
    await option.waitFor({ state: 'attached' });
    await save(page).click();
    await page.getByText(/^choose one of the locations/).waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('locationId');
    expect((await read()).statusId).toBe('status-planned');

    await page.getByLabel('Location').fill((await option.getAttribute('value')) ?? '');
    await page.getByLabel('Notes').fill('Open again.');
    await page.getByLabel(/^End/).fill('');
    await page.getByLabel('Status').press('Enter');
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({
      statusId: 'status-released',
      locationId: locations[2]?.id,
      notes: 'Open again.',
      startDate: stored.startDate,
      endDate: null,
    });
    expect(visit.errors).toEqual([]);
  });

  test('has its status by the name that a label gives it, in the form and in its history', async () => {
    await open.create('/labels', { key: 'STATUS:status-planned', name: 'Planned', color: '#1565c0' });
    await open.create('/labels', { key: 'STATUS:status-sealed', name: 'Sealed', color: '#2e7d32' });
    const { page, visit } = await openForm();
    expect(await page.getByLabel('Status').inputValue()).toBe('Planned');
    await page.locator('#statusId-list option[value=Sealed]').waitFor({ state: 'attached' });
    await page.getByLabel('Status').fill('Sealed');
    await page.getByLabel('Location').fill('North yard');
    await page.getByLabel('Notes').fill('Closed.');
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({ statusId: 'status-sealed', locationId: locations[0]?.id });
    await open.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, locationId: 'ERP-LOCATION-7' }],
    });

    const history = page.locator('.history');
    await history.getByText('ERP-LOCATION-7').waitFor();
    const changes = (await history.locator('li li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    expect(changes.sort()).toEqual([
      'location: North yard ERP-LOCATION-7',
      'notes: The road to the quay is closed. Closed.',
      'status: Planned Sealed',
    ]);
    await history.getByRole('link', { name: 'North yard' }).waitFor();
    expect(visit.errors).toEqual([]);
  });

  test('keeps what others change meanwhile, and what somebody is typing', async () => {
    const { page } = await openForm();
    await page.getByLabel('Status').fill('status-done');
    await page.getByLabel('Notes').focus();
    await open.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, statusId: 'status-stopped', notes: 'Storm' }],
    });
    // Without a save: the page is live.
    await page.getByRole('alert').getByText('status-stopped').waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('status-done');
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-conflict');

    await save(page).click();
    await page.locator('fieldset:enabled').waitFor();
    expect((await sentItems(page)).length).toBe(1);
    expect(await read()).toMatchObject({ statusId: 'status-stopped', notes: 'Storm' });

    await page.getByRole('button', { name: 'Save my changes on top' }).click();
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({ statusId: 'status-done', notes: 'Storm' });

    // What has changed since is not undone.
    await open.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, statusId: 'status-paid' }],
    });
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page)
      .getByText(/^Not undone: /)
      .waitFor();
    expect((await read()).statusId).toBe('status-paid');
  });

  test('does not take a date that is not whole for one that was cleared, not even on top of what others have changed', async () => {
    const { page } = await openForm();
    await page.getByLabel(/^Start/).press('Backspace');
    await page.getByLabel('Notes').fill('Rain');
    await save(page).click();
    await open.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, statusId: 'status-stopped' }],
    });
    await page.getByRole('button', { name: 'Save my changes on top' }).click();
    await page.waitForTimeout(300);
    expect(await read()).toMatchObject({ startDate: stored.startDate, notes: stored.notes });
  });

  test('takes over the newest values, is left by Escape, and is found again as it was being typed', async () => {
    const { page } = await openForm();
    await page.getByLabel('Status').fill('status-done');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goBack();
    await page.getByLabel('Status').waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('status-done');

    // Also where the view cannot be read again.
    await page.route('**/graphql', (route) => route.fulfill({ status: 500, body: '{}' }));
    await save(page).click();
    await page.locator('#live.off').waitFor();
    await page.getByRole('alert').waitFor();
    await page.unroute('**/graphql');
    expect(await page.getByLabel('Status').inputValue()).toBe('status-done');

    await open.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, statusId: 'status-stopped' }],
    });
    await page.getByRole('button', { name: 'Take over the newest values' }).click();
    expect(await page.getByLabel('Status').inputValue()).toBe('status-stopped');
    await page.getByLabel('Status').press('Escape');
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('edit');
    expect((await read()).statusId).toBe('status-stopped');
  });

  test('shows at its field what is refused, and stores nothing', async () => {
    const { page } = await openForm();
    await page.getByLabel('Status').fill('status-done');
    await page.getByLabel('Notes').fill('n'.repeat(10_001));
    await save(page).click();
    const notes = page.getByLabel('Notes');
    await page
      .locator('#notes-issue')
      .getByText(/10,000 characters/)
      .waitFor();
    expect(await notes.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect(await barriers(page)).toEqual([]);
    expect(await read()).toMatchObject(stored);
    await notes.fill('short');
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({ statusId: 'status-done', notes: 'short' });
  });

  test('is not edited with a read-only key', async () => {
    const origin = await listen(closed.app);
    const writer = await closed.key({ workspace: 'default', user: 'dispatcher' });
    const [own] = await closed.as(writer).create('/work-orders', stored);
    const reader = await closed.key({ workspace: 'default', user: 'guest', readOnly: true });
    const edit = { name: 'Edit' } as const;
    const { page } = await newPage(origin);
    await page.goto(`${origin}/explore?kind=WorkOrder&id=${own.id}`);
    await enterKey(page, reader);
    await page.getByText('default · guest').waitFor();
    expect(await page.getByRole('button', edit).count()).toBe(0);

    // A key that has been exchanged meanwhile is refused by the service.
    await page.evaluate(`sessionStorage.setItem('yardgraph.key', '${writer}')`);
    await page.reload();
    await page.getByRole('button', edit).click();
    await page.evaluate(`sessionStorage.setItem('yardgraph.key', '${reader}')`);
    await page.getByLabel('Notes').fill('Mine');
    await save(page).click();
    await page.getByRole('alert').getByText('this API key is read-only').waitFor();
    expect(await page.getByLabel('Notes').inputValue()).toBe('Mine');
  });
});
