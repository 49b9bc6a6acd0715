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
# Work orders with everything they link to.
# Run it: the play button, or Ctrl-Enter.
#
# A field that ends in Id has its link beside it:
# projectId is the ID, project the record. A link
# is one SQL statement, for any number of rows.
#
# Variables go below: try { "first": 3 }
query LinkedWorkOrders($first: Int = 10) {
  workOrders(first: $first) {
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
      currentLocation {
        id
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
# Records are created in batches: all, or none.
# Copy an ID from the response for the next tab.
mutation CreateLocations(
  $input: [CreateLocationInput!]!
) {
  createLocations(input: $input) {
    id
    name
    city
    createdAt
  }
}
`,
    { input: [{ name: 'North yard', city: 'Bremen', latitude: 53.08, longitude: 8.8, externalIds: { erp: '4711' } }] },
  ),
  tab(
    `
# Put the ID of a location into the variables to
# link the project to it. An ID of another system
# is stored unchanged, and its link is null.
mutation CreateProjects(
  $input: [CreateProjectInput!]!
) {
  createProjects(input: $input) {
    id
    name
    startDate
    locationId
    location {
      name
    }
  }
}
`,
    { input: [{ name: 'Harbour wall', startDate: '2026-03-01', locationId: 'ERP-LOCATION-7' }] },
  ),
  tab(
    `
# A batch that fails stores nothing. The response
# lists every invalid field: look at
# extensions.issues.
mutation FailingBatch($input: [CreateAssetInput!]!) {
  createAssets(input: $input) {
    id
  }
}
`,
    {
      input: [{ name: 'Excavator' }, { name: ' ' }, { name: 'Crane', acquiredAt: 'soon', externalIds: { erp: 4711 } }],
    },
  ),
];
