/** The map of locations, with lists of those in view and of those whose coordinates look wrong. */
import { html, nothing, render } from 'lit-html';
import type { Place } from './map.ts';
import { mapQuery, mapStateQuery, placesQuery } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { link } from './table.ts';

const maxPlaces = 20_000;

/** The most links of a list. */
const maxLinks = 50;

/** Found out once: a browser has few contexts at a time, and the map needs one of them. */
let canDraw: boolean | undefined;

/** What was read last: it is read again only if it has changed. */
let last: { readonly state: string; readonly places: readonly Place[] } | undefined;

async function* readPlaces(): AsyncGenerator<Data> {
  canDraw ??= document.createElement('canvas').getContext('webgl2') !== null;
  // What draws them is loaded while the first of them are read.
  const drawing = canDraw ? import('./map.js') : undefined;
  const found = await read(mapStateQuery());
  const state = JSON.stringify(found);
  const counts = { all: found.all.totalCount, placed: found.locations.totalCount, canDraw };
  const isFirst = !last;
  let drawn = 0;
  const places: Place[] = [];
  for (let page: Data = { hasNextPage: last?.state !== state }; page.hasNextPage && places.length < maxPlaces; ) {
    const { nodes, pageInfo } = (await read(mapQuery(page.endCursor))).locations;
    places.push(...nodes);
    page = pageInfo;
    await drawing;
    // Drawing all of them after each page would take longer than to read them.
    if (isFirst && page.hasNextPage && places.length >= 2 * drawn) {
      drawn = places.length;
      yield { ...counts, places: withProblems(places) };
    }
    if (!page.hasNextPage || places.length >= maxPlaces) last = { state, places: withProblems(places) };
  }
  yield { ...counts, places: last?.places ?? [] };
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

const list = (title: string, places: readonly Place[]) => html`
  <h2>${title} <small>${places.length.toLocaleString()}</small></h2>
  <ul>
    ${places.slice(0, maxLinks).map(
      (place) => html`<li>
        ${link('Location', place)}
        ${place.problem ? html`(${place.latitude}, ${place.longitude}: ${place.problem})` : nothing}
      </li>`,
    )}
  </ul>
  ${places.length > maxLinks ? html`<p>These are the first ${maxLinks}.</p>` : nothing}`;

/** Says what is at places. */
async function describe(ids: readonly string[], popup: HTMLElement): Promise<void> {
  try {
    const { nodes } = (await read(placesQuery(ids))).locations;
    const items = nodes.map(
      (place: Data) => html`<div>
        ${link('Location', place)}<br>
        assets: ${place.assets.totalCount.toLocaleString()}, work orders: ${place.workOrders.totalCount.toLocaleString()}
      </div>`,
    );
    render(items, popup);
  } catch (error) {
    render((error as Error).message, popup);
  }
}

function draw({ canDraw, places, all, placed }: Data) {
  const problems = places.filter(({ problem }: Place) => problem !== undefined);
  const showView = ({ detail, target }: CustomEvent<Place[]>) =>
    render(list('Locations in view', detail), (target as Element).nextElementSibling as HTMLElement);
  return html`
    <p>
      ${placed.toLocaleString()} of ${all.toLocaleString()} locations have coordinates.
      ${placed > places.length ? `The map has the first ${places.length.toLocaleString()}.` : nothing}
      ${document.body.dataset.mapCredit}
    </p>
    ${
      canDraw
        ? html`<place-map .places=${places} .describe=${describe} @view=${showView}></place-map><section></section>`
        : html`<p role="alert">This browser cannot draw the map, which needs WebGL 2.</p>${list('Locations', places)}`
    }
    ${problems.length > 0 ? list('Coordinates to check', problems) : nothing}`;
}

export const locations: Viewer = { queries: () => [mapQuery()], read: readPlaces, draw: (_, data) => draw(data) };
