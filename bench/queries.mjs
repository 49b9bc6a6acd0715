/**
 * The GraphQL queries of the benchmarks, each with the number of times that a complete response contains a text. They are sent
 * with `variables`, or with the cursors of the `pages` of a list.
 */

/** Pages of work orders with what they link to. */
const linked = {
  pages: { list: 'workOrders', type: 'String' },
  query: `query ($after: String) {
  workOrders(first: 100, after: $after) {
    nodes { id name startDate project { id name location { id city } } location { id name latitude longitude } }
  }
}`,
  mark: '"startDate":"',
  count: 100,
};

/** The same, but no page is read twice, so that none comes from a cache. */
const once = (query) => ({ ...query, pages: { ...query.pages, everywhere: true }, once: true });

/** The last work orders of the projects with some names, from some day on. */
const filter = {
  query: `query ($name: String!, $since: DateTime!) {
  workOrders(
    first: 100
    where: { project: { name: { startsWith: $name } }, startDate: { gte: $since } }
    orderBy: [{ startDate: DESC }]
  ) {
    nodes { id name startDate project { name } }
  }
}`,
  variables: Array.from({ length: 90 }, (_, n) => ({
    name: `Project ${1 + (n % 9)}`,
    since: new Date(Date.UTC(2023, 0, 1 + n)).toISOString(),
  })),
  mark: '"startDate":"',
  count: 100,
};

/** Pages of locations, each with the number and the first ten of its work orders. */
const reverse = {
  pages: { list: 'locations', type: 'String' },
  query: `query ($after: String) {
  locations(first: 100, after: $after) {
    nodes { name workOrders(first: 10) { totalCount nodes { name startDate } } }
  }
}`,
  mark: '"startDate":"',
  count: 1_000,
};

/** How many work orders have each status in each month: the largest of 360 groups. */
const summary = {
  query: `{
  workOrdersSummary(groupBy: [STATUS, MONTH_OF_START], first: 200) {
    totalCount
    groups { count statusId startMonth }
  }
}`,
  variables: [{}],
  mark: '"startMonth":"',
  count: 200,
};

/** The list of `GET /asset-categories`, which PostGraphile returns only in GraphQL. */
const categories = {
  query: '{ assetCategories(first: 500) { nodes { id name description createdAt updatedAt } } }',
  variables: [{}],
  mark: '"description":"',
  count: 500,
};

/** By workload. */
export const queries = {
  W4: linked,
  'W4 once': once(linked),
  'W5 in GraphQL': categories,
  W6: filter,
  W7: reverse,
  W8: summary,
};

/** Returns what a create returns. */
export const upsert = (by) => `mutation ($input: [UpsertAssetInput!]!) {
  upsertAssets(by: ${by}, input: $input) {
    outcome
    record {
      id name uid statusId assetTypeId currentLocationId trackUtilization manufacturedAt acquiredAt ownerId manufacturerId
      purchaseOrderId externalIds workspaceId createdAt updatedAt
    }
  }
}`;

const peerLinked = {
  ...linked,
  pages: { list: 'allWorkOrders', type: 'Cursor' },
  query: `query ($after: Cursor) {
workOrders: allWorkOrders(first: 100, after: $after) {
  nodes {
    id: rowId name startDate
    project: projectByProjectId { id: rowId name location: locationByLocationId { id: rowId city } }
    location: locationByLocationId { id: rowId name latitude longitude }
  }
}
}`,
};

/** The same queries in PostGraphile's names, for the same response. It has no summaries. */
export const peerQueries = {
  W4: peerLinked,
  'W4 once': once(peerLinked),
  'W5 in GraphQL': {
    ...categories,
    query: `{
  assetCategories: allAssetCategories(first: 500) { nodes { id: rowId name description createdAt updatedAt } }
}`,
  },
  W6: {
    ...filter,
    query: `query ($name: String!, $since: Datetime!) {
  workOrders: allWorkOrders(
    first: 100
    filter: { projectByProjectId: { name: { startsWith: $name } }, startDate: { greaterThanOrEqualTo: $since } }
    orderBy: [START_DATE_DESC, PRIMARY_KEY_DESC]
  ) {
    nodes { id: rowId name startDate project: projectByProjectId { name } }
  }
}`,
  },
  W7: {
    ...reverse,
    pages: { list: 'allLocations', type: 'Cursor' },
    query: `query ($after: Cursor) {
  locations: allLocations(first: 100, after: $after) {
    nodes { name workOrders: workOrdersByLocationId(first: 10) { totalCount nodes { name startDate } } }
  }
}`,
  },
};

export const peerCreate = `mutation ($asset: AssetInput!) {
  createAsset(input: { asset: $asset }) {
    asset {
      rowId name uid statusId assetTypeId currentLocationId trackUtilization manufacturedAt acquiredAt ownerId
      manufacturerId purchaseOrderId externalIds createdAt updatedAt
    }
  }
}`;
