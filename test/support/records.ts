/** Records to send: the smallest and the fullest valid one of each kind, and random ones of any shape a kind allows. */
import fc from 'fast-check';
import type { Field } from '../../src/model/fields.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';

/** Each kind, and the smallest record it takes. */
export const kinds = recordKinds.map((kind) => ({ kind, smallest: smallestOf(kind) }));

/** The kinds that have a name, and need no other record. */
export const namedKinds = kinds.filter(({ kind }) => kind.fields.name);

/** The kinds that are created over REST, too, and where. */
export const restKinds = kinds.flatMap((known) =>
  routes.flatMap(({ operation, kind, path }) =>
    operation === 'create' && kind === known.kind ? { ...known, path } : [],
  ),
);

function smallestOf({ fields, example }: RecordKind): Record<string, unknown> {
  const values = Object.entries(example as Record<string, unknown>);
  return Object.fromEntries(values.filter(([name]) => fields[name]?.required === true));
}

/** An id in this service's own form that no record has. */
export const unknownId = (kind: RecordKind): string => `${kind.idPrefix}_01h455vb4pex5vsknk084sn02q`;

/** A value for each type of field that must come back as it was sent. */
const sampleValue = (field: Field): unknown =>
  (field.type === 'text' && field.form?.example) ||
  {
    id: '',
    text: ' Größe "L"\n𝄞 ',
    number: 53.0793,
    boolean: false,
    dateTime: '2026-03-01T07:30:00.000Z',
    externalIds: { erp: '4711', '': '' },
    reference: 'FOREIGN-1',
    foreignReference: 'status-7',
  }[field.type];

/** Every field of a kind set, except references that only take ids of this service. */
export const fullRecord = (kind: RecordKind): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(kind.fields)
      .filter(([, field]) => !('mustExist' in field))
      .map(([name, field]) => [name, sampleValue(field)]),
  );

const text = (constraints: fc.StringConstraints = {}) =>
  fc.string({ unit: 'binary', ...constraints }).map((value) => value.replaceAll('\0', ' '));

const identifier = text({ minLength: 1, maxLength: 40 });

const dateTime = fc
  .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

const anyValue = (field: Field): fc.Arbitrary<unknown> => {
  switch (field.type) {
    case 'text':
      if (field.form) return fc.stringMatching(field.form.pattern);
      return field.required ? text().map((value) => `${value}.`) : text();
    case 'number':
      return fc.double({ min: field.min, max: field.max, noNaN: true }).map((value) => value + 0);
    case 'boolean':
      return fc.boolean();
    case 'dateTime':
      return dateTime;
    case 'externalIds':
      return fc
        .array(fc.tuple(fc.oneof(text(), fc.constantFrom('__proto__', 'constructor', 'toString', '7')), text()))
        .map((entries) =>
          JSON.parse(`{${entries.map((pair) => pair.map((it) => JSON.stringify(it)).join(':')).join()}}`),
        );
    case 'id':
    case 'reference':
    case 'foreignReference':
      return identifier;
  }
};

/** Any valid record of a kind: optional fields set, null or absent. Unique fields are left to the test. */
export function anyRecord(kind: RecordKind): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(kind.fields).filter(
    ([, field]) => (field.required || !('mustExist' in field)) && !field.unique,
  );
  const model = fields.map(
    ([name, field]) => [name, field.required ? anyValue(field) : fc.option(anyValue(field))] as const,
  );
  const requiredKeys = fields.filter(([, field]) => field.required).map(([name]) => name);
  return fc.record(Object.fromEntries(model), { requiredKeys });
}

/** A sent record as responses show it: fields that are not set are null or absent. */
export const answered = (kind: RecordKind, sent: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(kind.fields)
      .map((name) => [name, (sent as Record<string, unknown>)[name] ?? null] as const)
      .filter(([name, value]) => value !== null || !kind.omittedFields.includes(name)),
  );
