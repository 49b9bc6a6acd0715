/**
 * The map, loaded when it is asked for: maplibre-gl draws the countries or the tiles of the operator, and clusters the places. It loads
 * nothing from other servers but those tiles: without an address of fonts it writes with those of the browser.
 */
import {
  type ExpressionSpecification,
  type GeoJSONSource,
  LngLatBounds,
  MapLibreMap,
  NavigationControl,
  Popup,
  setWorkerUrl,
} from 'maplibre-gl';

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

customElements.define(
  'place-map',
  class extends HTMLElement {
    /** Describes places in a popup. */
    describe: (ids: readonly string[], popup: HTMLElement) => Promise<void> = async () => {};
    #places: readonly Place[] = [];
    #map: MapLibreMap | undefined;

    set places(places: readonly Place[]) {
      this.#places = places;
      void this.#map?.getSource<GeoJSONSource>('places')?.setData(featuresOf(places));
      this.#sayWhatIsInView();
    }

    #sayWhatIsInView(): void {
      const bounds = this.#map?.getBounds();
      const detail = this.#places.filter(({ longitude, latitude }) => bounds?.contains([longitude, latitude]));
      if (bounds) this.dispatchEvent(new CustomEvent('view', { detail }));
    }

    connectedCallback(): void {
      const tiles = document.body.dataset.mapTiles;
      const isCluster: ExpressionSpecification = ['has', 'point_count'];
      const bounds = new LngLatBounds();
      // A place at 0/0 must not make all others small.
      for (const { longitude, latitude, problem } of this.#places) if (!problem) bounds.extend([longitude, latitude]);
      const map = new MapLibreMap({
        container: this,
        ...(!bounds.isEmpty() && { bounds, fitBoundsOptions: { padding: 50, maxZoom: 12 } }),
        // Where the map has been moved to is in the address.
        hash: true,
        renderWorldCopies: false,
        dragRotate: false,
        attributionControl: false,
        style: {
          version: 8,
          sources: {
            countries: { type: 'geojson', data: fileUrl('countries.json') },
            ...(tiles && { tiles: { type: 'raster', tiles: [tiles], tileSize: 256, maxzoom: 19 } }),
            places: { type: 'geojson', data: featuresOf(this.#places), cluster: true, clusterMaxZoom: 14 },
          },
          layers: [
            { id: 'land', type: 'fill', source: 'countries', paint: { 'fill-color': 'rgba(128, 145, 160, 0.25)' } },
            { id: 'borders', type: 'line', source: 'countries', paint: { 'line-color': 'rgba(128, 145, 160, 0.9)' } },
            ...(tiles ? [{ id: 'tiles', type: 'raster' as const, source: 'tiles' }] : []),
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
