/** The record kinds in the document: the JSON schemas of requests and responses, and examples of both. */
import type { Limits } from '../../config.ts';
import type { Field } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf } from '../../model/schemas.ts';
import { toResponse } from '../response.ts';
import { type Route, routes } from '../routes.ts';
import type { Json } from './parts.ts';

export const requestName = (kind: RecordKind, operation: Route['operation']) =>
  operation === 'update' ? `${kind.name}Changes` : `New${kind.name}`;

/** Returns the schemas of a kind: `Asset`, `NewAsset`, and `AssetChanges` where there is an update. */
export function kindSchemas(kind: RecordKind, limits: Limits): Json {
  const requests = routes.filter((route) => route.kind === kind && route.operation !== 'list');
  return {
    [kind.name]: responseSchema(kind, limits),
    ...Object.fromEntries(
      requests.map(({ operation }) => [requestName(kind, operation), requestSchema(kind, operation, limits)]),
    ),
  };
}

function requestSchema(kind: RecordKind, operation: Route['operation'], limits: Limits): Json {
  const fields = Object.entries(kind.fields);
  const required = operation === 'create' ? fields.filter(([, field]) => field.required).map(([name]) => name) : [];
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, requestFieldSchema(field, limits)])),
  };
}

function responseSchema(kind: RecordKind, limits: Limits): Json {
  const fields = Object.entries(kind.storedFields);
  const nullable = kind.unset === 'null';
  return {
    type: 'object',
    description: kind.description,
    required: fields.filter(([, field]) => nullable || field.required).map(([name]) => name),
    properties: Object.fromEntries(
      fields.map(([name, field]) => {
        const schema = fieldSchema(field, limits, { nullable: nullable && !field.required });
        return [name, field.type === 'id' ? { ...schema, examples: [exampleId(kind)] } : schema];
      }),
    ),
  };
}

/** Returns the schema of a field in requests, where a datetime may also be a date, and a field that is not required may be null. */
function requestFieldSchema(field: Field, limits: Limits): Json {
  if (field.type !== 'dateTime') return fieldSchema(field, limits, { nullable: !field.required });
  const { format: _, examples, ...type } = typeSchema(field, limits);
  const formats = ['date-time', 'date'].map((format) => ({ ...type, format }));
  return { ...anyOf(formats, { nullable: !field.required }), description: field.description, examples };
}

/** Client generators lose the null in `type: ['object', 'null']`, and the type of an `anyOf` branch that has only a format. */
function fieldSchema(field: Field, limits: Limits, { nullable }: { nullable: boolean }): Json {
  const { type, examples, ...rules } = typeSchema(field, limits);
  const schema =
    nullable && type === 'object'
      ? anyOf([{ type, ...rules }], { nullable })
      : { type: nullable ? [type, 'null'] : type, ...rules };
  return { ...schema, description: field.description, ...(examples !== undefined && { examples }) };
}

const anyOf = (schemas: readonly Json[], { nullable }: { nullable: boolean }): Json => ({
  anyOf: [...schemas, ...(nullable ? [{ type: 'null' }] : [])],
});

function typeSchema(field: Field, limits: Limits): Json {
  switch (field.type) {
    case 'id':
      return { type: 'string' };
    case 'text':
      return { type: 'string', maxLength: maxLengthOf(field, limits) };
    case 'number':
      return { type: 'number', minimum: field.min, maximum: field.max };
    case 'boolean':
      return { type: 'boolean' };
    case 'dateTime':
      return { type: 'string', format: 'date-time', examples: ['2026-03-01T07:30:00.000Z'] };
    case 'externalIds':
      return {
        type: 'object',
        propertyNames: { maxLength: maxLengthOf(field, limits) },
        additionalProperties: { type: 'string', maxLength: maxLengthOf(field, limits) },
        maxProperties: limits.maxExternalIds,
        examples: [{ erp: '4711' }],
      };
    case 'reference':
    case 'foreignReference':
      return { type: 'string', minLength: 1, maxLength: maxIdentifierLength };
  }
}

/** A change of the only kind that an operation changes. */
const change = { name: 'Harbour wall, phase 2', startDate: null };

export function validBody({ kind, operation }: Route): unknown {
  return operation === 'create' ? [kind.example] : change;
}

export const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

export function successBody({ kind, operation }: Route): unknown {
  if (operation !== 'update') return [storedExample(kind, kind.example, '2026-03-01T07:30:00.000Z')];
  return storedExample(kind, { ...kind.example, ...change }, '2026-03-01T07:45:00.000Z');
}

function storedExample(kind: RecordKind, sent: object, updatedAt: string): object {
  const set: Record<string, unknown> = {
    ...sent,
    id: exampleId(kind),
    workspaceId: 'acme',
    createdAt: '2026-03-01T07:30:00.000Z',
    updatedAt,
    createdBy: 'erp-sync',
    updatedBy: 'erp-sync',
  };
  const stored = Object.entries(kind.storedFields).map(([name, { type }]) => {
    const value = set[name] ?? null;
    return [name, type === 'dateTime' && value !== null ? new Date(String(value)).toISOString() : value];
  });
  return toResponse(kind, Object.fromEntries(stored));
}
