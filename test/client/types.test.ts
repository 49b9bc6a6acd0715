/**
 * The types of the client, as programs in TypeScript see them: what compiles, what does not, and that it does what they say.
 * Types, and what must not compile, are checked by `npm run check`: at runtime `expectTypeOf` does nothing.
 */
import { parse } from 'graphql';
import { beforeEach, expect, expectTypeOf, test } from 'vitest';
import type {
  Asset,
  Location,
  NewAsset,
  Project,
  ProjectChanges,
  Upserted,
  WorkOrder,
  Yardgraph,
} from '../../client/index.ts';
import { clientOf } from '../support/client.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service, { apiKeyAuth: await service.key() });
  await yardgraph.locations.create([{ name: 'North yard', city: 'Bremen' }]);
});

/** Text with types, as GraphQL Code Generator declares it. What gql.tada adds to an AST is in test/docs/typed-documents.test.ts. */
class TypedDocumentString<Result, Variables> extends String {
  __apiType?: (variables: Variables) => Result;
  readonly #value: string;

  constructor(value: string) {
    super(value);
    this.#value = value;
  }

  override toString(): string & { __apiType?: (variables: Variables) => Result } {
    return this.#value;
  }
}

type Exact<T> = { [K in keyof T]: T[K] };
type Latest = { locations: { nodes: Array<{ name: string | null }> } };
type Count = { assets: { totalCount: number } };

const latestText = 'query Latest($last: Int) { locations(last: $last) { nodes { name } } }';
const latest = new TypedDocumentString<Latest, Exact<{ last?: number | null | undefined }>>(latestText);
const one = new TypedDocumentString<{ node: { id: string } | null }, Exact<{ id: string | number }>>(
  'query One($id: ID!) { node(id: $id) { id } }',
);
const count = new TypedDocumentString<Count, Exact<{ [key: string]: never }>>('{ assets { totalCount } }');

const latestData = { locations: { nodes: [{ name: 'North yard' }] } };

test('graphql takes the types of a document that has them', async () => {
  const data = await yardgraph.graphql(latest, { last: 1 });
  expectTypeOf(data).toEqualTypeOf<Latest>();
  expect(data).toEqual(latestData);
  expectTypeOf(await yardgraph.graphql(latest)).toEqualTypeOf<Latest>();
  expectTypeOf(await yardgraph.graphql(count)).toEqualTypeOf<Count>();
  const { graphql } = yardgraph;
  const wrong = [
    // @ts-expect-error: the ID is required
    () => graphql(one),
    // @ts-expect-error: an ID is text or a number
    () => graphql(one, { id: true }),
    // @ts-expect-error: there is no such variable
    () => graphql(one, { id: '1', last: 1 }),
    // @ts-expect-error: there are no variables
    () => graphql(count, { last: 1 }),
    // @ts-expect-error: a number is not a document
    () => graphql(5),
  ];
  expectTypeOf(wrong).toBeArray();
});

test('graphql of a document without types returns untyped data, which a strict program can read', async () => {
  const { locations } = await yardgraph.graphql(latestText, { last: 1 });
  expectTypeOf(locations).toBeAny();
  expect(locations.nodes).toEqual(latestData.locations.nodes);
  expect(await yardgraph.graphql(parse(latestText))).toEqual(latestData);
});

test('create returns as many records as an array literal has', async () => {
  const [first, second] = await yardgraph.locations.create([{ name: 'North yard' }, { city: 'Bremen' }]);

  expectTypeOf(first).toEqualTypeOf<Location>();
  expect([first.name, second.city]).toEqual(['North yard', 'Bremen']);
  const parts = await yardgraph.assets.create([{ name: 'Crane' }, { name: 'Pump' }], { partSize: 1 });
  expectTypeOf(parts).toEqualTypeOf<[Asset, Asset]>();
  // @ts-expect-error: only one record is sent
  const [, absent] = await yardgraph.locations.create([{}]);
  expect(absent).toBeUndefined();
});

test('the types define what is required, what may be null and what may be absent', async () => {
  expectTypeOf<NewAsset['name']>().toEqualTypeOf<string>();
  expectTypeOf<NewAsset['acquiredAt']>().toEqualTypeOf<string | null | undefined>();
  expectTypeOf<NewAsset['externalIds']>().toEqualTypeOf<{ [key: string]: string } | null | undefined>();
  expectTypeOf<Asset['acquiredAt']>().toEqualTypeOf<string | null>();
  expectTypeOf<WorkOrder['projectId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ProjectChanges['name']>().toEqualTypeOf<string | undefined>();
  const { projects, assets } = yardgraph;
  const calls = [
    async () => expectTypeOf(await projects.update('project_1', {})).toEqualTypeOf<Project>(),
    async () => expectTypeOf((await projects.update([{ id: 'project_1' }]))[0]).toEqualTypeOf<Project>(),
    async () => expectTypeOf((await assets.upsert({ field: 'UID' }, [{}]))[0]).toEqualTypeOf<Upserted<Asset>>(),
    async () =>
      expectTypeOf(
        (await assets.upsert({ field: 'ID' }, [{}], { returning: 'change' }))[0].before,
      ).toEqualTypeOf<Asset | null>(),
    async () =>
      expectTypeOf(await assets.delete(['asset_1'], { returning: 'outcome' })).toEqualTypeOf<
        { readonly id: string }[]
      >(),
  ];
  expectTypeOf(calls).toBeArray();
});

test('what does not fit the schema does not compile', () => {
  const { assets, locations, changes } = yardgraph;
  const wrong = [
    // @ts-expect-error: a misspelt field, of a kind that requires one
    () => assets.create([{ name: 'Excavator' }, { nmae: 'Crane' }]),
    // @ts-expect-error: the name is required
    () => assets.create([{ uid: 'EX-1' }]),
    // @ts-expect-error: a name is text
    () => assets.create([{ name: 5 }]),
    // @ts-expect-error: a misspelt field
    () => assets.update([{ id: 'asset_1', nmae: 'Crane' }]),
    // @ts-expect-error: a link of a change has no ref
    () => assets.update([{ id: 'asset_1', currentLocation: { ref: 'a' } }]),
    // @ts-expect-error: assets have no such key
    () => assets.upsert({ field: 'REFERENCE' }, []),
    // @ts-expect-error: locations have no key other than IDs and external IDs
    () => locations.upsert({ field: 'NAME' }, []),
    // @ts-expect-error: there is no such kind
    () => changes({ kinds: ['CRANE'] }),
  ];
  expectTypeOf(wrong).toBeArray();
});
