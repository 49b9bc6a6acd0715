/** What is wrong with a batch is reported alike over REST and GraphQL: every issue, with the same code, place and message. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Field } from '../../src/model/fields.ts';
import { type DescribedIssue, formatPath } from '../../src/model/issues.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, project, workOrder } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { createDocument, importDocument, updateDocument } from '../support/mutations.ts';
import { anyRecord, kinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const runs = byEffort({ small: 10, long: 1_000 });

/** As in a problem of REST. */
const asProblem = ({ path: [argument, index, ...field], message, code, other }: DescribedIssue) => {
  expect([argument, other?.[0] ?? 'input']).toEqual(['input', 'input']);
  return {
    index,
    ...(field.length > 0 && { field: formatPath(field) }),
    message,
    code,
    ...(other && { other: formatPath(other.slice(1)) }),
  };
};

const issuesOf = async (document: string, variables: object): Promise<DescribedIssue[]> => {
  const { body } = await service.graphql(document, variables);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  return body.errors[0].extensions.issues;
};

/** Values of the type of a field, most of them invalid: GraphQL itself rejects values of other types. */
function anyValue({ type }: Field): fc.Arbitrary<unknown> {
  switch (type) {
    case 'number':
      return fc.constantFrom(null, 0.5, -91.5, 1e9);
    case 'boolean':
      return fc.constantFrom(null, true, false);
    case 'dateTime':
      return fc.constantFrom<unknown>(null, true, 5, '', 'soon', '2026-02-30', '2026-03-01', {});
    case 'externalIds':
      return fc.constantFrom<unknown>(null, [], ['a'], 'a', { erp: '1' }, { erp: 5, sap: null });
    default:
      return fc.constantFrom(
        ...[null, '', ' ', '5', '\0', '\ud800', 'x'.repeat(300), 'x'.repeat(10_001)],
        ...kinds.map(({ kind }) => unknownId(kind)),
      );
  }
}

/** Anything but the links and the `ref` that only GraphQL has. */
const anyItem = (kind: RecordKind): fc.Arbitrary<object> => {
  const others = Object.entries(kind.fields).map(([name, field]) => [name, anyValue(field)]);
  const spoilt = fc.record(Object.fromEntries(others), { requiredKeys: [] });
  const without = fc.constantFrom(...Object.keys(kind.fields));
  return fc.tuple(anyRecord(kind), spoilt, without).map(([record, changed, name]) => {
    const { [name]: _, ...rest }: Record<string, unknown> = { ...record, ...changed };
    return rest;
  });
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
        expect(extensions.issues.map(asProblem)).toEqual(rest.body.errors);
        expect(body.data).toEqual({ result: null });
        compared += 1;
      }),
      { numRuns: runs },
    );
    expect(compared).toBeGreaterThan(runs / 3);
  },
  600_000,
);

test('a ref that is empty, the ID that is missing and the time of a change are checked with everything else', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Bridge' });

  expect(await issuesOf(createDocument(workOrder), { input: [{ name: 'a' }, { project: { ref: '' } }] })).toEqual([
    {
      path: ['input', 1, 'project', 'ref'],
      message: 'expected a text of 1 to 255 characters, received ""',
      code: 'invalid-ref',
    },
  ]);
  expect(
    await issuesOf(updateDocument(project), {
      input: [{ id, ifUpdatedAt: 5 }, { name: 'a' }, { id: null }, { id: 5 }],
    }),
  ).toEqual([
    {
      path: ['input', 0, 'ifUpdatedAt'],
      message: 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received 5',
      code: 'wrong-type',
    },
    { path: ['input', 1, 'id'], message: 'required: the ID of the project, given by the service', code: 'required' },
    { path: ['input', 2, 'id'], message: 'expected an ID of 1 to 255 characters, received null', code: 'invalid-id' },
    {
      path: ['input', 3, 'id'],
      message: 'there is no project with the ID "5": IDs of this service start with project_',
      code: 'no-record',
    },
  ]);
});

describe('an issue has the path of another item that it is about, too:', () => {
  const twice = <T>(item: T): [T, T] => [item, item];

  test('the first with a unique value, also over REST', async () => {
    const input = twice({ name: 'Crane', uid: 'twice' });

    const { body } = await service.graphql(createDocument(asset), { input });
    const rest = await service.post('/assets', input, { accept: 'application/problem+json' });

    expect(body.errors[0].extensions.issues).toMatchObject([{ code: 'taken', other: ['input', 0] }]);
    expect(rest.body.errors).toMatchObject([{ index: 1, code: 'taken', other: '[0]' }]);
  });

  test('the first change of a record', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Bridge' });

    expect(await issuesOf(updateDocument(project), { input: twice({ id }) })).toMatchObject([
      { path: ['input', 1, 'id'], code: 'repeated', other: ['input', 0] },
    ]);
  });

  test('the first with a ref, in an import with the name of its list', async () => {
    expect(await issuesOf(importDocument(), { input: { locations: twice({ ref: 'yard' }) } })).toMatchObject([
      { path: ['input', 'locations', 1, 'ref'], code: 'repeated-ref', other: ['input', 'locations', 0] },
    ]);
  });

  test('the rejected one without which an item is left out', async () => {
    const input = {
      locations: [{ name: 'Quay' }, { ref: 'yard', name: 'North yard', latitude: 91 }],
      projects: [
        { name: 'Bridge', location: { ref: 'yard' } },
        { name: 'Wall', location: { name: 'North yard' } },
      ],
    };
    const document = importDocument('rejected { list index issues { path code other } }');
    const { result } = await service.data(document, { input, onInvalid: 'SKIP' });

    const issue = (...path: string[]) => ({ path, code: 'rejected-target', other: ['locations', '1'] });
    expect(result.rejected).toEqual([
      { list: 'projects', index: 0, issues: [issue('location', 'ref')] },
      { list: 'projects', index: 1, issues: [issue('location')] },
      { list: 'locations', index: 1, issues: [{ path: ['latitude'], code: 'out-of-range', other: null }] },
    ]);
  });
});

describe('a value that does not match the types of the schema is an error of GraphQL:', () => {
  test.each<[string, string, object, string, string]>([
    [
      'a number for text',
      createDocument(asset),
      { input: [{ name: 5 }] },
      'input[0].name',
      'String cannot represent a non string value: 5',
    ],
    [
      'an unknown field, such as __proto__',
      createDocument(asset),
      { input: [JSON.parse('{"__proto__":{"name":"a"}}')] },
      'input[0]',
      'Field "__proto__" is not defined by type "CreateAssetInput".',
    ],
  ])('%s', async (_, document, variables, at, reason) => {
    const { body } = await service.graphql(document, variables);

    const [name] = at.split(/[.[]/);
    expect(body.errors).toEqual([
      {
        message: `Variable "$${name}" got an invalid value at "${at}"; ${reason}`,
        locations: [expect.anything()],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(body.data).toBeUndefined();
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

  test('variables may hold single items, or fields of items, beside those in the document', async () => {
    const document = `mutation ($item: CreateAssetInput!, $uid: String, $others: [CreateAssetInput!]! = [{ name: "b" }]) {
      mixed: createAssets(input: [$item, { name: "c", uid: $uid }]) { name uid }
      others: createAssets(input: $others) { name }
    }`;

    const missing = await service.graphql(document, { item: {}, uid: 'C' });
    const stored = await service.data(document, { item: { name: 'a' }, uid: 'C' });

    expect(missing.body.errors[0].extensions.issues).toEqual([
      { path: ['input', 0, 'name'], message: 'required: the name of the asset', code: 'required' },
    ]);
    expect(missing.body.data).toEqual({ mixed: null, others: [{ name: 'b' }] });
    expect(stored.mixed).toEqual([
      { name: 'a', uid: null },
      { name: 'c', uid: 'C' },
    ]);
  });
});
