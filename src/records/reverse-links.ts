/** The reverse links of every kind, and of objects kept in other systems. They follow from the declared references. */
import type { Field, ForeignReferenceField, ReferenceField } from '../model/fields.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { recordKinds } from './index.ts';

const links = recordKinds.flatMap(linksOf);

for (const { target, name, kind, field } of links) {
  const hasField = recordKinds.some((other) => other.name === target && Object.hasOwn(other.storedFields, name));
  if (hasField || links.filter((other) => other.target === target && other.name === name).length > 1) {
    throw new Error(
      `${target} has two fields named ${name}: give the reference ${kind.name}.${field} another reverse link`,
    );
  }
}

export const reverseLinksOf = (target: string): readonly ReverseLink[] =>
  links.filter((link) => link.target === target);

function linksOf(kind: RecordKind): ReverseLink[] {
  return Object.entries(kind.storedFields).flatMap(([field, declared]): ReverseLink[] => {
    if (!isReference(declared)) return [];
    const { target, reverse = listField(kind) } = declared;
    const link = { name: reverse, target, kind, field, direction: 'referring' } as const;
    // Where each record has at most one parent of its own kind, which must exist, they form a tree.
    const isTree = declared.type === 'reference' && declared.mustExist && target === kind.name;
    return isTree ? [link, { ...link, name: 'ancestors', direction: 'ancestors' }] : [link];
  });
}

/** Skips Workspace: a request sees a single one, so its links would repeat the lists. */
function isReference(field: Field): field is ReferenceField | ForeignReferenceField {
  return field.type === 'reference' || (field.type === 'foreignReference' && field.target !== 'Workspace');
}
