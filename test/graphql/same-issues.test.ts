/** What is wrong with a batch is reported alike over REST and GraphQL: every issue, with the same place and the same message. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatPath, type Path } from '../../src/model/issues.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { createDocument, importDocument, updateDocument, upsertDocument } from '../support/mutations.ts';
import { anyRecord, kinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const runs = byEffort({ small: 15, long: 1_000 });

interface SentIssue {
  readonly path: Path;
  readonly message: string;
}

/** As in a problem of REST. `start` is what the path begins with. */
const asProblem = (start: Path) => (issue: SentIssue) => {
  const [index, ...field] = issue.path.slice(start.length);
  expect(issue.path.slice(0, start.length)).toEqual(start);
  return { index, ...(field.length > 0 && { field: formatPath(field) }), message: issue.message };
};

const issuesOf = async (document: string, variables: object): Promise<SentIssue[]> => {
  const { body } = await service.graphql(document, variables);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  return body.errors[0].extensions.issues;
};

/** Values of all types of JSON. Whole numbers are left out: GraphQL takes them for IDs. */
const anyJson = fc.constantFrom<unknown>(
  ...[null, true, false, 0.5, -91.5, '', ' ', 'soon', '5', '\0', '\ud800', 'x'.repeat(300), '2026-02-30'],
  ...[[], ['a'], [null], {}, { erp: '1' }, { erp: 5, sap: null }, { externalId: { key: 'erp', value: '1' } }],
  ...kinds.map(({ kind }) => unknownId(kind)),
);

/** Anything but the links and the `ref` that only GraphQL has. */
const anyItem = (kind: RecordKind): fc.Arbitrary<unknown> => {
  const name = fc.constantFrom(
    ...Object.keys(kind.fields),
    'nmae',
    'id',
    'createdAt',
    'constructor',
    'toString',
    'a b',
  );
  const spoilt = fc
    .tuple(anyRecord(kind), fc.dictionary(name, anyJson, { maxKeys: 6 }))
    .map(([record, others]) => ({ ...record, ...others }));
  return fc.oneof({ weight: 1, arbitrary: anyJson }, { weight: 5, arbitrary: spoilt });
};

test.each(kinds)(
  'any batch of $kind.pluralLabel has the same issues over REST and GraphQL',
  async ({ kind, path }) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyItem(kind), { minLength: 1, maxLength: 20 }), async (items) => {
        // A dry run, because a valid batch cannot be created twice if it has unique values.
        const { body } = await service.graphql(createDocument(kind), { input: items, dryRun: true });
        const rest = await service.post(path, items, { accept: 'application/problem+json' });
        expect(body.errors === undefined).toBe(rest.status === 201);
        if (rest.status === 201) return;
        const [{ message, extensions }] = body.errors;
        expect(message).toBe(rest.body.detail);
        expect(extensions.code).toBe(rest.status === 409 ? 'CONFLICT' : 'BAD_USER_INPUT');
        expect(extensions.issues.map(asProblem(['input']))).toEqual(rest.body.errors);
        expect(body.data).toEqual({ result: null });
        compared += 1;
      }),
      { numRuns: runs },
    );
    expect(compared).toBeGreaterThan(runs / 3);
  },
  600_000,
);

test('every one of many values of a wrong type is listed, whatever the mutation', async () => {
  const message = 'expected a number from -90 to 90, received "53.08"';
  const items = Array.from({ length: 25 }, () => ({ externalIds: { erp: '1' }, latitude: '53.08' }));
  const expected = items.map((_, index) => ({ index, field: 'latitude', message }));
  const isExpected = ({ field }: { field?: string }) => field === 'latitude';

  const created = await issuesOf(createDocument(location), { input: items });
  const upserted = await issuesOf(upsertDocument(location), { by: { externalId: 'erp' }, input: items });
  const updated = await issuesOf(updateDocument(location), { input: items.map((item) => ({ ...item, id: 'x' })) });
  const imported = await issuesOf(importDocument(), { input: { locations: items, assets: [null] } });

  expect(created.map(asProblem(['input']))).toEqual(expected);
  expect(upserted.map(asProblem(['input'])).filter(isExpected)).toEqual(expected);
  expect(updated.map(asProblem(['input'])).filter(isExpected)).toEqual(expected);
  expect(imported[0]).toEqual({
    path: ['input', 'assets', 0],
    message: 'expected an asset as a JSON object, received null',
  });
  expect(imported.slice(1).map(asProblem(['input', 'locations']))).toEqual(expected);
});

test('a change of one project is checked as PATCH does', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Bridge' });
  const change = { name: null, startDate: 5, externalIds: { erp: 5 }, nmae: 'x', project: {} };
  const document = 'mutation ($id: ID!, $input: UpdateProjectInput!) { updateProject(id: $id, input: $input) { id } }';

  const rest = await service.patch(`/projects/${id}`, change, { accept: 'application/problem+json' });
  const issues = await issuesOf(document, { id, input: change });
  const noObject = await issuesOf(document, { id, input: [change] });

  expect(issues.map(({ path, message }) => ({ field: formatPath(path.slice(1)), message }))).toEqual(rest.body.errors);
  expect(noObject).toEqual([{ path: ['input'], message: 'expected a project as a JSON object, received an array' }]);
});

describe('what only GraphQL has is checked in the same way:', () => {
  const link = { externalId: { key: 'erp', value: '1' } };

  const anObject = 'expected an object such as {"externalId":{"key":"erp","value":"4711"}}';
  const links: [unknown, [Path, string][]][] = [
    [5, [[[], `${anObject}, received 5`]]],
    [[link], [[[], `${anObject}, received an array`]]],
    [{}, [[[], 'expected externalId or ref, received an empty object']]],
    [{ ...link, ref: 'a' }, [[[], 'expected externalId or ref, received both']]],
    [{ externalID: link }, [[['externalID'], 'unknown field, did you mean "externalId"?']]],
    [{ ref: 5 }, [[['ref'], 'expected a text of 1 to 255 characters, received 5']]],
    [{ ref: '' }, [[['ref'], 'expected a text of 1 to 255 characters, received ""']]],
    [{ externalId: '1' }, [[['externalId'], 'expected an object such as {"key":"erp","value":"4711"}, received "1"']]],
    [
      { externalId: { value: 1, of: 'erp' } },
      [
        [['externalId', 'of'], 'unknown field'],
        [['externalId', 'key'], 'expected text, received nothing'],
        [['externalId', 'value'], 'expected text, received 1'],
      ],
    ],
  ];

  test.each(links)('a link %j', async (sent, expected) => {
    const issues = await issuesOf(createDocument(workOrder), { input: [{ name: 'a' }, { project: sent }] });

    expect(issues).toEqual(expected.map(([path, message]) => ({ path: ['input', 1, 'project', ...path], message })));
  });

  test('links and refs where there are none', async () => {
    const id = unknownId(assetCategory);
    const unknownProject = { ref: 'a', location: { ref: 'a' }, externalIds: { erp: '1' }, name: 'a' };

    const upserted = await issuesOf(upsertDocument(project), { by: { externalId: 'erp' }, input: [unknownProject] });
    const updated = await issuesOf(updateDocument(assetCategory), { input: [{ id, parent: link }] });
    const created = await issuesOf(createDocument(asset), { input: [{ name: 'a', ref: {} }] });

    expect(upserted).toEqual([
      { path: ['input', 0, 'location', 'ref'], message: 'unknown field' },
      { path: ['input', 0, 'ref'], message: 'unknown field' },
    ]);
    expect(updated[0]).toEqual({
      path: ['input', 0, 'parent'],
      message: 'unknown field, did you mean "parentId"?',
    });
    expect(created).toEqual([
      { path: ['input', 0, 'ref'], message: 'expected a text of 1 to 255 characters, received an object' },
    ]);
  });

  test('the ID and the time of a change', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Bridge' });
    const input = [{ id, ifUpdatedAt: 5 }, { name: 'a' }, { id: null, name: 5 }, null, { id: {} }, { id: 5 }];

    expect(await issuesOf(updateDocument(project), { input })).toEqual([
      {
        path: ['input', 0, 'ifUpdatedAt'],
        message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received 5',
      },
      { path: ['input', 1, 'id'], message: 'required: the ID of the project, given by the service' },
      { path: ['input', 2, 'id'], message: 'expected an ID of 1 to 255 characters, received null' },
      { path: ['input', 2, 'name'], message: 'expected text, received 5' },
      { path: ['input', 3], message: 'expected a project as a JSON object, received null' },
      { path: ['input', 4, 'id'], message: 'expected an ID of 1 to 255 characters, received an object' },
      {
        path: ['input', 5, 'id'],
        message: 'there is no project with the ID "5": IDs of this service start with project_',
      },
    ]);
  });

  test('the IDs of a deletion, of which a filter may have the same', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Bridge' });
    const document = `mutation ($ids: [ID!]!) {
      result: deleteProjects(ids: $ids) { id }
      other: createLocations(input: []) { projects(where: { id: { in: $ids } }) { totalCount } }
    }`;

    expect(await issuesOf(document, { ids: [id, null, 5, { id }, 0.5] })).toEqual([
      { path: ['ids', 1], message: 'expected an ID of 1 to 255 characters, received null' },
      {
        path: ['ids', 2],
        message: 'there is no project with the ID "5": IDs of this service start with project_',
      },
      { path: ['ids', 3], message: 'expected an ID of 1 to 255 characters, received an object' },
      { path: ['ids', 4], message: 'expected an ID of 1 to 255 characters, received 0.5' },
    ]);
    const { body } = await service.graphql(document.replace('input: []', 'input: [{}]'), { ids: [id, null] });
    expect(body.errors[1]).toMatchObject({
      message: expect.stringMatching(/^where\.id\.in\[1\]: expected text, received null$/),
      path: ['other', 0, 'projects'],
    });
    expect((await service.data(document, { ids: [id] })).result).toEqual([{ id }]);
  });

  test('one ID in a variable is none of several', async () => {
    const document = 'mutation ($id: ID!) { updateProject(id: $id, input: {}) { id } }';

    const { body } = await service.graphql(document, { id: [{}] });

    expect(body.errors[0].message).toMatch(/^Variable "\$id" got an invalid value at "id"; ID cannot represent/);
  });

  test.each([
    [[], [], 'expected an object of lists such as {"assets":[…]}, received an array'],
    [5, [], 'expected an object of lists such as {"assets":[…]}, received 5'],
    [{ assetz: [] }, ['assetz'], 'unknown field, did you mean "assets"?'],
    [{ projects: 5 }, ['projects', 0], 'expected a project as a JSON object, received 5'],
  ])('the lists of an import: %j', async (input, path, message) => {
    expect(await issuesOf(importDocument(), { input })).toEqual([{ path: ['input', ...path], message }]);
  });
});

describe('as ever in GraphQL,', () => {
  test('an ID may be a whole number, and a single item needs no list', async () => {
    const input = { name: 'Crane', statusId: 5 };

    const [created] = (await service.data(createDocument(asset, 'id statusId'), { input })).result;
    const [updated] = (
      await service.data(updateDocument(asset, 'statusId'), { input: { id: created.id, statusId: 7 } })
    ).result;
    const imported = await service.data(importDocument('assets { statusId }'), { input: { assets: input } });

    expect([created.statusId, updated.statusId]).toEqual(['5', '7']);
    expect(imported.result).toEqual({ assets: [{ statusId: '5' }] });
  });

  test('lists of an import may be null', async () => {
    const input = { projects: null, locations: [{ name: 'Yard' }] };

    const { result } = await service.data(importDocument('projects { id } locations { name }'), { input });

    expect(result).toEqual({ projects: [], locations: [{ name: 'Yard' }] });
  });

  test.each([
    ['is missing', {}, 'Variable "$input" of required type "[CreateAssetInput!]!" was not provided.'],
    ['is null', { input: null }, 'Variable "$input" of non-null type "[CreateAssetInput!]!" must not be null.'],
  ])('a batch that %s is an error of the request', async (_, variables, message) => {
    const { body } = await service.graphql(createDocument(asset), variables);

    expect(body).toEqual({
      errors: [{ message, locations: [{ line: 1, column: 11 }], extensions: { code: 'BAD_USER_INPUT' } }],
      extensions: expect.anything(),
    });
  });

  test('variables may hold single items, or fields of items, beside those in the document', async () => {
    const document = `mutation ($item: CreateAssetInput!, $uid: String, $others: [CreateAssetInput!]! = [{ name: "b" }]) {
      mixed: createAssets(input: [$item, { name: "c", uid: $uid }]) { name uid }
      others: createAssets(input: $others) { name }
    }`;

    const { body } = await service.graphql(document, { item: { name: 5 }, uid: 'C' });
    const stored = await service.data(document, { item: { name: 'a' }, uid: 'C' });
    const wrongType = await service.graphql(document, { item: { name: 'a' }, uid: 5 });

    expect(body.errors[0].extensions.issues).toEqual([
      { path: ['input', 0, 'name'], message: 'expected text, received 5' },
    ]);
    expect(body.data).toEqual({ mixed: null, others: [{ name: 'b' }] });
    expect(stored.mixed).toEqual([
      { name: 'a', uid: null },
      { name: 'c', uid: 'C' },
    ]);
    expect(wrongType.body.errors[0].message).toBe(
      'Variable "$uid" got an invalid value at "uid"; String cannot represent a non string value: 5',
    );
  });

  test('a wrong type in the document itself makes the document invalid', async () => {
    const { body } = await service.graphql('mutation { createLocations(input: [{ latitude: "53.08" }]) { id } }');

    expect(body.errors).toMatchObject([
      {
        message: 'Float cannot represent non numeric value: "53.08"',
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ]);
    expect(body.data).toBeUndefined();
  });
});

test('keys such as __proto__ are unknown fields, as over REST', async () => {
  const items = '[{"__proto__":{"name":"a"},"constructor":1,"name":"b"}]';
  const query = createDocument(asset);

  const rest = await service.post('/assets', items, { accept: 'application/problem+json' });
  const { body } = await service.post('/graphql', `{"query":${JSON.stringify(query)},"variables":{"input":${items}}}`);

  expect(body.errors[0].extensions.issues.map(asProblem(['input']))).toEqual(rest.body.errors);
});
