/** The page on filters can be pasted, shows the demo's data, and has every operator. */
import { readFileSync } from 'node:fs';
import { buildSchema, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { recordKinds } from '../../src/records/index.ts';
import { pastePage, readPage } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { listen, useSharedService } from '../support/service.ts';

const page = 'docs/filters.md';
const service = useSharedService();
const processes = useProcesses();

test('the examples of the page on filters return what it shows, and invalid filters the messages of its table', async () => {
  await fillDemo(service.database);
  await pastePage(page, processes.folder, await listen(service.app));

  const rows = [...readPage(page).matchAll(/^\| `(\{.*\})` \| `(.*)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(4);
  for (const [, filter, message] of rows) {
    const { body } = await service.graphql(`{ workOrders(where: ${filter}) { totalCount } }`);
    expect(body.errors?.[0].message, filter).toBe(message);
  }
});

/** What the table of operators calls the fields, and the input type that has their operators. */
const types: Readonly<Record<string, string>> = {
  text: 'TextFilter',
  IDs: 'IdFilter',
  numbers: 'NumberFilter',
  times: 'DateTimeFilter',
  'true or false': 'BooleanFilter',
  '`externalIds`': 'ExternalIdFilter',
  'links to many': 'WorkOrderListFilter',
  '`near`, of locations': 'NearFilter',
};

test.each(Object.entries(types))('the table of operators has all operators of %s', (fields, name) => {
  const type = buildSchema(readFileSync('schema.graphql', 'utf8')).getType(name);
  const [, operators = ''] =
    new RegExp(`^\\| (?:[\\w ]+, )?${fields}(?:, [\\w ]+)? \\| (.*) \\|$`, 'm').exec(readPage(page)) ?? [];
  const listed = [...operators.matchAll(/`(\w+)(?:: true)?`/g)].map(([, operator]) => operator);
  expect([...new Set(listed)].toSorted()).toEqual(isInputObjectType(type) && Object.keys(type.getFields()).toSorted());
});

test('all links, IDs and external IDs have an index', () => {
  const fields = recordKinds.flatMap(({ storedFields }) => Object.entries(storedFields));
  const linking = fields.filter(([name, { type }]) => name !== 'workspaceId' && linkTypes.includes(type));
  expect(linking.filter(([, { indexed }]) => !indexed)).toEqual([]);
});

const linkTypes = ['reference', 'foreignReference', 'externalIds'];
