/** The demo's locations: two yards, a workshop and customers' sites. Street names are invented. */

/** State names by ISO 3166-2 code. */
const states = {
  'DE-HB': 'Bremen',
  'DE-HH': 'Hamburg',
  'DE-MV': 'Mecklenburg-Vorpommern',
  'DE-NI': 'Niedersachsen',
  'DE-SH': 'Schleswig-Holstein',
  'NL-GR': 'Groningen',
};

type Row = readonly [
  key: string,
  name: string,
  latitude: number,
  longitude: number,
  address1: string,
  address2: string | null,
  postalCode: string,
  city: string,
  state: keyof typeof states,
];

const rows = [
  ['hamburg', 'Hamburg yard', 53.5214, 10.1097, 'Kranhof 7', null, '22113', 'Hamburg', 'DE-HH'],
  ['bremen', 'North yard', 53.08, 8.8, 'Am Baggerpark 21', null, '28309', 'Bremen', 'DE-HB'],
  ['workshop', 'Central workshop', 53.4728, 9.6811, 'Schlosserstieg 3', 'Hall 2', '21614', 'Buxtehude', 'DE-NI'],
  ['berth', 'Hamburg, berths 4 and 5', 53.5309, 9.9417, 'Ostkajenweg 40', 'Gate 3', '20457', 'Hamburg', 'DE-HH'],
  ['lock', 'Kiel lock', 54.3668, 10.1431, 'Schleusenkoppel 2', null, '24159', 'Kiel', 'DE-SH'],
  ['bridge', 'Trave bridge', 53.8792, 10.6986, 'Travedamm 88', 'East bank', '23568', 'Lübeck', 'DE-SH'],
  ['clinic', 'Oldenburg clinic', 53.1397, 8.2412, 'Klinikgarten 5', 'Block C', '26133', 'Oldenburg', 'DE-NI'],
  ['wind', 'Emden wind terminal', 53.3446, 7.1908, 'Seedeich 1', 'Gate B', '26723', 'Emden', 'DE-NI'],
  ['campus', 'Groningen campus', 53.2417, 6.5342, 'Bouwmeesterpad 31', null, '9747 AB', 'Groningen', 'NL-GR'],
  ['bypass', 'Syke bypass, km 14', 52.9126, 8.8231, 'Südtrasse', 'Access at km 14.2', '28857', 'Syke', 'DE-NI'],
  ['depot', 'Rostock tram depot', 54.0712, 12.1083, 'Remisenring 12', null, '18059', 'Rostock', 'DE-MV'],
  ['tanks', 'Jade tank farm', 53.5871, 8.1196, 'Tankerweg 9', 'Gate 1', '26384', 'Wilhelmshaven', 'DE-NI'],
  ['logistics', 'Stade logistics park', 53.5998, 9.4731, 'Speditionsbogen 60', null, '21684', 'Stade', 'DE-NI'],
  ['school', 'Lüneburg school', 53.2466, 10.4153, 'Lindenschulhof 4', null, '21335', 'Lüneburg', 'DE-NI'],
] as const satisfies readonly Row[];

export type LocationKey = (typeof rows)[number][0];

/** In the telematics system, each location is a geofence. */
export const locations = rows.map(([key, name, latitude, longitude, address1, address2, postalCode, city, state]) => ({
  key,
  value: {
    name,
    latitude,
    longitude,
    address1,
    address2,
    city,
    state: states[state],
    postalCode,
    country: state.slice(0, 2),
    externalIds: { telematics: `geofence-${key}` },
  },
}));
