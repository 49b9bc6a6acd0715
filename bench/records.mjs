/**
 * The records that the benchmarks send. Their values vary as in real workspaces: 200 companies, 1,000 places, dates of 900 days and
 * longer, and two external IDs. The n-th record of a kind is always the same.
 */

/** Returns random numbers from 0 to 1, always the same for a seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random numbers for the n-th record of a kind; kinds differ by their salt. */
const randomOf = (n, salt) => randomNumbers(Math.imul(n + 1, 2_654_435_761) ^ (salt << 20));

const pick = (random, list) => list[Math.floor(random() * list.length)];
const integer = (random, from, to) => from + Math.floor(random() * (to - from + 1));
const degrees = (random, limit) => Math.round((random() * 2 - 1) * limit * 1e6) / 1e6;

/** Eight hexadecimal digits. */
const hex = (random) =>
  Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');

const uuid = (random) => {
  const [a, b, c, d] = Array.from({ length: 4 }, () => hex(random));
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
};

const firstDay = Date.UTC(2023, 0, 1);
const time = (random, days = 900) => new Date(firstDay + Math.floor(random() * days * 86_400) * 1_000).toISOString();

const makes = [
  'CAT',
  'Komatsu',
  'Liebherr',
  'JLG',
  'Genie',
  'Atlas Copco',
  'Volvo',
  'Łódź Maszyny',
  'Hitachi 日立',
  'Bobcat',
];
const machines = [
  'Excavator',
  'Generator',
  'Scissor lift',
  'Light tower',
  'Compressor',
  'Forklift',
  'Bohrgerät',
  'Pompe à béton',
  'Grúa torre',
  'Telehandler',
  '発電機',
  'Дизель-генератор',
  'Trench box',
  'Welding rig',
];
const cities = [
  'Austin',
  'Denver',
  'Oakland',
  'Montréal',
  'São Paulo',
  'Zürich',
  'Kraków',
  '東京',
  'Cork',
  'Göteborg',
  'Malmö',
  'Tulsa',
  'Boise',
  'Ghent',
];
const states = ['TX', 'CO', 'CA', 'QC', 'SP', 'ZH', 'OK', 'ID'];
const countries = ['US', 'CA', 'BR', 'CH', 'PL', 'JP', 'IE', 'SE', 'BE'];
const streets = [
  'Industrial Way',
  'Harbour Road',
  'Bahnhofstraße',
  'Rue de l’Église',
  'Yard Lane',
  'Calle Ñuñoa',
  'Depot Street',
];
const tasks = ['Install', 'Inspect', 'Repair', 'Commission', 'Dismantle', 'Überprüfen', 'Haul'];
const notes = [
  'The site office has the gate code.',
  'Needs a permit before the start at 07:00.',
  'Crew of four; bring slings – 2 t.',
  'Zufahrt nur von Süden.',
  'The customer wants photos 📷 on completion.',
  'Check the oil level, then run 30 min under load.',
];

/** IDs of records of other systems, which need not be stored. */
const otherSystems = randomNumbers(7);
const ids = (count) => Array.from({ length: count }, () => uuid(otherSystems));
const statuses = ids(12);
const assetTypes = ids(40);
const companies = ids(200);
const purchaseOrders = ids(500);
const workOrderTypes = ids(15);
const places = ids(1_000);

/** `run` makes uids differ between runs. */
export function asset(n, run) {
  const random = randomOf(n, 11);
  return {
    name: `${pick(random, makes)} ${pick(random, machines)} ${n}`,
    uid: `A-${run}-${String(n).padStart(10, '0')}`,
    statusId: pick(random, statuses),
    assetTypeId: pick(random, assetTypes),
    currentLocationId: random() < 0.9 ? pick(random, places) : null,
    trackUtilization: random() < 0.5,
    manufacturedAt: time(random),
    acquiredAt: time(random),
    ownerId: pick(random, companies),
    manufacturerId: pick(random, companies),
    purchaseOrderId: random() < 0.7 ? pick(random, purchaseOrders) : null,
    externalIds: { erp: `ERP-${integer(random, 1, 9_999_999)}`, telematics: hex(random) + hex(random) },
  };
}

export function location(n) {
  const random = randomOf(n, 22);
  return {
    name: `${pick(random, cities)} yard ${n}`,
    latitude: degrees(random, 60),
    longitude: degrees(random, 170),
    address1: `${integer(random, 1, 9_999)} ${pick(random, streets)}`,
    address2: `Bay ${integer(random, 1, 60)}`,
    city: pick(random, cities),
    state: pick(random, states),
    postalCode: String(integer(random, 10_000, 99_999)),
    country: pick(random, countries),
    externalIds: { gis: `G${integer(random, 1, 999_999)}` },
  };
}

/** Projects are spread evenly over the locations. */
export function project(n, locations) {
  const random = randomOf(n, 33);
  return {
    name: `Project ${n} ${pick(random, cities)}`,
    reference: `P-${String(n).padStart(6, '0')}`,
    startDate: time(random),
    endDate: time(random, 1_500),
    notes: pick(random, notes),
    statusId: pick(random, statuses),
    companyId: pick(random, companies),
    locationId: locations[(n * 7_919) % locations.length],
    externalIds: { erp: `PR-${integer(random, 1, 999_999)}` },
  };
}

/** Work orders are spread evenly over the projects and the locations. */
export function workOrder(n, projects, locations) {
  const random = randomOf(n, 44);
  return {
    name: `${pick(random, tasks)} ${pick(random, machines)} ${n}`,
    typeId: pick(random, workOrderTypes),
    reference: `WO-${String(n).padStart(7, '0')}`,
    projectId: projects[(n * 7_919) % projects.length],
    statusId: pick(random, statuses),
    locationId: locations[(n * 104_729) % locations.length],
    startDate: time(random),
    endDate: time(random, 1_500),
    notes: pick(random, notes),
    externalIds: { crm: `C-${integer(random, 1, 999_999)}` },
  };
}

/** They do not vary: the HTTP floor returns them, and goals depend on its rate. */
export const category = (n) => ({
  name: `Category ${n}`,
  description: `Machines in category ${n}, with their attachments`,
});
