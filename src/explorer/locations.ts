/** The map of locations, with a list of suspect coordinates. Its code is loaded while the locations are read. */
import { html, nothing } from 'lit-html';
import { addressOf } from './address.ts';
import { atMost, descending, query } from './queries.ts';
import { type Data, type Page, read, type Viewer } from './service.ts';
import { button, link, newLink, notice, tableOf } from './values.ts';

const [maxPlaces, maxProblems] = [20_000, 50];
const toLocations = html`<a class="button" href=${addressOf({ kind: 'Location' })}>Locations</a>`;
const hint = notice('No location has a latitude and a longitude yet', toLocations, 'notice card pad');

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

function drawMap({ places, all, placed }: Data, { mayWrite }: Page) {
  const problems = places.filter(({ problem }: Data) => problem !== undefined).slice(0, maxProblems);
  const rows = problems.map((place: Data) => [
    link('Location', place),
    `${place.latitude}, ${place.longitude}: ${place.problem}`,
  ]);
  const limit = placed.totalCount > places.length ? `The map has the first ${places.length.toLocaleString()}.` : '';
  const list = tableOf('Coordinates to check', { coordinatesToCheck: '', problem: '' }, rows);
  const showAll = () => Object.assign(document.querySelector('place-map') ?? {}, { isMoved: false, places });
  const others = all.totalCount - placed.totalCount;
  const missing = addressOf({ kind: 'Location', filters: [{ field: 'latitude', operator: 'isNull', value: 'true' }] });
  const without = html`<a class="link" href=${missing}>${others.toLocaleString()} without coordinates</a>`;
  return {
    note: `${placed.totalCount.toLocaleString()} locations`,
    actions: html`${others > 0 ? without : nothing} ${button('All locations', showAll)} ${mayWrite('Location') ? newLink('Location') : nothing}`,
    content: html`${placed.totalCount === 0 ? hint : nothing} <div class="card"><place-map .places=${places}></place-map></div>
      <small>${limit} ${mapCredit} <span class="wide">By keyboard, arrows move the map, and Enter opens the place nearest to its middle.</span></small> ${problems.length > 0 ? list : nothing}`,
  };
}

export const locationMap: Viewer = {
  queries: () => [stateQuery, pageQuery()],
  /** The locations are read again only if they have changed. */
  async *read(_, last) {
    const drawing = import('./map.js');
    const counts = await read(stateQuery);
    const state = JSON.stringify(counts);
    const places: Data[] = [];
    for (let after: string | undefined; last.state !== state && places.length < maxPlaces; ) {
      const { nodes, pageInfo } = (await read(pageQuery(after))).locations;
      places.push(...nodes);
      await drawing;
      // To draw the map after each page would take longer than to read them.
      if (after === undefined && !last.places) yield { ...counts, places: withProblems(places) };
      after = pageInfo.endCursor;
      if (!pageInfo.hasNextPage) break;
    }
    yield last.state === state ? counts : { ...counts, state, places: withProblems(places) };
  },
  draw: (_, data, page) => ({ title: 'Map of locations', ...(data.places && drawMap(data, page)) }),
};
