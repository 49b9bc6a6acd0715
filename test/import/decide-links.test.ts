/** Where a link of a row leads, by what its cells say and what is stored. */
import { expect, test } from 'vitest';
import { type Decision, decide, type LinkCell } from '../../src/import/links.ts';
import type { RowState } from '../../src/import/row.ts';
import { location } from '../../src/records/index.ts';

const [north, south] = ['location_north', 'location_south'];
const coming: RowState = { is: 'coming' };
const other: RowState = { is: 'coming' };
const previewed: RowState = { is: 'accepted' };
const refused: RowState = { is: 'refused' };

/** A cell with a value, unless it is given as empty. */
const cell = (
  by: string,
  targets: LinkCell['targets'] extends ReadonlySet<infer T> ? T[] : never,
  value: string | null = 'x',
) => ({
  link: { name: 'location', field: 'locationId', target: location, by, value, cell: 0 },
  targets: new Set(targets),
});
const emptied = (by: string, ...targets: Parameters<typeof cell>[1]) => cell(by, targets, null);

const set = (to: Extract<Decision, { is: 'set' }>['to']) => ({ is: 'set', to });
const fails = (is: string, by: string) => ({ is, link: expect.objectContaining({ by }) });
const lookup = { externalId: { key: 'erp', value: 'L-1' } };

type Known = Partial<Parameters<typeof decide>[1]>;

test.each<[string, LinkCell[], Known, object]>([
  ['one record', [cell('name', [north])], {}, set(north)],
  ['an external ID that the service looks up', [cell('externalIds.erp', [lookup])], {}, set(lookup)],
  ['no record', [cell('name', [])], {}, fails('none', 'name')],
  ['no record by its ID', [cell('id', []), emptied('name')], {}, fails('none', 'id')],
  ['two records', [cell('name', [north, south])], {}, fails('several', 'name')],
  ['a record and a row of the import', [cell('name', [north, previewed])], {}, fails('several', 'name')],
  ['nothing', [emptied('id')], {}, set(null)],
  ['nothing, said twice', [emptied('id'), emptied('name', north)], { stored: north }, set(null)],
  ['a row that was refused', [cell('id', [refused])], {}, fails('none', 'id')],
  ['a row of this part', [cell('id', [coming])], { refs: new Map([[coming, 'a']]) }, set({ ref: 'a' })],
  ['a row of a later part', [cell('id', [coming])], { refs: new Map([[other, 'a']]) }, { is: 'late' }],
  ['a row that a preview would create', [cell('name', [previewed])], {}, { is: 'late' }],
  ['two rows', [cell('name', [coming, other])], {}, fails('several', 'name')],
  [
    'a row that may be a record',
    [cell('name', [coming, north])],
    { areUpserted: true },
    { is: 'late', perhaps: north },
  ],
  ['rows of which one is refused later', [cell('name', [coming, other])], { areUpserted: true }, { is: 'late' }],
  [
    'records of which a row may be one',
    [cell('name', [coming, north, south])],
    { areUpserted: true },
    fails('several', 'name'),
  ],
])('a cell leads to %s', (_, cells, known, decision) => {
  expect(decide(cells, { refs: new Map(), areUpserted: false, ...known })).toEqual(decision);
});

test.each<[string, LinkCell[], string | undefined, object]>([
  ['all that is stored', [cell('id', [north]), cell('name', [north, south])], north, set(north)],
  ['one elsewhere, which counts', [cell('id', [north]), cell('name', [south])], north, set(south)],
  ['one to nothing, which counts', [cell('id', [north]), cell('name', [])], north, fails('none', 'name')],
  [
    'one to several, which counts',
    [cell('id', [north]), cell('name', [south, previewed])],
    north,
    fails('several', 'name'),
  ],
  ['both to the same', [cell('id', [south]), cell('name', [north, south])], 'location_west', set(south)],
  ['both to the same row', [cell('id', [coming]), cell('name', [coming])], undefined, { is: 'late' }],
  [
    'both elsewhere, and not to the same',
    [cell('id', [south]), cell('name', [north])],
    'x',
    fails('contradiction', 'id'),
  ],
  ['a new row to two records', [cell('id', [south]), cell('name', [north])], undefined, fails('contradiction', 'id')],
  ['a new row, by an ID of another workspace', [cell('id', []), cell('name', [north])], undefined, set(north)],
  [
    'a new row, by the ID of a refused one',
    [cell('id', [refused]), cell('name', [north])],
    undefined,
    fails('contradiction', 'id'),
  ],
  [
    'a new row by what is not there',
    [cell('externalIds.erp', [lookup]), cell('name', [north])],
    undefined,
    fails('contradiction', 'externalIds.erp'),
  ],
  ['one that is emptied, which clears it', [cell('id', [north]), emptied('name')], north, set(null)],
  [
    'one that is emptied, and one elsewhere',
    [emptied('id'), cell('name', [south])],
    north,
    fails('contradiction', 'id'),
  ],
  ['one elsewhere, to what has no such text', [cell('id', [south]), emptied('name', south)], north, set(south)],
  ['one that has been empty before', [cell('id', [north]), emptied('name', north)], north, set(north)],
  ['an empty one of a new row', [emptied('id'), cell('name', [north])], undefined, set(north)],
])('two cells lead %s', (_, cells, stored, decision) => {
  expect(decide(cells, { stored, refs: new Map(), areUpserted: false })).toEqual(decision);
});
