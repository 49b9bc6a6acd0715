/** The records that the benchmarks send, of typical size. */

/** Multiplicative hashing, for uids in no particular order, like those of other systems. */
const scattered = (n) => ((n * 2_654_435_761) >>> 0).toString(36).padStart(7, '0');

/** `run` makes uids differ between runs. */
export const asset = (n, run) => ({
  name: `Pump ${n}`,
  uid: `${scattered(n)}-${run}-${n}`,
  statusId: 'in-service',
  assetTypeId: 'pump',
  trackUtilization: n % 2 === 0,
  acquiredAt: '2026-01-02T03:04:05.000Z',
  ownerId: `company-${n % 10}`,
  externalIds: { sap: String(10_000_000 + n), legacy: `A-${n}` },
});

export const location = (n) => ({
  name: `Yard ${n}`,
  latitude: 50 + (n % 1_000) / 1_000,
  longitude: 8 + (n % 777) / 777,
  address1: `${n} Harbour Road`,
  city: `City ${n % 100}`,
  country: 'DE',
});

export const project = (n, locations) => ({
  name: `Project ${n}`,
  reference: `P-${n}`,
  startDate: '2026-02-01',
  locationId: locations[n % locations.length],
});

const statuses = ['planned', 'released', 'started', 'interrupted', 'done'];

/** Work orders start on every day of two years. */
export const workOrder = (n, projects, locations) => ({
  name: `Order ${n}`,
  reference: `W-${n}`,
  startDate: new Date(Date.UTC(2025, 0, 1 + (n % 730), 7, 30)).toISOString(),
  statusId: statuses[n % statuses.length],
  projectId: projects[(n * 7) % projects.length],
  locationId: locations[(n * 13) % locations.length],
  notes: 'Check the seals, then the pressure.',
});

export const category = (n) => ({
  name: `Category ${n}`,
  description: `Machines in category ${n}, with their attachments`,
});
