/**
 * The map, loaded when it is asked for: maplibre-gl draws the countries or the tiles of the operator, and clusters the places. It loads
 * nothing from other servers but those tiles: without an address of fonts it writes with those of the browser.
 */
import {
  addProtocol,
  type ExpressionSpecification,
  type GeoJSONSource,
  type LayerSpecification,
  LngLatBounds,
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

/**
 * Draws vector tiles without labels, for which the service would need fonts. The layers have the names of Protomaps' basemaps and of
 * OpenMapTiles, whose features say in `kind` or `class` what they are; a layer that the tiles do not have draws nothing.
 */
function vectorLayers(): LayerSpecification[] {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const water = isDark ? '#1d3b53' : '#b4d3e8';
  const isAny = (...kinds: string[]): ExpressionSpecification => [
    'in',
    ['coalesce', ['get', 'kind'], ['get', 'class'], ''],
    ['literal', kinds],
  ];
  const isGreen = isAny('forest', 'wood', 'grass', 'grassland', 'park', 'national_park', 'nature_reserve');
  const isMajor = isAny('major_road', 'primary', 'secondary', 'tertiary');
  const areas = (layer: string, color: ExpressionSpecification | string): LayerSpecification => ({
    id: `${layer} areas`,
    type: 'fill',
    source: 'tiles',
    'source-layer': layer,
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': color },
  });
  const lines = (layer: string, color: string, weight: ExpressionSpecification | number = 1): LayerSpecification => ({
    id: `${layer} lines`,
    type: 'line',
    source: 'tiles',
    'source-layer': layer,
    filter: ['==', ['geometry-type'], 'LineString'],
    paint: {
      'line-color': color,
      'line-width': ['interpolate', ['exponential', 1.5], ['zoom'], 6, ['*', 0.3, weight], 18, ['*', 8, weight]],
    },
  });
  const green: ExpressionSpecification = ['case', isGreen, 'rgba(96, 160, 96, 0.22)', 'transparent'];
  const importance: ExpressionSpecification = ['case', isAny('highway', 'motorway', 'trunk'), 4, isMajor, 2, 1];
  return [
    ...['landcover', 'landuse', 'park'].map((layer) => areas(layer, green)),
    areas('water', water),
    ...['water', 'waterway'].map((layer) => lines(layer, water)),
    ...['building', 'buildings'].map((layer) => areas(layer, 'rgba(128, 140, 150, 0.35)')),
    ...['transportation', 'roads'].map((layer) => lines(layer, isDark ? '#5a6875' : '#b3bcc5', importance)),
    ...['boundary', 'boundaries'].map((layer) => lines(layer, 'rgb(128, 145, 160)')),
  ];
}

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

const fitting = { padding: 50, maxZoom: 12 };

customElements.define(
  'place-map',
  class extends HTMLElement {
    /** Describes places in a popup. */
    describe: (ids: readonly string[], popup: HTMLElement) => Promise<void> = async () => {};
    #places: readonly Place[] = [];
    #map: MapLibreMap | undefined;
    /** By somebody, or by the address. */
    #isMoved = location.hash !== '';

    set places(places: readonly Place[]) {
      this.#places = places;
      this.#draw();
      // The first are shown before the others are there.
      const bounds = this.#bounds();
      if (!this.#isMoved && !bounds.isEmpty()) this.#map?.fitBounds(bounds, { ...fitting, animate: false });
      this.#sayWhatIsInView();
    }

    #draw(): void {
      void this.#map?.getSource<GeoJSONSource>('places')?.setData(featuresOf(this.#places));
    }

    /** A place at 0/0 must not make all others small. */
    #bounds(): LngLatBounds {
      const bounds = new LngLatBounds();
      for (const { longitude, latitude, problem } of this.#places) if (!problem) bounds.extend([longitude, latitude]);
      return bounds;
    }

    #sayWhatIsInView(): void {
      const bounds = this.#map?.getBounds();
      const detail = this.#places.filter(({ longitude, latitude }) => bounds?.contains([longitude, latitude]));
      if (bounds) this.dispatchEvent(new CustomEvent('view', { detail }));
    }

    connectedCallback(): void {
      // Their coasts are too coarse beside those of vector tiles.
      const countries = { source: 'countries', maxzoom: tiles.sources.tiles?.type === 'vector' ? 7 : 24 };
      const isCluster: ExpressionSpecification = ['has', 'point_count'];
      const bounds = this.#bounds();
      const map = new MapLibreMap({
        container: this,
        ...(!bounds.isEmpty() && { bounds, fitBoundsOptions: fitting }),
        // Where the map has been moved to is in the address.
        hash: true,
        renderWorldCopies: false,
        dragRotate: false,
        attributionControl: false,
        style: {
          version: 8,
          sources: {
            countries: { type: 'geojson', data: fileUrl('countries.json') },
            ...tiles.sources,
            places: { type: 'geojson', data: featuresOf(this.#places), cluster: true, clusterMaxZoom: 14 },
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
                'text-color': ['case', isCluster, '#fff', '#1b2733'],
                'text-halo-color': ['case', isCluster, '#2a72b8', '#fff'],
                'text-halo-width': 1.5,
              },
            },
          ],
        },
      });
      this.#map = map;
      map.addControl(new NavigationControl({ showCompass: false }));
      map.on('moveend', () => this.#sayWhatIsInView());
      // Until then there is no source, such as in a tab behind another, whatever has been read meanwhile.
      map.once('style.load', () => this.#draw());
      for (const type of ['pointerdown', 'wheel', 'keydown'])
        this.addEventListener(type, () => {
          this.#isMoved = true;
        });
      map.on('click', 'places', async ({ features = [] }) => {
        const [{ geometry, properties } = {}] = features;
        if (geometry?.type !== 'Point') return;
        const center = geometry.coordinates as [number, number];
        if (properties?.cluster) {
          const source = map.getSource<GeoJSONSource>('places');
          map.easeTo({ center, zoom: (await source?.getClusterExpansionZoom(properties.cluster_id)) ?? map.getZoom() });
          return;
        }
        const ids = features.flatMap((feature) => feature.properties.id ?? []);
        const popup = document.createElement('div');
        await this.describe(ids, popup);
        new Popup().setLngLat(center).setDOMContent(popup).addTo(map);
      });
      this.#sayWhatIsInView();
    }

    disconnectedCallback(): void {
      this.#map?.remove();
    }
  },
);

const styles = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: fileUrl('map.css') });
document.head.append(styles);
await new Promise((resolve, reject) => Object.assign(styles, { onload: resolve, onerror: reject }));
