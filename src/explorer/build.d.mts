export function readKinds(): unknown;
/** The outlines of the countries, as GeoJSON. */
export function countries(): string;
export function bundle(): Promise<unknown>;
