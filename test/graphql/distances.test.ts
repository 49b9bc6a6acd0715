/** Orders by distance, nearest first, against the formula of a sphere. */
import { expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { updateDocument } from '../support/mutations.ts';
import { createRandom } from '../support/random.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Place = Readonly<Record<'latitude' | 'longitude', number>>;

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** By Vincenty's formula for a sphere, which is exact for small distances and for antipodes. */
function kilometres(a: Place, b: Place): number {
  const [lat1, lat2] = [radians(a.latitude), radians(b.latitude)];
  const delta = radians(a.longitude - b.longitude);
  const y = Math.hypot(
    Math.cos(lat2) * Math.sin(delta),
    Math.cos(lat1) * Math.sin(lat2) - Math.sin(lat1) * Math.cos(lat2) * Math.cos(delta),
  );
  const x = Math.sin(lat1) * Math.sin(lat2) + Math.cos(lat1) * Math.cos(lat2) * Math.cos(delta);
  return 6371.0088 * Math.atan2(y, x);
}

/** Towns and what is a few metres from them, the poles, the antimeridian, and the other side of the Earth. */
function somePlaces(random: ReturnType<typeof createRandom>): Place[] {
  const towns = Array.from({ length: 40 }, () => [
    random.integer(17_000) / 100 - 85,
    random.integer(36_000) / 100 - 180,
  ]);
  const near = towns.flatMap(([latitude = 0, longitude = 0]) =>
    Array.from({ length: 4 }, () => [latitude + random.integer(100) / 1e6, longitude + random.integer(100) / 1e6]),
  );
  const ends = [90, -90, 0].flatMap((latitude) =>
    [-180, -179.99999, 0, 8.8, 179.99999, 180].map((at) => [latitude, at]),
  );
  const all = random.shuffle([...towns, ...near, ...ends]);
  return all.map(([latitude = 0, longitude = 0]) => ({ latitude, longitude: Math.min(180, longitude) }));
}

const nearest = `query ($from: PointInput!, $after: String, $first: Int) {
  locations(first: $first, after: $after, orderBy: [{ distance: $from }]) {
    nodes { id latitude longitude distanceKm(from: $from) } pageInfo { hasNextPage endCursor }
  }
}`;

test('places come in the order of their distance on a sphere, within a metre, page by page; those without one last', async () => {
  const seed = Date.now();
  const places = somePlaces(createRandom(seed));
  await service.create('/locations', {}, ...places, { latitude: 5 });
  for (const from of [
    { latitude: 53.08, longitude: 8.8 },
    { latitude: 90, longitude: 0 },
    { latitude: -53.08, longitude: -171.2 },
    { latitude: 0, longitude: 180 },
  ]) {
    const found: (Place & { id: string; distanceKm: number | null })[] = [];
    for (let page = { hasNextPage: true, endCursor: null }; page.hasNextPage; ) {
      const { locations } = await service.data(nearest, { from, after: page.endCursor, first: 37 });
      found.push(...locations.nodes);
      page = locations.pageInfo;
    }
    expect(new Set(found.map(({ id }) => id)).size).toBe(places.length + 2);
    expect(found.splice(-2).map(({ distanceKm }) => distanceKm)).toEqual([null, null]);
    let last = 0;
    for (const place of found) {
      const distance = kilometres(place, from);
      expect(Math.abs((place.distanceKm ?? 0) - distance), `seed ${seed}`).toBeLessThan(0.001);
      expect(distance - last, `seed ${seed}`).toBeGreaterThan(-0.001);
      last = distance;
    }
  }
});

test('records at the same place come in the order of their IDs, however its coordinates are written', async () => {
  const same = [
    ...[180, -180, 180].map((longitude) => ({ latitude: 12.34, longitude })),
    ...[0, 77, -180].map((longitude) => ({ latitude: 90, longitude })),
  ];
  const created = await service.create('/locations', ...same);
  const { locations } = await service.data(nearest, { from: { latitude: 53.08, longitude: 8.8 } });
  const ids = locations.nodes.map(({ id }: { id: string }) => id);
  const places = created.map(({ id }) => id);
  expect(ids).toEqual([...places.slice(3), ...places.slice(0, 3)]);
});

test('assets come in the order of the distance of their location, which may move', async () => {
  const yards = [
    { name: 'North yard', latitude: 54, longitude: 9 },
    { name: 'South yard', latitude: 48, longitude: 9 },
  ];
  const [north, south] = await service.create('/locations', ...yards);
  const at = (name: string, currentLocationId?: string) => ({ name, currentLocationId });
  await service.create('/assets', at('Nowhere'), at('Crane', south.id), at('Pump', north.id), at('Away', 'ERP-1'));
  const names = async () => {
    const { assets } = await service.data(
      '{ assets(orderBy: [{ currentLocation: { distance: { latitude: 53, longitude: 9 } } }, { name: DESC }]) { nodes { name } } }',
    );
    return assets.nodes.map(({ name }: { name: string }) => name);
  };
  expect(await names()).toEqual(['Pump', 'Crane', 'Nowhere', 'Away']);
  await service.data(updateDocument(location), { input: [{ id: south.id, latitude: 53.1 }] });
  expect(await names()).toEqual(['Crane', 'Pump', 'Nowhere', 'Away']);
  await service.data(updateDocument(location), { input: [{ id: south.id, longitude: null }] });
  expect(await names()).toEqual(['Pump', 'Nowhere', 'Crane', 'Away']);
});
