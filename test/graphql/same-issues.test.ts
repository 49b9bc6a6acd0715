/** What is wrong with a batch is reported alike over REST and GraphQL: every issue, with the same code, place and message. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Field } from '../../src/model/fields.ts';
import { type DescribedIssue, formatPath } from '../../src/model/issues.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { createDocument, importDocument, updateDocument } from '../support/mutations.ts';
import { anyRecord, kinds, restKinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const runs = byEffort({ small: 10, long: 1_000 });

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

/** Values of the type of a field, most of them invalid: GraphQL itself rejects values of other types. */
const anyValue = ({ type }: Field): fc.Arbitrary<unknown> =>
  fc.constantFrom<unknown>(
    ...({
      number: [null, 0.5, -91.5, 1e9],
      boolean: [null, true, false],
      dateTime: [null, true, 5, '', 'soon', '2026-02-30', '2026-03-01', {}],
      externalIds: [null, [], ['a'], 'a', { erp: '1' }, { erp: 5, sap: null }],
    }[type as string] ?? [
      ...[null, '', ' ', '5', '\0', '\ud800', 'x'.repeat(300), 'x'.repeat(10_001)],
      ...kinds.map(({ kind }) => unknownId(kind)),
    ]),
  );

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

test.each(restKinds)(
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

test('an issue has the path of another item that it is about, too, and of the rejected one without which an item is left out', async () => {
  const input = {
    locations: [{ name: 'Quay' }, { ref: 'yard', name: 'North yard', latitude: 91 }, { ref: 'yard', name: 'Gate' }],
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
    { list: 'locations', index: 2, issues: [{ path: ['ref'], code: 'repeated-ref', other: ['locations', '1'] }] },
  ]);
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
