/** Turns rows, which have the same columns on both databases, into the data of a response. */

/** The links of the benchmark's work orders all lead to records. */
export const linkedOrder = (row) => ({
  id: row.id,
  name: row.name,
  startDate: row.startDate,
  project: { id: row.projectId, name: row.projectName, location: { id: row.projectLocationId, city: row.city } },
  location: { id: row.locationId, name: row.locationName, latitude: row.latitude, longitude: row.longitude },
});

export const filteredOrder = ({ projectName, ...order }) => ({ ...order, project: { name: projectName } });

/** Of all groups, in the order of the response. */
export const summaryOf = (groups) => ({
  totalCount: groups.reduce((total, { count }) => total + count, 0),
  groups: groups.slice(0, 200),
});
