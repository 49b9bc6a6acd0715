/** The object types by what they stand for, and the names of their fields. Their fields are in object-types.ts: types lead to each other. */

import { type Field, foreignTypes } from '../../model/fields.ts';
import { linkField } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import { builder, type ObjectRef, type Values } from './builder.ts';

interface Foreign {
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

/** Returns the name of a type in running text: `work order type` */
export const typeLabel = (name: string): string => name.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();

/** Describes the content of a field, without how it is stored: `The name of the asset` */
export function subjectOf(field: Field): string {
  if (field.type === 'externalIds') return 'An ID in another system';
  if (field.type === 'reference' || field.type === 'foreignReference') return `The ID of ${field.refersTo}`;
  return field.description.split(/[,;:.]/, 1)[0] ?? '';
}

/** Returns `The assets whose currentLocation is this location` */
export function describeReverseLink({ kind, field, target, direction }: ReverseLink): string {
  const isThis = `this ${typeLabel(target)}`;
  if (direction === 'ancestors') return `The ${kind.pluralLabel} above ${isThis}, from its parent up to the root`;
  return `The ${kind.pluralLabel} whose \`${linkField(field)}\` is ${isThis}`;
}
