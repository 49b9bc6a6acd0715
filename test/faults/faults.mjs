/**
 * Faults that the tests must notice. `plant` wraps what is defined under a name in a file or folder of src; `sql` changes the
 * statements that reach the database's driver. `tests` are a project and a test file.
 */

const wall = ['sqlite', 'test/auth/wall.test.ts'];
const keys = ['sqlite', 'test/auth/keys.test.ts'];
const locks = ['sqlite', 'test/store/sqlite/locks.test.ts'];
const store = ['sqlite', 'test/store/workspace-store.test.ts'];
const changes = ['sqlite', 'test/store/changes.test.ts'];
const workspaces = ['sqlite', 'test/store/workspaces.test.ts'];
const groupCommit = ['sqlite', 'test/store/group-commit.test.ts'];
const groupLocks = ['postgres', 'test/store/postgres/group-commit.test.ts'];
const written = ['sqlite', 'test/graphql/written.test.ts'];
const federation = ['sqlite', 'test/graphql/federation.test.ts'];
const concurrency = ['postgres', 'test/spec/postgres/concurrency.test.ts'];
const updates = ['sqlite', 'test/graphql/updates.test.ts'];
const deletions = ['sqlite', 'test/graphql/deletions.test.ts'];
const upserts = ['sqlite', 'test/graphql/upserts.test.ts'];
const concurrentUpserts = ['postgres', 'test/graphql/upserts.test.ts'];
const imports = ['sqlite', 'test/graphql/imports.test.ts'];
const skippedItems = ['sqlite', 'test/graphql/skipped-items.test.ts'];
const writeModel = ['sqlite', 'test/services/write-model.test.ts'];
const externalIdLimit = ['sqlite', 'test/spec/external-id-limit.test.ts'];
const dryRuns = ['sqlite', 'test/graphql/dry-runs.test.ts'];
const concurrentUpdates = ['postgres', 'test/graphql/updates.test.ts'];
const concurrentDeletions = ['postgres', 'test/graphql/deletions.test.ts'];
const repeats = ['sqlite', 'test/spec/idempotency.test.ts'];
const repeatedMutations = ['sqlite', 'test/graphql/idempotency.test.ts'];
const keptResults = ['sqlite', 'test/store/idempotency.test.ts'];
const clientRepeats = ['sqlite', 'test/client/repeats.test.ts'];
const citus = ['postgres', 'test/spec/postgres/citus.test.ts'];
const reversals = ['sqlite', 'test/graphql/revert-changes.test.ts'];
const files = ['sqlite', 'test/import/import.test.ts'];
const undo = ['sqlite', 'test/import/undo.test.ts'];
const exports = ['sqlite', 'test/export/export.test.ts'];

const isAlways = (value) => () => () => value;
const constant = (value) => () => value;

/** Every API key is found with these fields instead of its own. */
const keysWith = (fields) => [
  'src/auth',
  'createKeyLookup',
  (original) => (store) => {
    const find = original(store);
    return async (id) => {
      const key = await find(id);
      return key && { ...key, ...fields };
    };
  },
];

/** Statements on records that match `pattern` lose the condition on their workspace; the parameter keeps its place. */
const unfiltered = (pattern) => (sql) =>
  pattern.test(sql) && !sql.includes('api_keys')
    ? sql.replaceAll(/\bwhere workspace_id = (\?|\$\d+)/g, 'where ($1 is not null)')
    : sql;

export const faults = [
  { name: 'reads do not filter by workspace', sql: unfiltered(/^select .* order by \w+\.id/s), tests: wall },
  {
    name: 'a loader finds records of any workspace',
    sql: unfiltered(/^select .* and \w+\.id in \(select value from json_each/s),
    tests: wall,
  },
  {
    name: 'a reverse link that shares a fragment with another is read as that one is',
    plant: [
      [
        'src/graphql/execution',
        'keyOf',
        (original) =>
          ([first]) =>
            original([first]),
      ],
    ],
    tests: ['sqlite', 'test/graphql/reverse-links.test.ts'],
  },
  {
    name: 'all requests share their loaders',
    plant: [
      [
        'src/graphql/execution',
        'createLoaders',
        (original) => {
          let shared;
          return (...args) => {
            shared ??= original(...args);
            return shared;
          };
        },
      ],
    ],
    tests: wall,
  },
  {
    name: 'an update does not check the workspace of the record',
    sql: unfiltered(/^select .* and \w+\.id = \?|^update .* and \w+\.id = sent\.id/s),
    tests: wall,
  },
  {
    name: 'a cursor is trusted to be in the workspace',
    sql: (sql) => sql.replace(/ and (\w+\.id) > \?/, ' or $1 > ?'),
    tests: wall,
  },
  { name: 'references are looked up in any workspace', sql: unfiltered(/^select \w+ as value/), tests: wall },
  { name: 'counts include all workspaces', sql: unfiltered(/^select count\(\*\)/), tests: wall },
  { name: 'any secret is accepted', plant: [['src/auth', 'isHash', isAlways(true)]], tests: keys },
  { name: 'a revoked key is accepted', plant: [keysWith({ revokedAt: null })], tests: keys },
  { name: 'an expired key is accepted', plant: [keysWith({ expiresAt: null })], tests: keys },
  {
    name: 'a replaced secret never expires',
    plant: [keysWith({ previousExpiresAt: '9999-01-01T00:00:00.000Z' })],
    tests: keys,
  },
  { name: 'a read-only key writes', plant: [keysWith({ readOnly: false })], tests: keys },
  {
    name: 'keys are logged',
    plant: [
      [
        'src/http',
        'logRequest',
        (original) =>
          (request, ...rest) => {
            request.log.info(String(request.headers.authorization));
            return original(request, ...rest);
          },
      ],
    ],
    tests: keys,
  },
  {
    name: 'the service is open while the database cannot determine whether there are keys',
    plant: [
      [
        'src/auth/authenticate.ts',
        'findAnonymous',
        (original) =>
          (...args) =>
            original(...args).catch(() => ({
              workspace: { number: 1, name: 'default' },
              userId: null,
              mayWrite: true,
              keyPrefix: null,
            })),
      ],
    ],
    tests: keys,
  },
  {
    name: 'each key is looked up by a statement of its own',
    plant: [['src/auth', 'keysPerStatement', constant(1)]],
    tests: ['sqlite', 'test/auth/keyring.test.ts'],
  },
  {
    name: 'rows that records refer to are not locked',
    sql: (sql) => sql.replace(' for key share', ''),
    tests: concurrency,
  },
  {
    name: 'a row to be updated is not locked',
    sql: (sql) => sql.replace(' for no key update', ''),
    tests: concurrency,
  },
  {
    name: 'an error at COMMIT counts as success',
    plant: [
      [
        'src/store/connections/transactions.ts',
        'commit',
        (original) =>
          (...args) =>
            original(...args).catch(() => undefined),
      ],
    ],
    tests: concurrency,
  },
  {
    name: 'a deadlock is not retried',
    plant: [['src/store', 'conflicts', (codes) => new Set([...codes].filter((code) => code !== '40P01'))]],
    tests: concurrency,
  },
  {
    name: 'a group that may be stored is stored again',
    plant: [['src/store', 'failsWholeGroup', isAlways(false)]],
    tests: groupCommit,
  },
  {
    name: 'a group waits for a lock as long as a statement may run',
    plant: [['src/store', 'maxLockWait', constant(30_000)]],
    tests: groupLocks,
  },
  {
    name: 'the error of one workspace fails the creates of others',
    plant: [['src/store', 'concernsSome', isAlways(false)]],
    tests: groupCommit,
  },
  {
    name: 'what waits for a lock in a group waits no longer alone',
    plant: [['src/store', 'isLockTimeout', isAlways(false)]],
    tests: groupCommit,
  },
  {
    name: 'a rejected create is reported as stored',
    plant: [['src/store', 'settle', constant((group) => void group.map(({ resolve }) => resolve()))]],
    tests: ['sqlite', 'test/spec/together.test.ts'],
  },
  {
    name: 'one conflict keeps a workspace out of shared transactions for good',
    plant: [['src/store', 'inConflict', (counts) => Object.assign(counts, { delete: () => false })]],
    tests: groupCommit,
  },
  {
    name: 'workspaces share derived values',
    plant: [
      [
        'src/store',
        'createDerivedCache',
        (original) => () => {
          const cache = original();
          return {
            ...cache,
            derive: (source, name, make) => cache.derive({ ...source, workspace: { number: 1, name: '' } }, name, make),
          };
        },
      ],
    ],
    tests: store,
  },
  {
    name: 'writes of other processes go unnoticed',
    sql: (sql) => sql.replace('select number from change_numbers', 'select 1 as number from change_numbers'),
    tests: store,
  },
  {
    name: 'SQLite reads numbers from decimals',
    plant: [['src/store/sqlite', 'binaryParts', constant((value) => [typeof value === 'number' ? value : null, 0])]],
    tests: store,
  },
  {
    name: 'workspaces may hold all connections',
    plant: [['src/store', 'shareOfWorkspaces', constant(1)]],
    tests: ['postgres', 'test/store/workspace-store.test.ts'],
  },
  {
    name: 'a connection goes to the workspace that has waited longest, however much time it has had',
    plant: [['src/store', 'heldTime', constant(() => 0)]],
    tests: ['sqlite', 'test/store/scheduler.test.ts'],
  },
  {
    name: 'a workspace that was idle comes first until it has held connections for as long as the others',
    plant: [['src/store', 'limitCredit', isAlways(undefined)]],
    tests: ['sqlite', 'test/store/scheduler.test.ts'],
  },
  {
    name: 'no connection is taken back',
    plant: [['src/store', 'takeBack', isAlways(undefined)]],
    tests: ['sqlite', 'test/store/fairness.test.ts'],
  },
  {
    name: 'a statement that did not get the lock stays active on its connection',
    plant: [
      ['src/store/sqlite/connection.ts', 'cache', (cache) => Object.assign(cache, { delete: () => false })],
      ['src/store/sqlite/connection.ts', 'isIdle', isAlways(true)],
    ],
    tests: locks,
  },
  {
    name: 'a connection that is not idle after an error is used again',
    plant: [['src/store', 'inspect', isAlways(undefined)]],
    tests: locks,
  },
  {
    name: 'a statement that starts after its timeout is not cancelled',
    plant: [
      [
        'src/store/sqlite/connection.ts',
        'repeat',
        (original) => {
          let isFirst = true;
          return () => {
            if (isFirst) original();
            isFirst = false;
          };
        },
      ],
    ],
    tests: ['sqlite', 'test/store/sqlite/cancel.test.ts'],
  },
  {
    name: 'reads wait for writes',
    plant: [
      [
        'src/store',
        'createTransactions',
        (original) =>
          (pools, ...rest) =>
            original({ ...pools, reads: pools.writes }, ...rest),
      ],
    ],
    tests: locks,
  },
  {
    name: 'a long list mixes several states of the database',
    plant: [
      [
        'src/store',
        'createTransactions',
        (original) =>
          (...args) => {
            const transactions = original(...args);
            const withoutSnapshots = (statements) => ({ ...statements, snapshot: (work) => work(statements.read) });
            return {
              ...withoutSnapshots(transactions),
              forWorkspace: (workspaceId) => withoutSnapshots(transactions.forWorkspace(workspaceId)),
            };
          },
      ],
    ],
    tests: ['sqlite', 'test/spec/long-lists.test.ts'],
  },
  {
    name: 'unique values are inserted in the order they were sent in',
    plant: [['src/store/postgres', 'inOrderOfUniqueValues', constant((_table, records) => records)]],
    tests: ['postgres', 'test/spec/postgres/same-values.test.ts'],
  },
  {
    name: 'inserts return nothing on Citus',
    plant: [['src/store/postgres', 'inserts', (original) => (table, records) => original(table, records, false)]],
    tests: citus,
  },
  {
    name: 'lookups by external ID read the workspace instead of their index',
    sql: (sql) => sql.replace(/( @> .*? and .*?) @> /s, '$1 is not null and null::jsonb is distinct from '),
    tests: citus,
  },
  {
    name: 'a commit that Citus may have stored in part counts as rolled back',
    plant: [
      [
        'src/store',
        'commitError',
        (original) => (error, isLost) =>
          original(error?.code === 'XX000' ? Object.assign(new Error('failed'), { code: '22000' }) : error, isLost),
      ],
    ],
    tests: citus,
  },
  {
    name: 'a page is read however long its texts are',
    plant: [
      [
        'src/store',
        'selectWithin',
        (original) => (dialect, run, table, rows) => original(dialect, run, table, rows, Number.MAX_SAFE_INTEGER),
      ],
    ],
    tests: ['sqlite', 'test/store/read-budget.test.ts'],
  },
  {
    name: 'children are copied before their parents',
    plant: [['src/store', 'parentsFirst', constant((_table, pages) => pages)]],
    tests: ['sqlite', 'test/process/copy.test.ts'],
  },
  {
    name: 'texts are written without escapes',
    plant: [['src/graphql/execution', 'quoted', constant((text) => `"${text}"`)]],
    tests: written,
  },
  {
    name: 'a query with an error is executed again while other parts of it still run',
    plant: [['src/graphql/execution', 'joined', constant(async (pieces) => (await Promise.all(pieces)).join(''))]],
    tests: ['sqlite', 'test/graphql/executed-again.test.ts'],
  },
  {
    name: 'a link that is read with its page leads to any workspace',
    sql: (sql) => sql.replaceAll(/\bt\d+\.workspace_id = \?/g, '(? is not null)'),
    tests: wall,
  },
  {
    name: 'a record that a page links to lacks what a fragment selects',
    plant: [
      [
        'src/graphql/plan',
        'readFields',
        (original) => (map, key, fields) => original(map, key, key.includes('.') ? [] : fields),
      ],
    ],
    tests: written,
  },
  {
    name: 'on Postgres, writes go unnoticed',
    sql: (sql) => sql.replace('select number from change_numbers', 'select 1 as number from change_numbers'),
    tests: ['postgres', 'test/store/postgres/derived-values.test.ts'],
  },
  {
    name: 'what a transaction changes is not logged',
    plant: [['src/store', 'logChanges', constant(async () => new Map())]],
    tests: changes,
  },
  {
    name: 'a number of a change is given to several changes',
    sql: (sql) =>
      sql.replace(/set number = (?:change_numbers\.)?number \+ excluded\.number/, 'set number = excluded.number'),
    tests: changes,
  },
  {
    name: 'what a record was before its change is not kept',
    plant: [
      [
        'src/store',
        'changeOf',
        (original) =>
          (...args) => ({ ...original(...args), before: {} }),
      ],
    ],
    tests: changes,
  },
  { name: 'the log of all workspaces is read', sql: unfiltered(/^select .* from changes\b/s), tests: changes },
  {
    name: 'a page of changes begins with the first of a batch that was read in part',
    plant: [['src/store', 'expanded', (original) => (row, part) => original(row, { ...part, skipped: 0 })]],
    tests: changes,
  },
  {
    name: 'a deleted workspace can still be written',
    sql: (sql) =>
      sql.replace('update change_numbers set final_number = number', 'update change_numbers set number = number'),
    tests: workspaces,
  },
  {
    name: 'a workspace gets a name whose records were deleted',
    plant: [['src/store', 'hasLog', constant(async () => false)]],
    tests: workspaces,
  },
  {
    name: 'records have the number of their workspace instead of its name',
    plant: [['src/store', 'nameWorkspace', constant(() => {})]],
    tests: store,
  },
  {
    name: 'gateways load records one by one',
    plant: [
      [
        'src/graphql/federation',
        'loadEntity',
        (original) => {
          let previous = Promise.resolve();
          return (...args) => {
            previous = previous.then(() => original(...args));
            return previous;
          };
        },
      ],
    ],
    tests: federation,
  },
  {
    name: 'the representations of a gateway are not checked',
    plant: [['src/graphql/federation', 'keyIn', constant(({ __typename, id }) => ({ type: __typename, id }))]],
    tests: federation,
  },
  {
    name: 'what is composed has queries that other services have, too',
    plant: [['src/graphql/federation', 'isLookup', constant(() => false)]],
    tests: federation,
  },
  {
    name: 'what is composed does not share PageInfo',
    plant: [
      [
        'src/graphql/federation',
        'subgraphSdl',
        (original) =>
          (...args) =>
            original(...args).replace('PageInfo @shareable', 'PageInfo'),
      ],
    ],
    tests: federation,
  },
  {
    name: 'gateways cannot follow a company to its projects',
    plant: [
      [
        'src/graphql/federation',
        'entityTypes',
        (original) => (schema) => original(schema).filter(({ name }) => name !== 'Company'),
      ],
    ],
    tests: federation,
  },
  {
    name: 'the size of a list in a variable costs nothing',
    plant: [['src/graphql/plan', 'evaluateCost', (original) => (cost) => original(cost, () => undefined)]],
    tests: ['sqlite', 'test/graphql/limits.test.ts'],
  },
  {
    name: 'variables of a query may be a string',
    plant: [
      [
        'src/graphql',
        'requireShape',
        (original) =>
          (name, shape, ...rest) =>
            shape === 'text' && original(name, shape, ...rest),
      ],
    ],
    tests: ['sqlite', 'test/graphql/endpoint.test.ts'],
  },
  {
    name: 'a module that failed to load once is never loaded',
    plant: [
      [
        'src',
        'loadLate',
        (original) => (load) => {
          const attempt = original(load);
          let first;
          return () => {
            first ??= attempt();
            return first;
          };
        },
      ],
    ],
    tests: ['sqlite', 'test/load-late.test.ts'],
  },
  {
    name: 'an object may have any number of keys',
    plant: [['src/http', 'maxKeys', isAlways(Number.POSITIVE_INFINITY)]],
    tests: ['sqlite', 'test/http/json-body.test.ts'],
  },
  {
    name: 'a record may have any number of characters',
    plant: [['src/model', 'isRecordLongerThan', isAlways(false)]],
    tests: ['sqlite', 'test/spec/limits.test.ts'],
  },
  {
    name: 'a client whose request was refused may keep its connection',
    plant: [['src/http', 'closeAfter', constant(2 ** 31 - 1)]],
    tests: ['sqlite', 'test/http/connections.test.ts'],
  },
  {
    name: 'responses queued behind one whose client has left never end',
    plant: [['src/http/sockets.ts', 'close', constant((response) => response.destroy())]],
    tests: ['sqlite', 'test/http/sockets.test.ts'],
  },
  {
    name: 'a log line that cannot be written ends the process',
    plant: [
      [
        'src/logs.ts',
        'createLogs',
        (original) => (write) => {
          let failure;
          const logs = original((bytes) => {
            try {
              return write(bytes);
            } catch (error) {
              failure = error;
              throw error;
            }
          });
          const failing =
            (method) =>
            (...args) => {
              method(...args);
              if (failure) throw failure;
            };
          return { ...logs, write: failing(logs.write), flush: failing(logs.flush) };
        },
      ],
    ],
    tests: ['sqlite', 'test/logs.test.ts'],
  },
  {
    name: 'an import that skips invalid records keeps what refers to them',
    plant: [['src/services', 'rejectReferring', isAlways(undefined)]],
    tests: skippedItems,
  },
  {
    name: 'an upsert that skips invalid records leaves cycles of categories',
    plant: [['src/services', 'rejectCycles', isAlways(undefined)]],
    tests: skippedItems,
  },
  {
    name: 'a text that could be an ID is stored in the result of a write as an ID',
    plant: [['src/store/writes', 'recordsToIds', () => (value) => (value?.id ? value.id : value)]],
    tests: repeatedMutations,
  },
  {
    name: 'the service is ready although its disk is full',
    plant: [['src/store', 'requireRoom', isAlways(undefined)]],
    tests: ['sqlite', 'test/spec/full-disk.test.ts'],
  },
  {
    name: 'a follower ends when the service is away',
    plant: [['client', 'reconnectDelay', isAlways(undefined)]],
    tests: ['sqlite', 'test/client/reconnects.test.ts'],
  },
  {
    name: 'changes do not look for cycles of categories',
    plant: [['src/services', 'findCycles', isAlways({ among: () => [], moves: [], field: '' })]],
    tests: updates,
  },
  {
    name: 'categories that move at once do not wait for each other',
    plant: [['src/services', 'lockTree', isAlways(undefined)]],
    tests: concurrentUpdates,
  },
  {
    name: 'changes ignore ifUpdatedAt',
    plant: [['src/services', 'changedMeanwhile', isAlways([])]],
    tests: updates,
  },
  {
    name: 'changes do not look up what they refer to',
    plant: [['src/services/checks/validation.ts', 'referenceIssues', isAlways([])]],
    tests: updates,
  },
  {
    name: 'a batch of changes may have a record twice',
    plant: [
      [
        'src/services',
        'findBatch',
        (original) => async (kind, ids, pathOf, find) => {
          const { records, issues } = await original(kind, [...new Set(ids)], pathOf, find);
          return { records, issues };
        },
      ],
    ],
    tests: updates,
  },
  {
    name: 'deletions ignore what refers to the records',
    plant: [['src/services', 'stillReferred', isAlways([])]],
    tests: deletions,
  },
  {
    name: 'records that are deleted together count as referring to each other',
    plant: [
      [
        'src/services',
        'stillReferred',
        (original) =>
          (store, ...rest) =>
            original(
              { pages: (link, ids, query) => store.pages(link, ids, { ...query, where: { all: [] } }) },
              ...rest,
            ),
      ],
    ],
    tests: deletions,
  },
  {
    name: 'cleared references do not change updatedAt',
    plant: [
      [
        'src/services',
        'without',
        (original) => (session, kind, record, fields) => ({
          ...original(session, kind, record, fields),
          updatedAt: record.updatedAt,
        }),
      ],
    ],
    tests: deletions,
  },
  {
    name: 'deletions do not wait for those who refer to the records',
    sql: (sql) => sql.replace(/ for update$/, ''),
    tests: concurrentDeletions,
  },
  {
    name: 'changes do not lock the records',
    sql: (sql) => sql.replace(/ for no key update$/, ''),
    tests: concurrentUpdates,
  },
  {
    name: 'upserts of a key at once do not wait for each other',
    sql: (sql) => sql.replace(/^insert into locks .*/s, 'select $1::text, $2::text'),
    tests: concurrentUpserts,
  },
  {
    name: 'an upsert changes the record that had the key before it was locked',
    plant: [
      [
        'src/services',
        'keyIn',
        (original) => {
          const sent = [];
          return (item, by) => {
            const key = original(item, by);
            if (!item.value?.id) sent.push(key);
            return sent.includes(key) ? key : sent.at(-1);
          };
        },
      ],
    ],
    tests: concurrentUpserts,
  },
  {
    name: 'an upsert takes the first of several records that have the key',
    plant: [
      [
        'src/store',
        'createRecordMatches',
        (original) => (scope) => {
          const matches = original(scope);
          const first = async (found) => (await found).map((ids) => ids.slice(0, 1));
          return {
            findByText: (...args) => first(matches.findByText(...args)),
            findByExternalId: (...args) => first(matches.findByExternalId(...args)),
          };
        },
      ],
    ],
    tests: writeModel,
  },
  {
    name: 'GraphQL reads the items of mutations, and stops at the first few of a wrong type',
    plant: [['src/graphql', 'withSentItems', () => (args) => args]],
    tests: ['sqlite', 'test/graphql/same-issues.test.ts'],
  },
  {
    name: 'an upsert takes an empty text for a key',
    plant: [['src/services', 'emptyKeyProblem', isAlways(undefined)]],
    tests: ['sqlite', 'test/graphql/upserts.test.ts'],
  },
  {
    name: 'an upsert changes what is stored already',
    plant: [['src/model', 'isSame', isAlways(false)]],
    tests: writeModel,
  },
  {
    name: 'an upsert removes the IDs of other systems',
    plant: [
      [
        'src/services',
        'completed',
        (original) =>
          (kind, by, item, ...rest) => {
            const found = original(kind, by, item, ...rest);
            return found.issues ? found : item;
          },
      ],
    ],
    tests: upserts,
  },
  {
    name: 'records are found by the keys of any workspace',
    sql: unfiltered(/^select \(select string_agg/),
    tests: wall,
  },
  {
    name: 'records that an import creates do not exist for its other records',
    plant: [['src/services', 'accepting', () => (store) => store]],
    tests: imports,
  },
  {
    name: 'an import may refer to any ID',
    plant: [
      [
        'src/services',
        'accepting',
        () => (store) => ({
          ...store,
          existingValues: async (kind, field, values) =>
            field === 'id' ? new Set(values) : store.existingValues(kind, field, values),
        }),
      ],
    ],
    tests: writeModel,
  },
  {
    name: 'dry runs are stored',
    plant: [['src/services', 'dryRun', () => (session) => session]],
    tests: dryRuns,
  },
  {
    name: 'dry runs lock what they would change',
    plant: [['src/store', 'createLookups', (original) => (scope) => original(scope)]],
    tests: ['postgres', 'test/store/workspace-store.test.ts'],
  },
  {
    name: 'a batch may have any number of external IDs',
    plant: [['src/services', 'requireFewExternalIds', isAlways(undefined)]],
    tests: externalIdLimit,
  },
  {
    name: 'a write may change records with any number of external IDs',
    plant: [['src/store', 'requireFewRemovedExternalIds', isAlways(undefined)]],
    tests: externalIdLimit,
  },
  {
    name: 'links of a dry run lead to what is stored',
    plant: [['src/graphql/execution/loaders.ts', 'prime', isAlways(undefined)]],
    tests: dryRuns,
  },
  {
    name: 'what a dry run would have made is still read after it',
    plant: [
      [
        'src/graphql/schema/write',
        'write',
        (original) =>
          (context, ...rest) =>
            original({ ...context, loaders: { ...context.loaders, clear: () => {} } }, ...rest),
      ],
    ],
    tests: dryRuns,
  },
  {
    name: 'a deletion in a tree clears references of other workspaces',
    sql: unfiltered(/^select .* as parent/s),
    tests: wall,
  },
  {
    name: 'the key of a request is found in any workspace',
    sql: unfiltered(/^select .* from idempotency_keys/s),
    tests: repeats,
  },
  {
    name: 'the results of creations are not stored under their keys',
    plant: [['src/store', 'newRecordsOf', (original) => (addition) => ({ ...original(addition), keyed: undefined })]],
    tests: repeats,
  },
  {
    name: 'the results of transactions are not stored under their keys',
    plant: [['src/store', 'storeResult', isAlways(undefined)]],
    tests: repeats,
  },
  {
    name: 'a request is the same whatever it asks for',
    plant: [
      [
        'src/http',
        'idempotencyKeyOf',
        (original) =>
          (...request) => {
            const key = original(...request);
            return key && { ...key, requestHash: '' };
          },
      ],
    ],
    tests: repeats,
  },
  {
    name: 'a key stands for one request in all operations',
    plant: [
      [
        'src/http',
        'idempotencyKeyOf',
        (original) =>
          (...request) => {
            const key = original(...request);
            return key && { ...key, operation: '' };
          },
      ],
    ],
    tests: repeats,
  },
  {
    name: 'a repeat returns records as they are now',
    plant: [['src/services', 'recordsAt', (original) => (store, ids) => original(store, ids, Number.MAX_SAFE_INTEGER)]],
    tests: repeats,
  },
  {
    name: 'a repeat that fails does not look for its result',
    plant: [['src/store', 'writeOnce', () => (_key, _scope, write) => write()]],
    tests: keptResults,
  },
  {
    name: 'old results are never deleted',
    plant: [['src/store', 'deleteSlice', isAlways(0)]],
    tests: keptResults,
  },
  {
    name: 'mutations ignore the key',
    plant: [
      [
        'src/graphql/schema/write',
        'write',
        (original) =>
          (context, ...rest) =>
            original({ ...context, sessionFor: () => context.session }, ...rest),
      ],
    ],
    tests: repeatedMutations,
  },
  {
    name: 'all mutations of a request have the same key',
    plant: [
      [
        'src/graphql/schema/write',
        'write',
        (original) =>
          (context, ...rest) =>
            original({ ...context, sessionFor: () => context.sessionFor('') }, ...rest),
      ],
    ],
    tests: repeatedMutations,
  },
  {
    name: 'the client repeats writes at a service that does not know keys',
    plant: [['client/send.ts', 'isStoredOnce', isAlways(true)]],
    tests: clientRepeats,
  },
  {
    name: 'the client forgets that an earlier attempt may be stored',
    plant: [['client/retry.ts', 'isResolved', () => () => true]],
    tests: clientRepeats,
  },
  {
    name: 'a workspace that was deleted is written by a process that has not noticed yet',
    sql: (sql) =>
      sql.replace(/^update change_numbers set final_number = number\b/, 'update change_numbers set number = number'),
    tests: workspaces,
  },
  {
    name: 'a reversal overwrites what has changed since',
    plant: [['src/services/revert-changes.ts', 'keepChanged', isAlways(undefined)]],
    tests: reversals,
  },
  {
    name: 'a reversal does what is impossible',
    plant: [['src/services/checks/reversals.ts', 'failImpossible', isAlways(undefined)]],
    tests: reversals,
  },
  {
    name: 'a reversal restores records before those that they refer to',
    plant: [
      ['src/services/earlier-states.ts', 'byKind', (original) => (records) => [...original(records)].toReversed()],
    ],
    tests: reversals,
  },
  {
    name: 'undo reverses only the latest part of a range',
    plant: [
      [
        'src/commands/undo.ts',
        'revertParts',
        (original) =>
          async function* latest(...args) {
            for await (const part of original(...args)) return yield part;
          },
      ],
    ],
    tests: undo,
  },
  {
    name: 'an import reads on when its file has changed',
    plant: [['src/import/files.ts', 'requireUnchanged', isAlways(undefined)]],
    tests: files,
  },
  {
    name: 'an import forgets the links that could not be set',
    plant: [
      [
        'src/import/state.ts',
        'openState',
        (original) => async (path) => {
          const state = await original(path);
          return { ...state, settle: (links) => state.settle(links, []) };
        },
      ],
    ],
    tests: files,
  },
  {
    name: 'an interrupted import begins anew',
    plant: [['src/import/run.ts', 'readParts', (original) => (work, section) => original(work, section, 0)]],
    tests: files,
  },
  {
    name: 'an export guards no texts that spreadsheet programs would execute',
    plant: [['src/export/route.ts', 'readFlag', isAlways(false)]],
    tests: exports,
  },
];
