/** The map of locations, with a list of suspect coordinates. Its code is loaded while the locations are read. */
import { html, nothing } from 'lit-html';
import type { View } from './address.ts';
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

export class LocationMap implements Viewer {
  /** The locations are read again only if they have changed. */
  #last: { readonly state: string; readonly places: readonly Data[] } | undefined;

  queries = () => [stateQuery, pageQuery()];

  async *read(): AsyncGenerator<Data> {
    const drawing = import('./map.js');
    const counts = await read(stateQuery);
    const state = JSON.stringify(counts);
    const places: Data[] = [];
    for (
      let page: Data = { hasNextPage: this.#last?.state !== state };
      page.hasNextPage && places.length < maxPlaces;
    ) {
      const { nodes, pageInfo } = (await read(pageQuery(page.endCursor))).locations;
      page = pageInfo;
      places.push(...nodes);
      await drawing;
      // The map is there with the first page: to draw it after each one would take longer than to read them.
      if (!this.#last && places.length === nodes.length) yield { ...counts, places: withProblems(places) };
    }
    if (this.#last?.state !== state) this.#last = { state, places: withProblems(places) };
    await drawing;
    yield { ...counts, places: this.#last?.places };
  }

  title = () => 'Map of locations';

  note = (_: View, { places, all, placed }: Data): string => {
    if (!places) return '';
    const [count, total] = [placed.totalCount, all.totalCount].map((number) => number.toLocaleString());
    return `${count} of ${total} locations have coordinates.`;
  };

  draw(_: View, { places, placed }: Data) {
    const problems = places.filter(({ problem }: Data) => problem !== undefined).slice(0, maxProblems);
    const item = (place: Data) => html`<tr>
      <th scope="row">${link('Location', place)}</th>
      <td>${place.latitude}, ${place.longitude}: ${place.problem}</td>
    </tr>`;
    const limit = placed.totalCount > places.length ? `The map has the first ${places.length.toLocaleString()}.` : '';
    const list = html`<section>
      <header><h2>Coordinates to check</h2></header>
      <div class="card"><table><tbody>${problems.map(item)}</tbody></table></div>
    </section>`;
    return html`<div class="card"><place-map .places=${places}></place-map></div>
      <small>${limit} ${mapCredit}</small> ${problems.length > 0 ? list : nothing}`;
  }
}
