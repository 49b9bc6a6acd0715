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

test('lead to the only place that has the path, stored before or by the same import, in batches of any size', async () => {
  const seed = Date.now();
  const random = createRandom(seed);
  for (let round = 0; round < 5; round += 1) {
    const places: Place[] = [];
    for (let n = 0; n < 40; n += 1) {
      const parent = random.chance(0.9) ? random.pick(places) : undefined;
      places.push({ city: `${round}-${n}`, name: `${random.pick(['Yard', 'Hall', 'Bay'])} ${round}`, parent });
    }
    const pathOf = (place: Place, levels: number) => namesOf(place).slice(-levels).join(' / ');
    const placesAt = (path: string) => places.filter((place) => ` / ${pathOf(place, 99)}`.endsWith(` / ${path}`));
    const rows = random
      .shuffle(places)
      .map(({ city, name, parent }) => `${city},${city},${name},${parent?.city ?? ''}`);
    const paths = places.map((place) => pathOf(place, 2 + random.integer(6)));
    const locations = { 'locations.csv': ['id,city,name,parent', ...rows, ''].join('\n') };
    const assets = {
      'assets.csv': ['name,location', ...paths.map((path, n) => `${round}-${n},${path}`), ''].join('\n'),
    };
    const options = ['--batch', String(1 + random.integer(40)), ...(random.chance(0.5) ? ['--no-preview'] : [])];

    const isTogether = random.chance(0.5);
    for (const files of isTogether ? [{ ...locations, ...assets }] : [locations, assets])
      await imports.import(files, ...options);

    const linked = paths.flatMap((path, n) => {
      const [place, other] = placesAt(path);
      return place && !other ? [{ name: `${round}-${n}`, currentLocation: { city: place.city } }] : [];
    });
    const found = await imports.records('assets', 'name currentLocation { city }');
    const ofRound = found.filter(({ name }: Place) => name.startsWith(`${round}-`));
    // A path of one name is a name.
    const isNamed = ({ name }: { readonly name: string }) => paths[Number(name.split('-')[1])]?.includes(' / ');
    expect([seed, ofRound.filter(isNamed)]).toEqual([seed, linked.filter(isNamed)]);
  }
});

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
    expect.stringMatching(/line 6: currentLocation: no location has the name or path "Hall \/ Shed"$/),
    expect.stringMatching(/line 7: currentLocation: no location has the name or path "yard \/ hall"$/),
  ]);
  expect(await imports.records('assets', 'currentLocation { name parent { name } }')).toEqual([
    { currentLocation: { name: 'Hall', parent: { name: 'Yard' } } },
    { currentLocation: { name: 'Hall / Room', parent: null } },
    { currentLocation: { name: 'Room', parent: { name: 'Hall' } } },
  ]);
});

test('are not checked in a preview whose rows may change the places, and create none', async () => {
  await imports.import({ 'locations.csv': 'name\nYard\n' });
  const files = {
    'locations.csv': 'name,parent\nShed,Yard\n',
    'assets.csv': 'name,location\nCrane,Yard / Shed\nPump,Yard / Hall\n',
  };

  const preview = await imports.import(files, '--dry-run');
  expect(preview.out).toContain('Not checked: links of 2 rows to rows of earlier batches, first in assets.csv, line 2');
  expect((await imports.import(files, '--create-missing', 'locations')).code).toBe(2);
  expect(await imports.records('assets', 'currentLocation { name parent { name } }')).toEqual([
    { currentLocation: { name: 'Shed', parent: { name: 'Yard' } } },
  ]);
  expect(await imports.records('locations', 'name')).toHaveLength(2);
});

test('of parents lead to places that are stored before the import', async () => {
  await imports.import({ 'locations.csv': 'id,name,parent\n1,Yard,\n2,Hall,1\n' });

  const { out } = await imports.import({
    'locations.csv': 'name,parent\nShed,Yard / Hall\nBox,Yard / Shed\nBay,Yard / Hall\n',
  });

  expect(out.filter((line) => /, line \d+: /.test(line))).toEqual([
    expect.stringMatching(/line 3: parent: a row of the import has the name "Shed": link to it by its ID/),
  ]);
  expect(await imports.records('locations', 'name parent { name }')).toEqual([
    { name: 'Yard', parent: null },
    { name: 'Hall', parent: { name: 'Yard' } },
    { name: 'Shed', parent: { name: 'Hall' } },
    { name: 'Bay', parent: { name: 'Hall' } },
  ]);
});
