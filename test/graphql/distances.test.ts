/** Orders by distance, nearest first, against the formula of a sphere. query-model.test.ts has those of linked places. */
import { expect, test } from 'vitest';
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

test('places come in the order of their distance on a sphere, within a metre, and of their IDs, page by page; those without one last', async () => {
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
    for (const [index, place] of found.entries()) {
      const distance = kilometres(place, from);
      expect(Math.abs((place.distanceKm ?? 0) - distance), `seed ${seed}`).toBeLessThan(0.001);
      expect(distance - last, `seed ${seed}`).toBeGreaterThan(-0.001);
      last = distance;
      const next = found[index + 1];
      // All longitudes of a pole are the same place, and so are both sides of the antimeridian.
      if (next && kilometres(place, next) < 1e-9) expect(place.id < next.id, `seed ${seed}`).toBe(true);
    }
  }
});
