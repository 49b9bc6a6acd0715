/** Input types, derived from the record kinds and judged by their schemas: the same rules and words as over REST. */
import type { RecordKind } from '../../model/record-kind.ts';
import { createSchema, type RecordSchema, updateSchema, type ValueLimits } from '../../model/schemas.ts';
import { takeTurns } from '../../slices.ts';
import type { Builder, InputFields } from './builder.ts';
import { scalarOf } from './object-type.ts';

/** `CreateAssetInput`. Resolvers get each item parsed: the service names what is wrong in all of them at once. */
export const createInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Create${kind.name}Input`, {
      description: `The fields of a ${kind.label} to create. What is null or absent is not set.`,
      fields: (t) => inputFields(t, kind, { requires: true }),
    })
    .validate(inTurns(createSchema(kind, limits)));

/** `UpdateProjectInput` */
export const updateInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Update${kind.name}Input`, {
      description: `The fields of a ${kind.label} to change. What is absent stays as it is; null clears a field.`,
      fields: (t) => inputFields(t, kind, { requires: false }),
    })
    .validate(inTurns(updateSchema(kind, limits)));

/** A batch may have ten thousand records, each with many issues: others get their turn in between. */
function inTurns<T>(schema: RecordSchema<T>) {
  const turn = takeTurns();
  const { version, vendor, validate } = schema['~standard'];
  return {
    '~standard': {
      version,
      vendor,
      validate: async (input: unknown) => {
        await turn();
        return validate(input);
      },
    },
  };
}

const inputFields = (t: InputFields, kind: RecordKind, { requires }: { requires: boolean }) =>
  Object.fromEntries(
    Object.entries(kind.fields).map(([name, field]) => [
      name,
      t.field({
        type: scalarOf(field),
        required: requires && field.required === true,
        description: field.description,
      }),
    ]),
  );
