/** Which records cannot get an earlier state back, without a database. */
import { expect, test } from 'vitest';
import { newIds } from '../../src/model/ids.ts';
import type { RecordKind, Values } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project } from '../../src/records/index.ts';
import { failImpossible, type Reversal, uniqueKey } from '../../src/services/checks/reversals.ts';

const surroundings = {
  existing: new Set<string>(),
  referring: new Map<string, string>(),
  parents: new Map<string, string | null>(),
  taken: new Set<string>(),
};

const idOf = ({ idPrefix }: RecordKind) => newIds(idPrefix, 1)[0] as string;

const reversal = (kind: RecordKind, current: Values | null, target: Values | null, id = idOf(kind)): Reversal => ({
  id,
  kind,
  current,
  target,
});

const outcomes = (reversals: readonly Reversal[], around = {}) => {
  failImpossible(reversals, { ...surroundings, ...around });
  return reversals.map(({ problem }) => problem?.message ?? 'reversed');
};

test('records that refer to each other are deleted and restored together', () => {
  const [yard, quay] = [idOf(location), idOf(location)];
  expect(
    outcomes([
      reversal(location, {}, null, yard),
      reversal(project, { locationId: yard }, { locationId: quay }),
      reversal(location, null, {}, quay),
    ]),
  ).toEqual(['reversed', 'reversed', 'reversed']);
});

test('one that is kept keeps what it refers to, and so on', () => {
  const [yard, wall] = [idOf(location), idOf(project)];
  const kept = reversal(asset, { currentLocationId: yard }, null);
  kept.problem = { outcome: 'kept', message: 'kept' };
  expect(
    outcomes([reversal(location, { ofProject: wall }, null, yard), kept, reversal(project, {}, null, wall)]),
  ).toEqual([`this location is still referenced by the asset ${kept.id}`, 'kept', 'reversed']);
});

test('one that fails makes those fail that need it', () => {
  const [yard, top] = [idOf(location), idOf(assetCategory)];
  expect(
    outcomes([
      reversal(assetCategory, null, { parentId: top }),
      reversal(assetCategory, null, { parentId: yard }, top),
      reversal(project, null, { locationId: yard }),
    ]),
  ).toEqual(['reversed', 'reversed', `there is no location with the ID "${yard}" in this workspace`]);
});

test('a unique value may come from a record that gives it up, but not from one that fails', () => {
  const yard = idOf(location);
  const taken = new Set([uniqueKey(asset, 'uid', 'A'), uniqueKey(asset, 'uid', 'Z')]);
  const target = reversal(asset, { uid: 'B' }, { uid: 'A' });
  const holder = (locationId: string | null) =>
    reversal(asset, { uid: 'A' }, { uid: 'B', currentLocationId: locationId });
  expect(outcomes([target, holder(null)], { taken })).toEqual(['reversed', 'reversed']);
  expect(outcomes([target, holder(yard)], { taken })).toEqual([
    'another asset has the uid "A"',
    `there is no location with the ID "${yard}" in this workspace`,
  ]);
  expect(outcomes([reversal(asset, { uid: 'B' }, { uid: 'Z' })], { taken })).toEqual(['another asset has the uid "Z"']);
});

test('moves that form a cycle with what is stored fail, and others do not', () => {
  const [top, below] = [idOf(assetCategory), idOf(assetCategory)];
  const parents = new Map([[below, top]]);
  const existing = new Set([below]);
  expect(
    outcomes(
      [
        reversal(assetCategory, { parentId: null }, { parentId: below }, top),
        reversal(assetCategory, { parentId: null }, { parentId: below }),
      ],
      { parents, existing },
    ),
  ).toEqual(['this asset category would be its own ancestor, because others have been moved since', 'reversed']);
});
