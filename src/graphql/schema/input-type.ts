/** Input types, derived from the record kinds and validated by their schemas: the same rules and messages as over REST. */
import { withArticle } from '../../model/article.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createSchema, type RecordSchema, updateSchema, type ValueLimits } from '../../model/schemas.ts';
import { takeTurns } from '../../slices.ts';
import type { Builder, InputFields } from './builder.ts';
import { scalarOf } from './object-type.ts';

/** `CreateAssetInput`. Resolvers get each item parsed, valid or not: the service reports the issues of all items together. */
export const createInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Create${kind.name}Input`, {
      description: `The fields of ${withArticle(kind.label)} to create. A field that is null or absent is not set.`,
      fields: (t) => inputFields(t, kind, { requires: true }),
    })
    .validate(inTurns(createSchema(kind, limits)));

/** `UpdateProjectInput` */
export const updateInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Update${kind.name}Input`, {
      description: `The fields of ${withArticle(kind.label)} to change. Absent fields stay unchanged; null clears a field.`,
      fields: (t) => inputFields(t, kind, { requires: false }),
    })
    .validate(inTurns(updateSchema(kind, limits)));

/** A batch may have ten thousand records, each with many issues: other requests run in between. */
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
