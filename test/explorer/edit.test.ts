/** What a dispatcher changes in the explorer, in a real browser: what is stored, what is not, and what others change meanwhile. */
import type { Page } from 'playwright-core';
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
    const fields = 'name statusId startDate endDate locationId notes updatedAt history { nodes { action } }';
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
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('form', { name: 'Edit' }).waitFor();
    return { page, visit, sent };
  };

  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
  const status = (page: Page) => page.locator('.toast');

  const issueAt = (page: Page, name: string) =>
    page.locator(`.edit [name=${name}]`).evaluate((input: HTMLInputElement) => input.validationMessage);

  const change = (values: object) =>
    service.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', {
      input: [{ id: order.id, ...values }],
    });

  test('is moved by a day, with nothing else changed, and back', async () => {
    const before = await read();
    const nextDay = { startDate: '2026-03-03T06:00:00.000Z', endDate: '2026-03-03T11:00:30.123Z' };
    const { page, visit, sent } = await openForm();
    expect(await page.evaluate('document.activeElement.name')).toBe('statusId');

    const [start, end] = [page.getByLabel('Start (Europe/Berlin)'), page.getByLabel('End (Europe/Berlin)')];
    expect([await start.inputValue(), await end.inputValue()]).toEqual(['2026-03-02T07:00', '2026-03-02T12:00:30.123']);
    await start.fill('2026-03-03T07:00');
    await save(page).click();
    expect(await issueAt(page, 'endDate')).toBe('the end is before the start');
    expect(await page.evaluate('document.activeElement.name')).toBe('endDate');
    expect(sent).toEqual([]);
    await start.fill('2026-03-02T08:00');
    expect(await end.evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(true);
    await start.fill('2026-03-03T07:00');
    await end.fill('2026-03-03T12:00:30.123');
    await save(page).dblclick();
    await status(page).getByText('Saved.').waitFor();

    expect(sent).toEqual([[{ id: order.id, ifUpdatedAt: before.updatedAt, ...nextDay }]]);
    expect(await read()).toMatchObject({ ...stored, ...nextDay, locationId: locations[0]?.id });
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

  test('is not left with unsaved changes without a question, and shows at its field what is refused', async () => {
    const { page, sent } = await openForm();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      return dialog.dismiss();
    });
    await page.getByRole('link', { name: 'Assets', exact: true }).click();
    await page.getByRole('heading', { name: 'Assets' }).waitFor();
    expect(asked).toEqual([]);
    await page.goBack();
    await page.getByRole('form', { name: 'Edit' }).waitFor();
    const notes = page.getByLabel('Notes');
    const long = 'n'.repeat(10_001);
    await notes.fill(long);
    await page.getByRole('link', { name: 'Assets', exact: true }).click();
    await page.evaluate('setTimeout(() => location.reload())');
    await expect.poll(() => asked).toEqual(['confirm', 'beforeunload']);
    expect(await notes.inputValue()).toBe(long);

    await page.getByLabel(/^End/).fill('');
    await save(page).click();
    await expect.poll(() => issueAt(page, 'notes')).toMatch(/10,000 characters/);
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect([await read(), sent.length]).toMatchObject([stored, 1]);
    await notes.fill('short');
    await save(page).click();
    await status(page).getByText('Saved.').waitFor();
    expect(await read()).toMatchObject({ endDate: null, notes: 'short' });
  });

  test('gets a status, first those that work orders have, a location that is found by its name, notes, and no end any more', async () => {
    const labels = { planned: 'Planned', released: 'Released', sealed: 'Sealed' };
    for (const [status, name] of Object.entries(labels))
      await service.create('/labels', { key: `STATUS:status-${status}`, name, color: '#1565c0' });
    const { page, visit } = await openForm();
    const state = page.getByRole('combobox', { name: 'Status' });
    const location = page.getByRole('combobox', { name: 'Location' });
    expect(await state.locator('option:checked').innerText()).toBe('Planned');
    // No work order is sealed.
    expect((await state.locator('option').allInnerTexts()).toSorted()).toEqual(['', 'Planned', 'Released', 'Sealed']);
    expect(await state.locator('optgroup option').allInnerTexts()).toEqual(['Sealed']);
    await state.selectOption('Released');
    // Two locations have this name. A part of it is none.
    expect(await location.inputValue()).toBe('North yard, Bremen');
    await location.fill('south');
    await page.locator('datalist option[value="South yard, Quay 2, Bremen"]').waitFor({ state: 'attached' });
    await save(page).click();
    expect(await issueAt(page, 'locationId')).toBe('choose one of the locations that are found');
    await location.press('Escape');
    await location.fill('South yard, Quay 2, Bremen');
    await page.getByLabel('Notes').fill('Open again.');
    await page.getByLabel(/^End/).fill('');
    await page.getByLabel(/^End/).press('Enter');
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
    const history = page.locator('.history');
    await history.getByText('ERP-LOCATION-7').waitFor();
    expect(await history.locator('.label').first().isVisible()).toBe(true);
    const changes = (await history.locator('li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    expect(changes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/Somebody updated .*Status Planned → Released/),
        expect.stringMatching(/Somebody updated Location South yard → ERP-LOCATION-7$/),
      ]),
    );
    await history.getByRole('link', { name: 'South yard' }).first().waitFor();
    expect(visit.errors).toEqual([]);
  });

  test('keeps what others change meanwhile, and what somebody is typing', async () => {
    const { page, sent } = await openForm();
    await page.getByLabel(/^Start/).fill('2026-03-01T08:00');
    await page.getByLabel('Notes').focus();
    await change({ statusId: 'status-stopped', notes: 'Storm' });
    // Without a save: the page is live.
    await page.getByRole('alert').getByText('status-stopped').waitFor();
    expect(await page.getByLabel(/^Start/).inputValue()).toBe('2026-03-01T08:00');
    expect(await page.evaluate('document.activeElement.name')).toBe('notes');
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-conflict');

    await save(page).click();
    await page.locator('fieldset:enabled').waitFor();
    expect(sent.length).toBe(1);
    expect(await read()).toMatchObject({ statusId: 'status-stopped', notes: 'Storm', startDate: stored.startDate });

    await page.getByRole('button', { name: 'Save my changes on top' }).click();
    await status(page).getByText('Saved.').waitFor();
    const moved = { startDate: '2026-03-01T07:00:00.000Z', notes: 'Storm', statusId: 'status-stopped' };
    expect(await read()).toMatchObject(moved);

    // What has changed since is not undone.
    await change({ startDate: '2026-02-01' });
    await status(page).getByRole('button', { name: 'Undo' }).click();
    await status(page)
      .getByText(/^Not undone: /)
      .waitFor();
    expect(await read()).toMatchObject({ startDate: '2026-02-01T00:00:00.000Z' });
  });

  test('does not take a date that is not whole for one that was cleared, not even on top of what others have changed', async () => {
    const { page, sent } = await openForm();
    const notes = page.getByLabel('Notes');
    await page.getByLabel(/^Start/).press('Backspace');
    await notes.fill('Rain');
    await save(page).click();
    await change({ notes: 'Storm' });
    await page.getByRole('button', { name: 'Save my changes on top' }).click();
    await page.getByRole('button', { name: 'Take over the newest values' }).click();
    await expect.poll(() => notes.inputValue()).toBe('Storm');
    expect(sent).toEqual([]);

    // What is typed is kept where nothing can be read.
    await notes.fill('Rain');
    await page.route('**/graphql', (route) => route.fulfill({ status: 500, body: '{}' }));
    await save(page).click();
    await status(page)
      .getByText(/^Not saved: /)
      .waitFor();
    await page.unroute('**/graphql');
    expect(await notes.inputValue()).toBe('Rain');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('edit');
    expect(await read()).toMatchObject({ startDate: stored.startDate, notes: 'Storm' });
  });
});
