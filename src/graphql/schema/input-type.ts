/** Input types, derived from the record kinds and validated by their schemas: the same rules and messages as over REST. */
import { capitalized, withArticle } from '../../model/labels.ts';
import { patchParser } from '../../model/patch.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, updateParser, type ValueLimits } from '../../model/schemas.ts';
import { takeTurns } from '../../slices.ts';
import type { Builder, InputFields } from './builder.ts';
import { scalarOf } from './object-type.ts';
import { exampleChange, exampleFields, examplePatch } from './write-examples.ts';

/** `CreateAssetInput`. Resolvers get each item parsed, valid or not: the service reports the issues of all items together. */
export const createInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Create${kind.name}Input`, {
      description: `The fields of ${withArticle(kind.label)} to create: ${exampleFields(kind)}. A field that is null or absent is not set.`,
      fields: (t) => inputFields(t, kind, { requires: true }),
    })
    .validate(inTurns(createParser(kind, limits)));

/** `UpdateProjectInput` */
export const updateInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`Update${kind.name}Input`, {
      description: `The fields of ${withArticle(kind.label)} to change: ${exampleChange(kind)}. Absent fields stay unchanged; null clears a field.`,
      fields: (t) => inputFields(t, kind, { requires: false }),
    })
    .validate(inTurns(updateParser(kind, limits)));

/** `AssetPatch` */
export const patchInput = <K extends RecordKind>(builder: Builder, kind: K, limits: ValueLimits) =>
  builder
    .inputType(`${kind.name}Patch`, {
      description: `${capitalized(withArticle(kind.label))} to change, by its ID, and the new values of some fields: ${examplePatch(kind)}. Absent fields stay unchanged; null clears a field.`,
      fields: (t) => ({
        id: t.id({ required: true, description: `The ID of the ${kind.label}.` }),
        ifUpdatedAt: t.field({
          type: 'DateTime',
          description: `The \`updatedAt\` that the ${kind.label} was read with. If somebody has changed it since, the batch is refused with the code CONFLICT.`,
        }),
        ...inputFields(t, kind, { requires: false }),
      }),
    })
    .validate(inTurns(patchParser(kind, limits)));

/** A Standard Schema. A batch may have ten thousand records, each with many issues: other requests run in between. */
function inTurns<T>(parse: (input: unknown) => T) {
  const turn = takeTurns();
  const validate = async (input: unknown) => {
    await turn();
    return { value: parse(input) };
  };
  return { '~standard': { version: 1, vendor: 'yardgraph', validate } } as const;
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
