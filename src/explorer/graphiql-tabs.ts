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
# yet? The next tab creates some.
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
# A site with its project and work, all or nothing.
# A "ref" is a name in this mutation: others refer
# to the record by it. To refer to a record that is
# stored already, use its external ID:
# { "externalId": { "key": "erp", "value": "4711" } }
mutation ImportSite($input: ImportInput!) {
  importRecords(input: $input) {
    locations {
      id
      name
    }
    projects {
      id
      name
      location {
        name
      }
    }
    workOrders {
      id
      name
      project {
        name
      }
    }
  }
}
`,
    {
      input: {
        locations: [{ ref: 'yard', name: 'North yard', city: 'Bremen', latitude: 53.08, longitude: 8.8 }],
        projects: [{ ref: 'wall', name: 'Harbour wall', startDate: '2026-03-01', location: { ref: 'yard' } }],
        workOrders: [{ name: 'Set up the crane', project: { ref: 'wall' }, location: { ref: 'yard' } }],
      },
    },
  ),
  tab(
    `
# An upsert changes the records that match by a key,
# and creates the others. This is a dry run: it shows
# what would happen, and stores nothing. Set "dryRun"
# to false below, and press play twice: CREATED or
# UPDATED, then UNCHANGED.
mutation UpsertAssets(
  $input: [UpsertAssetInput!]!
  $dryRun: Boolean!
) {
  upsertAssets(
    by: { field: UID }
    input: $input
    dryRun: $dryRun
  ) {
    outcome
    record {
      name
      uid
      manufacturedAt
      updatedAt
    }
  }
}
`,
    // First, because the tab shows only a few lines of its variables.
    { dryRun: true, input: [{ uid: 'CR-0101', name: 'Crane', manufacturedAt: '2019-05-01' }] },
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
# Who has changed the project that was changed last,
# when, and what it was before.
query ProjectHistory {
  projects(
    first: 1
    orderBy: [{ updatedAt: DESC }]
  ) {
    nodes {
      name
      history(first: 10) {
        nodes {
          action
          at
          user {
            id
          }
          message
          fields {
            field
            before
            after
          }
        }
      }
    }
  }
}
`,
  ),
  tab(
    `
# All changes of the workspace, as they are made.
# Press play, open GraphiQL in another window, and
# run ImportSite there: its records appear here,
# until you press the button again.
subscription FollowChanges($after: String) {
  changes(after: $after) {
    nodes {
      action
      kind
      at
      fields {
        field
        after
      }
    }
    # To go on from here later, put this into a
    # variable named "after".
    endCursor
  }
}
`,
  ),
  tab(
    `
# A batch that fails stores nothing. The response
# lists every issue: the misspelled field, the name
# that is missing because of it, and the date.
mutation FailingBatch($input: [CreateAssetInput!]!) {
  createAssets(input: $input) {
    id
  }
}
`,
    { input: [{ name: 'Excavator' }, { nmae: 'Crane' }, { name: 'Pump', acquiredAt: 'soon' }] },
  ),
];
