/** The tabs that GraphiQL opens with: operations that run unchanged on any workspace, explained by their comments. */

interface Tab {
  readonly query: string;
  readonly variables: string;
}

const tab = (query: string, variables?: object): Tab => ({
  query: query.trimStart(),
  variables: variables ? JSON.stringify(variables, null, 2) : '',
});

export const graphiqlTabs: Tab[] = [
  tab(
    `
# The latest work orders with what they link to.
# Press the play button, or Ctrl-Enter. No records
# yet? The next three tabs create some.
#
# Beside every field that ends in Id is its link:
# projectId is the ID, project the record itself.
query LinkedWorkOrders($last: Int = 10) {
  workOrders(last: $last) {
    nodes {
      name
      startDate
      project {
        name
        location {
          name
          city
        }
      }
      location {
        name
        latitude
        longitude
      }
    }
  }
}
`,
  ),
  tab(
    `
# Records are created in batches: all, or none.
# Copy the ID from the response for the next tabs.
mutation CreateLocations(
  $input: [CreateLocationInput!]!
) {
  createLocations(input: $input) {
    id
    name
    city
    externalIds
  }
}
`,
    { input: [{ name: 'North yard', city: 'Bremen', latitude: 53.08, longitude: 8.8, externalIds: { erp: '4711' } }] },
  ),
  tab(
    `
# Add the "locationId" of the yard to the variables,
# and the project links to it.
mutation CreateProjects(
  $input: [CreateProjectInput!]!
) {
  createProjects(input: $input) {
    id
    name
    startDate
    location {
      name
    }
  }
}
`,
    { input: [{ name: 'Harbour wall', startDate: '2026-03-01' }] },
  ),
  tab(
    `
# Add "projectId" and "locationId", then read all
# of it with the first tab.
mutation CreateWorkOrders(
  $input: [CreateWorkOrderInput!]!
) {
  createWorkOrders(input: $input) {
    id
    name
    project {
      name
    }
    location {
      name
    }
  }
}
`,
    { input: [{ name: 'Set up the crane' }] },
  ),
  tab(
    `
# Page by page: for the next page, put
# pageInfo.endCursor into the variable "after".
query AssetsByPage($first: Int, $after: String) {
  assets(first: $first, after: $after) {
    # Counted only if this field is selected.
    totalCount
    nodes {
      id
      name
      uid
      manufacturedAt
      currentLocation {
        name
      }
      # Companies are kept in another system:
      # only their ID is stored here.
      manufacturer {
        id
      }
      externalIds
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    { first: 20, after: null },
  ),
  tab(
    `
# The tree of asset categories, from the leaves up.
query CategoryTree {
  assetCategories(first: 100) {
    nodes {
      name
      parent {
        name
        parent {
          name
        }
      }
    }
  }
}
`,
  ),
  tab(
    `
# A batch that fails stores nothing. GraphQL checks
# the names of fields first: correct "nmae", and
# the next response has the date among its issues.
mutation FailingBatch($input: [CreateAssetInput!]!) {
  createAssets(input: $input) {
    id
  }
}
`,
    { input: [{ name: 'Excavator' }, { nmae: 'Crane' }, { name: 'Pump', acquiredAt: 'soon' }] },
  ),
];
