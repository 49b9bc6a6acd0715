/** A query that has an error is executed again by graphql-js, with what was read for it the first time. */
import { buildSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { useExecutor } from '../../src/graphql/execution/execute.ts';
import { createLoaders } from '../../src/graphql/execution/loaders.ts';
import { documentPlan } from '../../src/graphql/plan/document-plan.ts';
import { createGraphqlSchema } from '../../src/graphql/schema/schema.ts';
import { project } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import { nobody } from '../support/open-store.ts';
import { startService, useService } from '../support/service.ts';

const service = useService();

const anError = 'locations(first: 0) { totalCount }';

describe('a query with an error takes as many statements as without', () => {
  test.each<[string, string, number]>([
    ['a page and its count', 'projects { nodes { name } totalCount }', 2],
    ['a page with links', 'projects { nodes { location { name } } }', 1],
    ['a count of what matches', 'projects(where: { name: { eq: "Harbour wall" } }) { totalCount }', 1],
    ['a reverse link', 'projects { nodes { workOrders { nodes { name } totalCount } } }', 2],
    ['a summary with links', 'projectsSummary(groupBy: LOCATION) { groups { count location { name } } }', 2],
    ['a record by its external ID', 'projectByExternalId(key: "erp", value: "7") { name }', 1],
    ['an asset by its UID', 'assetByUid(uid: "A-7") { name }', 1],
    ['records by their IDs', 'nodes(ids: $ids) { ... on Project { name location { name } } }', 2],
  ])('%s', async (_, selection, count) => {
    const [{ id: locationId }] = await service.create('/locations', { name: 'North yard' });
    const [{ id }] = await service.create('/projects', { name: 'Harbour wall', locationId, externalIds: { erp: '7' } });
    await service.create('/assets', { name: 'Crane', uid: 'A-7' });
    const usesIds = selection.includes('$ids');
    const query = `query ${usesIds ? '($ids: [ID!]!)' : ''} { it: ${selection} e: ${anError} }`;

    const statements = await service.statements(async () => {
      const { body } = await service.graphql(query, usesIds ? { ids: [id] } : {});
      expect(body.errors[0].message).toMatch(/^first: /);
    });

    expect(statements.filter((sql) => !sql.includes('api_keys'))).toHaveLength(count);
  });
});

test('texts that are too long for a response are not read again', async () => {
  const small = await startService({ MAX_RESPONSE_LENGTH: '1000', MAX_RECORD_LENGTH: '1000', MAX_TEXT_LENGTH: '1000' });
  await small.create('/locations', ...Array.from({ length: 10 }, () => ({ city: 'x'.repeat(700) })));

  const statements = await small.statements(async () => {
    const { body } = await small.graphql('{ locations { nodes { city } } }');
    expect(body.errors[0].message).toMatch(/^the response would hold more than 1,000 characters/);
  });
  await small.stop();

  // One that measures them and finds none that may be read, and one that says how long they are.
  expect(statements.filter((sql) => !sql.includes('api_keys'))).toHaveLength(2);
});

test('what of a query still runs when another part fails does not count twice in the length of the response', async () => {
  const small = await startService({ MAX_RESPONSE_LENGTH: '1000', MAX_RECORD_LENGTH: '1000', MAX_TEXT_LENGTH: '1000' });
  await small.create('/locations', { externalIds: { erp: '7' } }, { externalIds: { erp: '7' } });
  const [project] = await small.create('/projects', { name: 'Bridge' });
  await small.create('/work-orders', { projectId: project.id, notes: 'x'.repeat(600) });

  const { body } = await small.graphql(
    '{ locationByExternalId(key: "erp", value: "7") { id } projects { nodes { workOrders { nodes { notes } } } } }',
  );
  await small.stop();

  expect(body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)).toEqual(['CONFLICT']);
  expect(body.data.projects.nodes[0].workOrders.nodes[0].notes).toHaveLength(600);
});

test('a read that failed is not begun again', async () => {
  let reads = 0;
  const fail = async () => {
    reads += 1;
    throw new Error('canceled');
  };
  const store = {
    find: fail,
    list: fail,
    listLinked: fail,
    pages: fail,
    summarize: fail,
    count: fail,
    lastChange: fail,
    changes: fail,
    changePage: fail,
    histories: fail,
    versions: fail,
    hold: () => undefined,
    versionAt: fail,
  };
  const schema = createGraphqlSchema(loadConfig({}).limits);
  const document = parse('{ projects { nodes { workOrders { totalCount } } } }');
  const loaders = createLoaders(store, documentPlan(schema, document));
  const query = { where: undefined, orderBy: [], fromEnd: false, after: undefined, before: undefined, limit: 2 };
  const [link] = reverseLinksOf('Project');
  const id = 'project_01h455vb4pex5vsknk084sn02q';
  const groups = { groupBy: [], limit: 1 };
  const page = { after: 0, limit: 2 };
  const historyPage = { limit: 2 };
  const at = '2026-03-01T00:00:00.000Z';
  const change = { number: 1, kind: 'Project', action: 'created', id, at, ...nobody } as const;

  for (const _time of [1, 2]) {
    const all = await Promise.allSettled([
      loaders.listPage(project, query, []),
      link && loaders.reverseLinkPage(link, id, query, []),
      loaders.load(project, id),
      loaders.count(project, undefined, []),
      loaders.summarize(project, groups, []),
      loaders.changePage(page),
      loaders.history(id, historyPage),
      loaders.after(change),
      loaders.versionAt(project, id, at),
      loaders.lastChange(),
    ]);
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  }

  expect(reads).toBe(10);
});

test('documents that were parsed without their text do not share one', async () => {
  const schema = buildSchema('type Query { a: String b: String }');
  const texts = new Map<string, Promise<unknown>>();
  const deriveText = (name: string, make: () => Promise<unknown>) => {
    const text = texts.get(name) ?? make();
    texts.set(name, text);
    return text;
  };
  const contextValue = { session: { store: { deriveText } }, holdText: () => undefined };
  // biome-ignore lint/suspicious/noExplicitAny: the plugin is called as yoga calls it, with what it needs.
  let execute: any;
  const setExecuteFn = (given: unknown) => {
    execute = given;
  };
  useExecutor().onExecute?.({ setExecuteFn, args: { contextValue } } as never);
  const textOf = async (query: string) => {
    const document = parse(query, { noLocation: true });
    const result = await execute({ schema, document, contextValue, rootValue: { a: 'A', b: 'B' } });
    return result.stringify({});
  };

  for (const _time of [1, 2, 3]) {
    expect(await textOf('{ a }')).toBe('{"data":{"a":"A"}}');
    expect(await textOf('{ b }')).toBe('{"data":{"b":"B"}}');
  }
});
