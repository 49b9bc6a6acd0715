/** Geometry on a sphere of the Earth's mean radius. */

export interface Point {
  /** In degrees. */
  readonly latitude: number;
  /** In degrees. */
  readonly longitude: number;
}

export const hasPlace = ({ storedFields }: { readonly storedFields: object }): boolean =>
  'latitude' in storedFields && 'longitude' in storedFields;

export const earthRadiusKm = 6_371.0088;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** The haversine formula. */
export function distanceKm(a: Point, b: Point): number {
  const squaredSine = (degrees: number) => Math.sin(radians(degrees) / 2) ** 2;
  const longitudes = squaredSine(a.longitude - b.longitude);
  const squaredHalfChord =
    squaredSine(a.latitude - b.latitude) + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * longitudes;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(squaredHalfChord)));
}

/** Under a tenth of a micrometre on the Earth. A place has one vector, even at the poles and at the antimeridian. */
const precision = 2 ** -48;

export function unitVector({ latitude, longitude }: Point): readonly [x: number, y: number, z: number] {
  const [lat, lon] = [radians(latitude), radians(longitude)];
  const rounded = (value: number) => Math.round(value / precision) * precision;
  return [rounded(Math.cos(lat) * Math.cos(lon)), rounded(Math.cos(lat) * Math.sin(lon)), rounded(Math.sin(lat))];
}
