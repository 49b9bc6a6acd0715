/** The JSON schemas of the record kinds in requests and in responses. */
import type { Limits } from '../../config.ts';
import type { Field } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf } from '../../model/schemas.ts';
import { type Route, routes } from '../routes.ts';
import { exampleId } from './examples.ts';
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
