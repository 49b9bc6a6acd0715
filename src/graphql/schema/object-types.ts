/** Beside every reference its link. Objects of other systems have an ID, and the records here that refer to it. */
import { type Field, foreignTypes } from '../../model/fields.ts';
import { capitalized, linkField, withArticle } from '../../model/labels.ts';
import { kindNamed, recordKinds } from '../../records/index.ts';
import type { FieldExtensions } from '../limits.ts';
import {
  builder,
  type ForeignTypeName,
  foreignType,
  node,
  type ObjectFields,
  scalarOf,
  typeOf,
  type Values,
} from './builder.ts';
import { historyField } from './changes.ts';
import { reverseLinkFields } from './connection.ts';

for (const kind of recordKinds) {
  builder.objectType(typeOf(kind), {
    description: kind.description,
    interfaces: [node],
    fields: (t) => ({
      ...Object.fromEntries(Object.entries(kind.storedFields).flatMap(([name, field]) => fieldsFor(t, name, field))),
      ...reverseLinkFields(t, kind.name),
      history: historyField(t, kind),
    }),
  });
}

for (const [name, description] of Object.entries(foreignTypes)) {
  builder.objectType(foreignType(name as ForeignTypeName), {
    description,
    fields: (t) => ({
      id: t.exposeID('id', { description: 'The ID, the only value that is stored here.' }),
      ...reverseLinkFields(t, name),
    }),
  });
}

/** Returns both `projectId` and `project`; only the link for a field without the suffix `Id`, such as `createdBy`. */
export function fieldsFor(t: ObjectFields<Values>, name: string, field: Field) {
  const extensions = { storedField: name } satisfies FieldExtensions;
  const nullable = !field.required;
  const value = t.expose(name, { type: scalarOf(field), nullable, description: field.description, extensions });
  const link = linkField(name);
  switch (field.type) {
    case 'foreignReference': {
      const linked = t.field({
        type: foreignType(field.target),
        nullable,
        description: `${capitalized(field.refersTo)}; only the ID is stored here.`,
        extensions,
        resolve: ({ [name]: id }) => id && { id },
      });
      return link === name
        ? ([[link, linked]] as const)
        : ([
            [name, value],
            [link, linked],
          ] as const);
    }
    case 'reference': {
      const target = kindNamed(field.target);
      const linked = t.field({
        type: typeOf(target),
        nullable: true,
        description: `${capitalized(field.refersTo)}; null unless ${withArticle(target.label)} with this ID is stored here.`,
        extensions,
        resolve({ [name]: id, [link]: linked }, _args, { loaders }) {
          // There at once where it was read together with the record.
          if (linked !== undefined) return linked;
          return id ? loaders.of(target).load(id) : null;
        },
      });
      return [
        [name, value],
        [link, linked],
      ] as const;
    }
    default:
      return [[name, value]] as const;
  }
}
