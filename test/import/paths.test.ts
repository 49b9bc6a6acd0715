/** Links by a path of names, such as `Yard / Shed`: the Shed whose parent is the Yard. */
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';
import { createRandom } from '../support/random.ts';

const imports = useImports();

interface Place {
  readonly city: string;
  readonly name: string;
  readonly parent: Place | undefined;
}

const namesOf = (place: Place | undefined): string[] => (place ? [...namesOf(place.parent), place.name] : []);

test('lead to the only place that has the path, stored before or in the same files, in any order of the rows', async () => {
  const seed = Date.now();
  const random = createRandom(seed);
  for (let round = 0; round < 5; round += 1) {
    const places: Place[] = [];
    for (let n = 0; n < 30; n += 1) {
      const parent = random.chance(0.8) ? random.pick(places) : undefined;
      const level = ['Yard', 'Hall', 'Bay', 'Box'][namesOf(parent).length];
      if (level) places.push({ city: `${round}-${n}`, name: `${level} ${round}${random.integer(2)}`, parent });
    }
    const placesAt = (path: string) =>
      places.filter((place) => ` / ${namesOf(place).join(' / ')}`.endsWith(` / ${path}`));
    const parentOf = ({ parent }: Place) => {
      const path = namesOf(parent).join(' / ');
      return path.includes(' / ') && placesAt(path).length === 1 ? path : (parent?.city ?? '');
    };
    const rows = random.shuffle(places).map((place) => `${place.city},${place.city},${place.name},${parentOf(place)}`);
    const paths = places.map((place) =>
      namesOf(place)
        .slice(-2 - random.integer(3))
        .join(' / '),
    );
    const locations = { 'locations.csv': ['id,city,name,parent', ...rows, ''].join('\n') };
    const assets = {
      'assets.csv': ['name,location', ...paths.map((path, n) => `${round}-${n},${path}`), ''].join('\n'),
    };
    const batch = ['--batch', String(1 + random.integer(40))];

    for (const files of random.chance(0.5) ? [locations, assets] : [{ ...locations, ...assets }]) {
      await imports.import(files, ...batch, ...(random.chance(0.5) ? ['--no-preview'] : []));
    }

    const stored = await imports.records('locations', 'city parent { city }');
    const expected = places.map(({ city, parent }) => ({ city, parent: parent ? { city: parent.city } : null }));
    expect([seed, stored.filter(({ city }: Place) => city.startsWith(`${round}-`)).toSorted(byCity)]).toEqual([
      seed,
      expected.toSorted(byCity),
    ]);
    const linked = paths.flatMap((path, n) => {
      const [place, other] = placesAt(path);
      return place && !other ? [{ name: `${round}-${n}`, currentLocation: { city: place.city } }] : [];
    });
    const found = await imports.records('assets', 'name currentLocation { city }');
    expect([seed, found.filter(({ name }: Place) => name.startsWith(`${round}-`))]).toEqual([seed, linked]);
  }
});

const byCity = (a: { readonly city: string }, b: { readonly city: string }) => (a.city < b.city ? -1 : 1);

test('are names if a record has the whole text as its name; a path of no record, or of several, is refused', async () => {
  await imports.import({
    'locations.csv': 'id,name,parent\n1,Yard,\n2,Shed,1\n3,Yard,\n4,Shed,3\n5,Hall,3\n6,Hall / Room,\n7,Room,5\n',
  });
  const assets = ['Yard / Shed', 'Yard / Hall', 'Hall / Room', 'Yard / Hall / Room', 'Hall / Shed', 'yard / hall'];

  const { code, out } = await imports.import({
    'assets.csv': `name,location\n${assets.map((path) => `${path},${path}\n`).join('')}`,
  });

  expect([code, ...out.filter((line) => /, line \d+: /.test(line))]).toEqual([
    2,
    expect.stringMatching(
      /line 2: currentLocation: 2 locations have the path "Yard \/ Shed": location_\w+, location_\w+$/,
    ),
    expect.stringMatching(/line 6: currentLocation\.name: there is no location with the name "Hall \/ Shed"/),
    expect.stringMatching(/line 7: currentLocation\.name: there is no location with the name "yard \/ hall"/),
  ]);
  expect(await imports.records('assets', 'currentLocation { name parent { name } }')).toEqual([
    { currentLocation: { name: 'Hall', parent: { name: 'Yard' } } },
    { currentLocation: { name: 'Hall / Room', parent: null } },
    { currentLocation: { name: 'Room', parent: { name: 'Hall' } } },
  ]);
});

test('are not checked in a preview if an earlier batch would create or rename a place of the path', async () => {
  await imports.import({ 'locations.csv': 'name\nYard\n' });
  const files = {
    'locations.csv': 'name,parent\nShed,Yard\nBox,Yard / Shed\n',
    'assets.csv': 'name,location\nCrane,Yard / Shed\n',
  };

  const preview = await imports.import(files, '--dry-run');
  expect(preview.out).toContain(
    'Not checked: links of 2 rows to rows of earlier batches, first in locations.csv, line 3',
  );
  expect((await imports.import(files)).code).toBe(0);
  expect(await imports.records('assets', 'currentLocation { name parent { name } }')).toEqual([
    { currentLocation: { name: 'Shed', parent: { name: 'Yard' } } },
  ]);
});
