/** Names of fields that follow from the declarations, and descriptions of fields. */
import type { Field } from '../../model/fields.ts';
import { linkField } from '../../model/labels.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';

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
