/** The types of objects kept in other systems: an ID, and the records here that refer to it. */
import type { Limits } from '../../config.ts';
import { foreignTypes } from '../../model/fields.ts';
import { parseArgument } from './argument.ts';
import type { Builder, ObjectRef, QueryFields } from './builder.ts';
import { typeLabel } from './field-labels.ts';
import type { ConnectionTypes } from './list/connection-type.ts';
import { reverseLinkFields } from './list/reverse-link.ts';

/** An object kept in another system. */
export interface Foreign {
  readonly id: string;
}

export type ForeignTypeName = keyof typeof foreignTypes;

export type ForeignTypes = Readonly<Record<ForeignTypeName, ObjectRef<Foreign>>>;

export function createForeignTypes(builder: Builder, connections: ConnectionTypes, limits: Limits): ForeignTypes {
  const typeFor = (name: string, description: string) =>
    builder.objectRef<Foreign>(name).implement({
      description,
      fields: (t) => ({
        id: t.exposeID('id', { description: 'The ID, the only value that is stored here.' }),
        ...reverseLinkFields(t, name, connections, limits),
      }),
    });
  const entries = Object.entries(foreignTypes).map(([name, description]) => [name, typeFor(name, description)]);
  return Object.fromEntries(entries);
}

/** Returns the field of Query that leads to everything linked to an ID of another system. Nothing is read for the field itself. */
export const foreignField = (t: QueryFields, types: ForeignTypes, name: ForeignTypeName, { maxTextLength }: Limits) =>
  t.field({
    type: types[name],
    description: `The ${typeLabel(name)} with this ID, to list the records that refer to it. It is kept in another system; whether it exists there is not checked.`,
    args: { id: t.arg.id({ required: true, description: `The ID of the ${typeLabel(name)}, as records have it.` }) },
    resolve: (_root, { id }) => {
      parseArgument(['id'], { type: 'foreignReference' }, id, maxTextLength);
      return { id };
    },
  });
