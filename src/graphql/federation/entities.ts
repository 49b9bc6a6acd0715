/**
 * The query with which a gateway loads records, and the reverse links of objects kept elsewhere, by their IDs. Reads
 * through the loaders, like every query: one statement for each kind.
 */
import {
  type GraphQLFieldConfig,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLScalarType,
  GraphQLUnionType,
} from 'graphql';
import type { Limits } from '../../config.ts';
import { expected, isObject, type Path } from '../../model/issues.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../plan/extensions.ts';
import { lengthLimit, parseArgument, refused } from '../schema/argument.ts';

export type Query = GraphQLFieldConfig<unknown, Context>;

/** `types` are the types that a gateway can load by their IDs. */
export function entitiesQuery(types: readonly GraphQLObjectType[], { maxPageSize, maxTextLength }: Limits): Query {
  const names = new Set(types.map(({ name }) => name));
  const entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'Something that a gateway can load by its ID.',
    types,
    resolveType: ({ __typename, id }) => __typename ?? kindOfId(id)?.name,
  });
  const representation = new GraphQLScalarType({
    name: '_Any',
    description:
      'The type and the ID of something, as an object: `{ "__typename": "Company", "id": "ERP-COMPANY-5" }`.',
  });
  const requireLength = lengthLimit(maxPageSize, 'representations');
  return {
    type: new GraphQLNonNull(new GraphQLList(entity)),
    description: `For gateways: what the representations stand for, in the same order; null where there is no such record. At most ${maxPageSize}.`,
    extensions: {
      cost: { listSize: ({ representations }) => lengthOf(representations) },
    } satisfies FieldExtensions,
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(representation))),
        description: 'The types and IDs of what to load.',
        extensions: { requireLength } satisfies ArgumentExtensions,
      },
    },
    resolve: (_root, { representations }, context) => {
      requireLength(representations.length, 'representations');
      const keys = representations.map((sent: unknown, index: number) =>
        keyIn(sent, ['representations', index], names, maxTextLength),
      );
      return Promise.all(keys.map((key: Key) => loadEntity(context, key)));
    },
  };
}

interface Key {
  readonly type: string;
  readonly id: string;
}

/** Parses a representation. Ignores other fields, as the specification allows. Throws a ServiceError 400. */
function keyIn(sent: unknown, at: Path, types: ReadonlySet<string>, maxLength: number): Key {
  if (!isObject(sent)) throw refused(at, expected('an object with __typename and id', sent));
  const { __typename: type, id } = sent;
  if (typeof type !== 'string' || !types.has(type))
    throw refused([...at, '__typename'], expected(`one of ${[...types].join(', ')}`, type));
  return { type, id: String(parseArgument([...at, 'id'], { type: 'id' }, id, maxLength)) };
}

/** Objects kept elsewhere are not looked up: only their reverse links are here. */
function loadEntity({ loaders }: Context, { type, id }: Key) {
  const kind = recordKinds.find(({ name }) => name === type);
  return kind ? loaders.of(kind).load(id) : { __typename: type, id };
}
