/**
 * The map, loaded when it is asked for: maplibre-gl draws the countries or the tiles of the operator, and clusters the places. It loads
 * nothing from other servers but those tiles: without an address of fonts it writes with those of the browser.
 */
import { layers, namedFlavor } from '@protomaps/basemaps';
import {
  addProtocol,
  type ExpressionSpecification,
  type GeoJSONSource,
  type LayerSpecification,
  LngLatBounds,
  type MapGeoJSONFeature,
  MapLibreMap,
  NavigationControl,
  Popup,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl';
import { PMTiles, Protocol, TileType } from 'pmtiles';

export interface Place {
  readonly id: string;
  readonly name: string | null;
  readonly latitude: number;
  readonly longitude: number;
  /** What looks wrong about its coordinates. */
  readonly problem?: string | undefined;
}

const fileUrl = (name: string): string => new URL(name, import.meta.url).href;

setWorkerUrl(fileUrl('maplibre-gl-worker.js'));

const featuresOf = (places: readonly Place[]) => ({
  type: 'FeatureCollection' as const,
  features: places.map(({ id, name, longitude, latitude }) => ({
    type: 'Feature' as const,
    properties: { id, label: name ?? id },
    geometry: { type: 'Point' as const, coordinates: [longitude, latitude] },
  })),
});

/** Vector tiles are drawn without labels, for which the service would need fonts, and above the countries in place of the sea. */
const vectorLayers = (): LayerSpecification[] =>
  layers('tiles', namedFlavor(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')).filter(
    ({ type }) => type !== 'background',
  );

type Tiles = Pick<StyleSpecification, 'sources' | 'layers'>;

/** The tiles of the operator: of a tile server, or in a PMTiles file, which says what they are. */
async function readTiles(url: string): Promise<Tiles> {
  const raster: LayerSpecification[] = [{ id: 'tiles', type: 'raster', source: 'tiles' }];
  if (!url.endsWith('.pmtiles'))
    return { sources: { tiles: { type: 'raster', tiles: [url], tileSize: 256, maxzoom: 19 } }, layers: raster };
  const file = new PMTiles(new URL(url, document.baseURI).href);
  const protocol = new Protocol();
  protocol.add(file);
  addProtocol('pmtiles', protocol.tile);
  const source = { url: `pmtiles://${file.source.getKey()}` };
  return (await file.getHeader()).tileType === TileType.Mvt
    ? { sources: { tiles: { type: 'vector', ...source } }, layers: vectorLayers() }
    : { sources: { tiles: { type: 'raster', tileSize: 256, ...source } }, layers: raster };
}

const noTiles: Tiles = { sources: {}, layers: [] };
const { mapTiles } = document.body.dataset;
// Without them, the map is still of use.
const tiles = mapTiles ? await readTiles(mapTiles).catch(() => noTiles) : noTiles;

/** Of those that look right: a place at 0/0 must not make all others small. */
function boundsOf(places: readonly Place[]): LngLatBounds {
  const bounds = new LngLatBounds();
  for (const { longitude, latitude, problem } of places) if (!problem) bounds.extend([longitude, latitude]);
  return bounds;
}

const isCluster: ExpressionSpecification = ['has', 'point_count'];
// The coasts of the countries are too coarse beside those of vector tiles.
const countries = { source: 'countries', maxzoom: tiles.sources.tiles?.type === 'vector' ? 7 : 24 };

const isDark = matchMedia('(prefers-color-scheme: dark)').matches;

const style: StyleSpecification = {
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
        'text-offset': ['case', isCluster, ['literal', [0, 0]], ['literal', [0, 1.3]]],
      },
      // Readable on light and dark, and on tiles.
      paint: {
        'text-color': ['case', isCluster, '#fff', isDark ? '#fff' : '#1b2733'],
        'text-halo-color': ['case', isCluster, '#2a72b8', isDark ? '#1b2733' : '#fff'],
        'text-halo-width': 1.5,
      },
    },
  ],
};

class PlaceMap extends HTMLElement {
  /** Returns what a popup says of the places with these IDs. */
  describe: (ids: readonly string[]) => Promise<Node> = async () => document.createElement('div');
  #places: readonly Place[] = [];
  #map: MapLibreMap | undefined;
  /** By somebody, or by the address. */
  #isMoved = location.hash !== '';

  set places(places: readonly Place[]) {
    this.#places = places;
    this.#draw();
  }

  #draw(): void {
    // Until the style is loaded there is none, such as in a tab behind another.
    const source = this.#map?.getSource<GeoJSONSource>('places');
    void source?.setData(featuresOf(this.#places));
    const bounds = boundsOf(this.#places);
    if (source && !this.#isMoved && !bounds.isEmpty())
      this.#map?.fitBounds(bounds, { padding: 50, maxZoom: 12, animate: false });
  }

  connectedCallback(): void {
    const map = new MapLibreMap({
      container: this,
      style,
      // Where the map has been moved to is in the address.
      hash: true,
      renderWorldCopies: false,
      dragRotate: false,
      attributionControl: false,
    });
    this.#map = map;
    map.addControl(new NavigationControl({ showCompass: false }));
    map.once('style.load', () => this.#draw());
    map.on('movestart', ({ originalEvent }) => {
      this.#isMoved ||= originalEvent !== undefined;
    });
    map.on('click', 'places', ({ features = [] }) => void this.#open(map, features));
  }

  /** Zooms to what is in a cluster, or says what is at a point. */
  async #open(map: MapLibreMap, features: readonly MapGeoJSONFeature[]): Promise<void> {
    const [{ geometry, properties } = {}] = features;
    if (geometry?.type !== 'Point') return;
    const center = geometry.coordinates as [number, number];
    if (properties?.cluster) {
      const source = map.getSource<GeoJSONSource>('places');
      map.easeTo({ center, zoom: (await source?.getClusterExpansionZoom(properties.cluster_id)) ?? map.getZoom() });
      return;
    }
    const ids = features.flatMap((feature) => feature.properties.id ?? []);
    new Popup()
      .setLngLat(center)
      .setDOMContent(await this.describe(ids))
      .addTo(map);
  }

  disconnectedCallback(): void {
    this.#map?.remove();
  }
}

customElements.define('place-map', PlaceMap);

const styles = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: fileUrl('map.css') });
document.head.append(styles);
await new Promise((resolve, reject) => Object.assign(styles, { onload: resolve, onerror: reject }));
