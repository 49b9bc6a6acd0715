/** One schema serves all settings, which are in the context of resolvers. */
import SchemaBuilder from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import type { Limits } from '../../config.ts';
import { badRequest } from '../../errors.ts';
import type { RequestLog } from '../../http/error-response.ts';
import type { ExternalIds, Field, foreignTypes } from '../../model/fields.ts';
import { formatIssue, type IssueData, type Path } from '../../model/issues.ts';
import { constantCase, linkField } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { type ComparedValue, parseComparedValue } from '../../model/schemas.ts';
import { sentence } from '../../model/sentences.ts';
import { kindNamed, kindOfId, label, labelKey, labelledTypes } from '../../records/index.ts';
import type { Session } from '../../services/write.ts';
import type { Loaders } from '../execution/loaders.ts';
import type { Parsers } from './item-parsers.ts';

export interface Context {
  readonly session: Session;
  /** By the response name of the mutation. Throws a 400 for an invalid key. */
  readonly sessionFor: (responseName: string) => Session;
  readonly loaders: Loaders;
  readonly limits: Limits;
  readonly parsersOf: (kind: RecordKind) => Parsers;
  /** Reserves characters until the response is closed. The first call may throw a 503. */
  readonly reserveResponse: (length: number) => void;
  readonly requestLog: RequestLog;
}

interface Types {
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: unknown; Output: string };
    ExternalIds: { Input: unknown; Output: ExternalIds };
    FieldValue: { Input: never; Output: unknown };
  };
}

export type { InputRef } from '@pothos/core';

// biome-ignore lint/suspicious/noExplicitAny: fields are derived, so that only the kind knows their types.
export type RecordShape = Readonly<Record<string, any>>;

type Schema = (typeof builder)['$inferSchemaTypes'];

export type InputFields = PothosSchemaTypes.InputFieldBuilder<Schema, 'InputObject'>;
export type Argument<T> = PothosSchemaTypes.ArgumentRef<Schema, T>;
export type QueryFields = PothosSchemaTypes.QueryFieldBuilder<Schema, Schema['Root']>;
export type MutationFields = PothosSchemaTypes.MutationFieldBuilder<Schema, Schema['Root']>;
export type ObjectFields<T> = PothosSchemaTypes.ObjectFieldBuilder<Schema, T>;

export const builder = new SchemaBuilder<Types>({ plugins: [ValidationPlugin], defaultFieldNullability: false });
builder.scalarType('DateTime', {
  description:
    'A time in UTC with milliseconds, as text: `2026-03-01T07:30:00.000Z`. Input may have any time zone, or be a date, which means midnight UTC.',
  serialize: (value) => value,
});
builder.scalarType('ExternalIds', {
  description: 'Identifiers in other systems, as an object with text values: `{ "erp": "4711" }`.',
  serialize: (value) => value,
});
builder.scalarType('FieldValue', {
  description: 'The value of a field of a record: JSON of the type that this field has.',
  serialize: (value) => value,
});

/** The value `WorkOrder` has the name `WORK_ORDER`. */
export const enumType = <V extends string>(name: string, description: string, values: Readonly<Record<V, string>>) =>
  builder.enumType(name, {
    description,
    values: Object.fromEntries(
      (Object.entries(values) as [V, string][]).map(([value, description]) => [
        constantCase(value),
        { value, description },
      ]),
    ),
  });

export function memoize<Key, Value extends object>(create: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>();
  return (key) => {
    const value = values.get(key) ?? create(key);
    values.set(key, value);
    return value;
  };
}

export const node = builder.interfaceRef<RecordShape>('Node').implement({
  description: 'A record of any kind that this service stores.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The ID of the record; its prefix shows the kind.' }) }),
  resolveType: ({ id }) => kindOfId(id)?.name,
});

export const typeOf = memoize(({ name }: RecordKind) => builder.objectRef<RecordShape>(name));

export type ForeignTypeName = keyof typeof foreignTypes;

export const foreignType = memoize((name: ForeignTypeName) => builder.objectRef<RecordShape>(name));

const scalars = {
  id: 'ID',
  text: 'String',
  number: 'Float',
  boolean: 'Boolean',
  dateTime: 'DateTime',
  externalIds: 'ExternalIds',
  reference: 'ID',
  foreignReference: 'ID',
} as const;

export const scalarOf = ({ type }: Field) => scalars[type];

export const sortableFields = (kind: RecordKind): [string, Exclude<Field, { type: 'externalIds' }>][] =>
  Object.entries(kind.storedFields).flatMap(([name, field]) =>
    name === 'workspaceId' || field.type === 'externalIds' ? [] : [[name, field]],
  );

interface QueryLink {
  readonly name: string;
  readonly reference: string;
  readonly target: RecordKind;
  readonly keyPrefix?: string;
  readonly refersTo: string;
}

/** To records, and to the labels of IDs of other systems. */
export const queryLinks = memoize((kind: RecordKind): readonly QueryLink[] =>
  Object.entries(kind.storedFields).flatMap(([reference, field]): QueryLink[] => {
    const name = linkField(reference);
    if (field.type === 'reference') {
      return [{ name, reference, target: kindNamed(field.target), refersTo: field.refersTo }];
    }
    // A stamp, such as `createdBy`, has the name of its own filter.
    if (field.type !== 'foreignReference' || !labelledTypes.includes(field.target) || name === reference) return [];
    const refersTo = `the label of ${field.refersTo}`;
    return [{ name, reference, target: label, keyPrefix: labelKey(field.target, ''), refersTo }];
  }),
);

/** `work order type` */
export const typeLabel = (name: string): string => name.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();

/** `The name of the asset` */
export function subjectOf(field: Field): string {
  if (field.type === 'externalIds') return 'An ID in another system';
  if (field.type === 'reference' || field.type === 'foreignReference') return `The ID of ${field.refersTo}`;
  return field.description.split(/[,;:.]/, 1)[0] ?? '';
}

/** `The assets whose currentLocation is this location` */
export function describeReverseLink({ kind, field, target, direction }: ReverseLink): string {
  const isThis = `this ${typeLabel(target)}`;
  if (direction === 'ancestors') return `The ${kind.pluralLabel} above ${isThis}, from its parent up to the root`;
  if (direction === 'clashing') {
    return `The other ${kind.pluralLabel} with the same \`${linkField(field)}\` at the same time: each starts before the other ends. A record whose end is not after its start has no time`;
  }
  return `The ${kind.pluralLabel} whose \`${linkField(field)}\` is ${isThis}`;
}

export const badArgument = (path: Path, problem: string | IssueData) =>
  badRequest(formatIssue({ path, message: typeof problem === 'string' ? problem : sentence(problem) }));

export function parseArgument(path: Path, field: Pick<Field, 'type'>, sent: unknown, maxLength: number): ComparedValue {
  const parsed = parseComparedValue(field, sent, maxLength);
  if ('problem' in parsed) throw badArgument(path, parsed.problem);
  return parsed.value;
}

export const parseText = (path: Path, sent: unknown, { maxTextLength }: Pick<Limits, 'maxTextLength'>): string =>
  String(parseArgument(path, { type: 'text' }, sent, maxTextLength));
