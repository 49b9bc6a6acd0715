/** The map of locations, with a list of those whose coordinates look wrong. */
import { html, nothing, render } from 'lit-html';
import { link } from './cells.ts';
import type { Place } from './map.ts';
import { documentOf, mapQuery, mapStateQuery, placesQuery } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';

const [maxPlaces, maxProblems] = [20_000, 50];

/** Found out once: a browser has few contexts at a time, and the map needs one of them. */
let canDraw: boolean | undefined;

/** What was read last: it is read again only if it has changed. */
let last: { readonly state: string; readonly places: readonly Place[] } | undefined;

async function* readPlaces(): AsyncGenerator<Data> {
  canDraw ??= document.createElement('canvas').getContext('webgl2') !== null;
  // What draws them is loaded while they are read.
  const drawing = canDraw ? import('./map.js') : undefined;
  const counts = await read(documentOf([mapStateQuery()]));
  const state = JSON.stringify(counts);
  const places: Place[] = [];
  for (let page: Data = { hasNextPage: last?.state !== state }; page.hasNextPage && places.length < maxPlaces; ) {
    const { nodes, pageInfo } = (await read(documentOf([mapQuery(page.endCursor)]))).locations;
    page = pageInfo;
    places.push(...nodes);
    await drawing;
    // The map is there with the first page: to draw it after each one would take longer than to read them.
    if (!last && places.length === nodes.length) yield { ...counts, places: withProblems(places) };
  }
  if (last?.state !== state) last = { state, places: withProblems(places) };
  await drawing;
  yield { ...counts, places: last.places };
}

const middle = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

function withProblems(places: readonly Place[]): Place[] {
  const center = [middle(places.map((place) => place.latitude)), middle(places.map((place) => place.longitude))];
  const distance = (...place: [number, number]) =>
    Math.hypot(...place.map((value, axis) => value - (center[axis] ?? 0)));
  const problemOf = ({ latitude, longitude }: Place): string | undefined => {
    if (latitude === 0 && longitude === 0) return '0/0 is in the sea';
    if (Math.abs(latitude) > 85) return 'too near to a pole for the map';
    // Far from all others, and among them if read the other way round.
    const isExchanged = distance(latitude, longitude) > 20 && distance(longitude, latitude) < 10;
    return isExchanged ? 'latitude and longitude look exchanged' : undefined;
  };
  return places.map((place) => ({ ...place, problem: problemOf(place) }));
}

/** Says what is at places. */
async function describe(ids: readonly string[]): Promise<Node> {
  const popup = document.createElement('div');
  const { nodes } = (await read(documentOf([placesQuery(ids)]))).locations;
  const items = nodes.map(
    (place: Data) => html`<div>
      ${link('Location', place)}<br>
      assets: ${place.assets.totalCount.toLocaleString()}, work orders: ${place.workOrders.totalCount.toLocaleString()}
    </div>`,
  );
  render(items, popup);
  return popup;
}

function draw({ places, all, placed }: Data) {
  const [count, total, drawn] = [placed.totalCount, all.totalCount, places.length].map((n) => n.toLocaleString());
  const problems = places.filter(({ problem }: Place) => problem !== undefined).slice(0, maxProblems);
  return html`
    <p>
      ${count} of ${total} locations have coordinates.
      ${placed.totalCount > places.length ? `The map has the first ${drawn}.` : nothing}
      ${document.body.dataset.mapCredit}
    </p>
    ${
      canDraw
        ? html`<place-map .places=${places} .describe=${describe}></place-map>`
        : html`<p role="alert">This browser cannot draw the map, which needs WebGL 2.</p>`
    }
    ${problems.length > 0 ? html`<h2>Coordinates to check</h2>` : nothing}
    <ul>
      ${problems.map((place: Place) => {
        const { latitude, longitude, problem } = place;
        return html`<li>${link('Location', place)} (${latitude}, ${longitude}: ${problem})</li>`;
      })}
    </ul>`;
}

export const locations: Viewer = {
  queries: () => [mapStateQuery(), mapQuery()],
  read: readPlaces,
  draw: (_, data) => draw(data),
};
