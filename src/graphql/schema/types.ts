/** The object types by what they stand for. Their fields are in object-types.ts: types lead to each other. */
import { type Field, foreignTypes } from '../../model/fields.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import { builder, type ObjectRef, type Values } from './builder.ts';

/** An object kept in another system. */
export interface Foreign {
  readonly id: string;
}

export type ForeignTypeName = keyof typeof foreignTypes;

export const node = builder.interfaceRef<Values>('Node').implement({
  description: 'A record of any kind that this service stores.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The ID of the record; its prefix shows the kind.' }),
  }),
  resolveType: ({ id }) => kindOfId(id)?.name,
});

const stored = new Map(recordKinds.map(({ name }) => [name, builder.objectRef<Values>(name)]));

const foreign = new Map(Object.keys(foreignTypes).map((name) => [name, builder.objectRef<Foreign>(name)]));

/** Returns the type of a kind's records. The cast is safe because the type has exactly their fields. */
export const typeOf = <K extends RecordKind>(kind: K) => stored.get(kind.name) as object as ObjectRef<RecordOf<K>>;

export const foreignType = (name: ForeignTypeName) => foreign.get(name) as ObjectRef<Foreign>;

export function scalarOf(field: Field) {
  switch (field.type) {
    case 'id':
      return 'ID';
    case 'text':
      return 'String';
    case 'number':
      return 'Float';
    case 'boolean':
      return 'Boolean';
    case 'dateTime':
      return 'DateTime';
    case 'externalIds':
      return 'ExternalIds';
    case 'reference':
    case 'foreignReference':
      return 'ID';
  }
}
