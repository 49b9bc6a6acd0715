/**
 * The map, loaded when it is opened: maplibre-gl draws the countries or the tiles of the operator, and clusters the
 * places. It loads only these tiles from other servers: without a URL of fonts, it uses those of the browser.
 */
import { layers, namedFlavor } from '@protomaps/basemaps';
import { html, render } from 'lit-html';
import * as maplibre from 'maplibre-gl';
import { PMTiles, Protocol, TileType } from 'pmtiles';
import { addressOf } from './address.ts';
import { countText, nameOf } from './kinds.ts';
import { atMost, namesOf, query } from './queries.ts';
import { type Data, read } from './service.ts';
import { link } from './values.ts';

const { mapTiles } = document.body.dataset;
const dark = matchMedia('(prefers-color-scheme: dark)');
const fileUrl = (name: string): string => new URL(name, import.meta.url).href;

maplibre.setWorkerUrl(fileUrl('maplibre-gl-worker.js'));
const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: fileUrl('map.css') });
document.head.append(sheet);
await new Promise((onload, fail) => {
  Object.assign(sheet, { onload, onerror: () => fail(new Error('The styles of the map cannot be loaded')) });
});

/** Where the number of a cluster stands, and the first free place for the name of a point. */
const inside: maplibre.VariableAnchorOffsetCollectionSpecification = ['center', [0, 0]];
const around: typeof inside = ['top', [0, 0.4], 'bottom', [0, -0.5], 'left', [0.8, 0], 'right', [-0.8, 0]];

type Tiles = Pick<maplibre.StyleSpecification, 'sources' | 'layers'>;

/** The tiles of the operator: of a tile server, or of a PMTiles file, which knows their type. */
async function readTiles(url: string): Promise<Tiles> {
  const raster: Tiles['layers'] = [{ id: 'tiles', type: 'raster', source: 'tiles' }];
  if (!url.endsWith('.pmtiles'))
    return { sources: { tiles: { type: 'raster', tiles: [url], tileSize: 256, maxzoom: 19 } }, layers: raster };
  const file = new PMTiles(new URL(url, document.baseURI).href);
  const protocol = new Protocol();
  protocol.add(file);
  maplibre.addProtocol('pmtiles', protocol.tile);
  const source = { url: `pmtiles://${file.source.getKey()}` };
  if ((await file.getHeader()).tileType !== TileType.Mvt)
    return { sources: { tiles: { type: 'raster', tileSize: 256, ...source } }, layers: raster };
  // Without labels, for which the service would need fonts, and above the countries in place of the sea.
  const flavor = namedFlavor(dark.matches ? 'dark' : 'light');
  const areas = layers('tiles', flavor).filter(({ type }) => type !== 'background');
  return { sources: { tiles: { type: 'vector', ...source } }, layers: areas };
}

async function readStyle(): Promise<maplibre.StyleSpecification> {
  // The map is useful without tiles.
  const none: Tiles = { sources: {}, layers: [] };
  const tiles = mapTiles ? await readTiles(mapTiles).catch(() => none) : none;
  // The coasts of the countries are too coarse beside those of vector tiles.
  const countries = { source: 'countries', maxzoom: tiles.sources.tiles?.type === 'vector' ? 7 : 24 };
  const isCluster: maplibre.ExpressionSpecification = ['has', 'point_count'];
  return {
    version: 8,
    sources: {
      countries: { type: 'geojson', data: fileUrl('countries.json') },
      ...tiles.sources,
      places: { type: 'geojson', data: featuresOf([]), cluster: true, clusterMaxZoom: 14 },
    },
    layers: [
      { ...countries, id: 'land', type: 'fill', paint: { 'fill-color': 'rgba(128, 145, 160, 0.25)' } },
      { ...countries, id: 'borders', type: 'line', paint: { 'line-color': 'rgba(128, 145, 160, 0.9)' } },
      ...tiles.layers,
      {
        id: 'places',
        type: 'circle',
        source: 'places',
        paint: {
          'circle-color': '#2a72b8',
          'circle-radius': ['case', isCluster, 16, 7],
          'circle-stroke-color': '#fff',
          'circle-stroke-width': 2,
        },
      },
      {
        id: 'labels',
        type: 'symbol',
        source: 'places',
        layout: {
          'text-field': ['coalesce', ['get', 'point_count_abbreviated'], ['get', 'label']],
          'text-size': 13,
          // Twice this keeps a name out of the circle of a cluster.
          'text-padding': 4,
          'text-variable-anchor-offset': ['case', isCluster, ['literal', inside], ['literal', around]],
        },
        // Readable on light and dark, and on tiles.
        paint: {
          'text-color': ['case', isCluster, '#fff', dark.matches ? '#fff' : '#1b2733'],
          'text-halo-color': ['case', isCluster, '#2a72b8', dark.matches ? '#1b2733' : '#fff'],
          'text-halo-width': 1.5,
        },
      },
    ],
  };
}

const featuresOf = (places: readonly Data[]) => ({
  type: 'FeatureCollection' as const,
  features: places.map((place) => ({
    type: 'Feature' as const,
    properties: { id: place.id, label: nameOf(place) },
    geometry: { type: 'Point' as const, coordinates: [place.longitude, place.latitude] },
  })),
});

const placeOf = ({ geometry }: Pick<maplibre.MapGeoJSONFeature, 'geometry'>) =>
  (geometry as { coordinates?: unknown }).coordinates as [number, number];

const boundsOf = (features: readonly Pick<maplibre.MapGeoJSONFeature, 'geometry'>[]) =>
  features.reduce((bounds, feature) => bounds.extend(placeOf(feature)), new maplibre.LngLatBounds());

class PlaceMap extends HTMLElement {
  #places: readonly Data[] = [];
  #map: maplibre.Map | undefined;
  /** By a person, whose moves have an `originalEvent`, or by the address. */
  isMoved = location.hash !== '';

  set places(places: readonly Data[]) {
    this.#places = places;
    this.#draw();
  }

  #draw(): void {
    // Hidden tabs load the style late: until then there is no source.
    const source = this.#map?.getSource<maplibre.GeoJSONSource>('places');
    void source?.setData(featuresOf(this.#places));
    // A place at 0/0 would make all others small.
    const bounds = boundsOf(featuresOf(this.#places.filter(({ problem }) => !problem)).features);
    if (source && !this.isMoved && !bounds.isEmpty())
      this.#map?.fitBounds(bounds, { padding: 80, maxZoom: 12, animate: false });
  }

  async connectedCallback(): Promise<void> {
    const style = await readStyle();
    if (!this.isConnected) return;
    // The position of the map is in the address.
    const options = { hash: true, renderWorldCopies: false, dragRotate: false, attributionControl: false } as const;
    try {
      this.#map = new maplibre.Map({ container: this, style, ...options });
    } catch {
      this.textContent = 'This browser cannot draw the map, which needs WebGL 2.';
      return;
    }
    this.#map.addControl(new maplibre.NavigationControl({ showCompass: false }));
    this.#map.on('style.load', () => this.#draw());
    // A part of a style has no event.
    dark.onchange = async () => this.isConnected && this.#map?.setStyle(await readStyle(), { diff: false });
    this.#map.on('movestart', ({ originalEvent }) => (this.isMoved ||= originalEvent !== undefined));
    this.#map.on('mouseenter', 'places', ({ target }) => (target.getCanvas().style.cursor = 'pointer'));
    this.#map.on('mouseleave', 'places', ({ target }) => (target.getCanvas().style.cursor = ''));
    this.#map.on('click', 'places', ({ features = [], target }) => void openFeatures(target, features));
    this.#map.getCanvas().addEventListener('keydown', ({ key }) => key === 'Enter' && this.#openNearest());
  }

  /** By keyboard, the arrows move the map, and Enter opens the shown point that is nearest to its middle. */
  #openNearest(): void {
    const map = this.#map as maplibre.Map;
    const middle = map.project(map.getCenter());
    const distance = (feature: maplibre.MapGeoJSONFeature) => map.project(placeOf(feature)).dist(middle);
    const features = map.queryRenderedFeatures({ layers: ['places'] });
    const least = Math.min(...features.map(distance));
    const nearest = features.filter((feature) => distance(feature) - least < 1);
    if (nearest.length > 0) void openFeatures(map, nearest);
  }

  disconnectedCallback(): void {
    this.#map?.remove();
  }
}

/** Zooms to the places of a cluster, or lists the places of a point. */
async function openFeatures(map: maplibre.Map, features: readonly maplibre.MapGeoJSONFeature[]): Promise<void> {
  const [first] = features as [maplibre.MapGeoJSONFeature];
  const [center, { properties }] = [placeOf(first), first];
  if (properties.cluster) {
    const source = map.getSource<maplibre.GeoJSONSource>('places');
    const members = await source?.getClusterLeaves(properties.cluster_id, 20_000, 0);
    // Nearer, all are single points.
    if (members) map.fitBounds(boundsOf(members), { padding: 60, maxZoom: 15 }, { originalEvent: 'click' });
    return;
  }
  const where = { id: { in: features.flatMap((feature) => feature.properties.id ?? []) } };
  const counts = 'assets(first: 0) { totalCount } workOrders(first: 0) { totalCount }';
  const selection = `nodes { ${namesOf('Location')} ${counts} }`;
  const { locations } = await read(query('locations', { first: atMost(50), where }, selection));
  const popup = document.createElement('div');
  const count = (kind: string, field: string, value: string, { totalCount }: Data) =>
    html`<a href=${addressOf({ kind, filters: [{ field, operator: 'eq', value }] })}>${countText(kind, totalCount)}</a>`;
  const item = (place: Data) => html`<p><b>${link('Location', place)}</b><br>
    ${count('Asset', 'currentLocationId', place.id, place.assets)}, ${count('WorkOrder', 'locationId', place.id, place.workOrders)}</p>`;
  render(locations.nodes.map(item), popup);
  const shown = new maplibre.Popup({ offset: 14 }).setLngLat(center).setDOMContent(popup).addTo(map);
  shown.getElement().addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    shown.remove();
    map.getCanvas().focus();
  });
}

customElements.define('place-map', PlaceMap);
