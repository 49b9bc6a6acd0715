/** The map of locations, with a list of those whose coordinates look wrong. What draws it is loaded while they are read. */
import { html, nothing } from 'lit-html';
import { atMost, descending, query } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { link } from './values.ts';

const [maxPlaces, maxProblems] = [20_000, 50];
const { mapCredit } = document.body.dataset;

const middle = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

function withProblems(places: readonly Data[]): Data[] {
  const center = [middle(places.map((place) => place.latitude)), middle(places.map((place) => place.longitude))];
  const distance = (...place: [number, number]) =>
    Math.hypot(...place.map((value, axis) => value - (center[axis] ?? 0)));
  const problemOf = ({ latitude, longitude }: Data): string | undefined => {
    if (latitude === 0 && longitude === 0) return '0/0 is in the sea';
    if (Math.abs(latitude) > 85) return 'too near to a pole for the map';
    // Far from all others, and among them if read the other way round.
    const isExchanged = distance(latitude, longitude) > 20 && distance(longitude, latitude) < 10;
    return isExchanged ? 'latitude and longitude look exchanged' : undefined;
  };
  return places.map((place) => ({ ...place, problem: problemOf(place) }));
}

const placed = { latitude: { isNull: false }, longitude: { isNull: false } };

/** Unless this has another result, the locations of a map are as they were. */
const stateQuery = `all: locations(first: 0) { totalCount }
  placed: ${query('locations', { first: 1, where: placed, orderBy: [{ updatedAt: descending }] }, 'totalCount nodes { updatedAt }')}`;

/** A page of them: as large as the service allows. */
const pageQuery = (after?: string): string => {
  const selection = `nodes { id name city latitude longitude } pageInfo { hasNextPage endCursor }`;
  return query('locations', { first: atMost(10_000), after, where: placed }, selection);
};

/** What was read last: it is read again only if it has changed. */
let last: { readonly state: string; readonly places: readonly Data[] } | undefined;

export const locations: Viewer = {
  queries: () => [stateQuery, pageQuery()],
  async *read() {
    const drawing = import('./map.js');
    const counts = await read(stateQuery);
    const state = JSON.stringify(counts);
    const places: Data[] = [];
    for (let page: Data = { hasNextPage: last?.state !== state }; page.hasNextPage && places.length < maxPlaces; ) {
      const { nodes, pageInfo } = (await read(pageQuery(page.endCursor))).locations;
      page = pageInfo;
      places.push(...nodes);
      await drawing;
      // The map is there with the first page: to draw it after each one would take longer than to read them.
      if (!last && places.length === nodes.length) yield { ...counts, places: withProblems(places) };
    }
    if (last?.state !== state) last = { state, places: withProblems(places) };
    await drawing;
    yield { ...counts, places: last?.places };
  },
  draw(_, { places, all, placed }) {
    const [count, total, drawn] = [placed.totalCount, all.totalCount, places.length].map((n) => n.toLocaleString());
    const problems = places.filter(({ problem }: Data) => problem !== undefined).slice(0, maxProblems);
    const item = (place: Data) =>
      html`<li>${link('Location', place)} (${place.latitude}, ${place.longitude}: ${place.problem})</li>`;
    const limit = placed.totalCount > places.length ? `The map has the first ${drawn}.` : nothing;
    return html`
      <p>${count} of ${total} locations have coordinates. ${limit} ${mapCredit}</p>
      <place-map .places=${places}></place-map>
      ${problems.length > 0 ? html`<h2>Coordinates to check</h2>` : nothing}
      <ul>${problems.map(item)}</ul>`;
  },
};
