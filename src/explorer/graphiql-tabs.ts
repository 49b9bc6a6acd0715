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
# For the next page, put endCursor into a variable
# named "after".
query LinkedWorkOrders($after: String) {
  workOrders(
    first: 10
    after: $after
    orderBy: [{ createdAt: DESC }]
  ) {
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
    pageInfo {
      hasNextPage
      endCursor
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
# Links work in both directions, and filters look
# through them: which locations have projects that
# start on a day or later, and which projects?
query ProjectSites($where: ProjectFilter!) {
  locations(where: { projects: { some: $where } }) {
    nodes {
      name
      city
      projects(
        where: $where
        orderBy: [{ startDate: ASC }]
      ) {
        # Counted only if this field is selected.
        totalCount
        nodes {
          name
          startDate
          # Companies are kept in another system:
          # only their IDs are stored here.
          companyId
        }
      }
    }
  }
}
`,
    { where: { startDate: { gte: '2026-03-01' } } },
  ),
  tab(
    `
# How many work orders there are, by location and
# month: what a dashboard draws, for any number.
query WorkByMonth {
  workOrdersSummary(
    groupBy: [LOCATION, MONTH_OF_START]
  ) {
    totalCount
    groups {
      count
      startMonth
      location {
        name
      }
    }
    hasMoreGroups
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
