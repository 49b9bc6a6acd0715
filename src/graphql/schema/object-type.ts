/** Object types, derived from the record kinds: every field, beside every reference its link, and the reverse links. */
import type { Limits } from '../../config.ts';
import type { Field, ForeignReferenceField, ReferenceField } from '../../model/fields.ts';
import { capitalized, linkField, withArticle } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import { kindNamed, kindOfId, recordKinds } from '../../records/index.ts';
import { linkedRecord } from '../../store/records/linked-records.ts';
import type { FieldExtensions } from '../plan/extensions.ts';
import type { Builder, Interface, ObjectFields, ObjectRef, Values } from './builder.ts';
import { type ChangeTypes, createChangeTypes } from './changes/change-type.ts';
import { createForeignTypes, type ForeignTypes } from './foreign-type.ts';
import { type ConnectionTypes, createConnectionTypes, type TypeOf } from './list/connection-type.ts';
import { reverseLinkFields } from './list/reverse-link.ts';

type MaybePromise<T> = T | Promise<T>;

/** Returns the type with this name. A declaration that names an unknown type fails here, when the schema is built. */
type TypeNamed<T> = (name: string) => ObjectRef<T>;

interface LinkTypes {
  readonly stored: TypeNamed<Values>;
  readonly foreign: ForeignTypes;
}

export interface ObjectTypes {
  readonly node: Interface<Values>;
  readonly of: TypeOf;
  readonly links: LinkTypes;
  readonly connections: ConnectionTypes;
  readonly changes: ChangeTypes;
}

/** Makes the object types of one schema: the record kinds, the types of other systems, Node, and the connections between them. */
export function createObjectTypes(builder: Builder, limits: Limits): ObjectTypes {
  const node = nodeType(builder);
  const stored = typesByName(recordKinds.map(({ name }) => [name, builder.objectRef<Values>(name)]));
  // The cast is safe because the type has exactly the fields of the kind's records.
  const of: TypeOf = <K extends RecordKind>(kind: K) => stored(kind.name) as ObjectRef<RecordOf<K>>;
  const connections = createConnectionTypes(builder, of, limits);
  const links: LinkTypes = { stored, foreign: createForeignTypes(builder, connections, limits) };
  const changes = createChangeTypes(builder, node, links.foreign.User, limits);
  for (const kind of recordKinds) {
    builder.objectType(stored(kind.name), {
      description: kind.description,
      interfaces: [node],
      fields: (t) =>
        ({
          ...Object.fromEntries(
            Object.entries(kind.storedFields).flatMap(([name, field]) => fieldsFor(t, name, field, links)),
          ),
          ...reverseLinkFields(t, kind.name, connections, limits),
          history: changes.historyField(t, kind),
        }) as never,
    });
  }
  return { node, of, links, connections, changes };
}

function typesByName<T>(entries: readonly (readonly [string, ObjectRef<T>])[]): TypeNamed<T> {
  const types = new Map(entries);
  return (name) => {
    const type = types.get(name);
    if (!type) throw new Error(`there is no type named ${name}`);
    return type;
  };
}

const nodeType = (builder: Builder) =>
  builder.interfaceRef<Values>('Node').implement({
    description: 'A record of any kind that this service stores.',
    fields: (t) => ({
      id: t.exposeID('id', { description: 'The ID of the record; its prefix shows the kind.' }),
    }),
    resolveType: ({ id }) => kindOfId(id)?.name,
  });

/** Returns both `projectId` and `project`; only the link for a field without the suffix `Id`, such as `createdBy`. */
export function fieldsFor(t: ObjectFields<Values>, name: string, field: Field, types: LinkTypes) {
  const value = t.field({
    type: scalarOf(field),
    nullable: !field.required,
    description: field.description,
    extensions: { storedField: name } satisfies FieldExtensions,
    resolve: ({ [name]: value }) => value,
  });
  const link = linkFor(t, name, field, types);
  if (!link) return [[name, value]] as const;
  if (linkField(name) === name) return [[name, link]] as const;
  return [[name, value] as const, [linkField(name), link] as const];
}

function linkFor(t: ObjectFields<Values>, name: string, field: Field, types: LinkTypes) {
  if (field.type === 'foreignReference') return foreignLink(t, name, field, types);
  if (field.type === 'reference') return storedLink(t, name, field, types);
  return undefined;
}

const foreignLink = (t: ObjectFields<Values>, name: string, field: ForeignReferenceField, { foreign }: LinkTypes) =>
  t.field({
    type: foreign[field.target],
    nullable: !field.required,
    description: `${capitalized(field.refersTo)}; only the ID is stored here.`,
    extensions: { storedField: name } satisfies FieldExtensions,
    resolve: ({ [name]: id }) => id && { id },
  });

function storedLink(t: ObjectFields<Values>, name: string, field: ReferenceField, { stored }: LinkTypes) {
  const target = kindNamed(field.target);
  return t.field({
    type: stored(target.name),
    nullable: true,
    description: `${capitalized(field.refersTo)}; null unless ${withArticle(target.label)} with this ID is stored here.`,
    extensions: { storedField: name } satisfies FieldExtensions,
    resolve(record, _args, { loaders }): MaybePromise<Values | null> {
      // Found at once where it was read together with the record.
      const linked = linkedRecord(record, name);
      if (linked !== undefined) return linked;
      const { [name]: id } = record;
      return id ? loaders.of(target).load(id) : null;
    },
  });
}

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
