/** What identifies records in upserts and deletions besides their IDs: a field, or an external ID. */
import { constantCase, withArticle } from '../../../model/labels.ts';
import { matchableFields, type RecordKind } from '../../../model/record-kind.ts';
import type { ValueLimits } from '../../../model/schemas.ts';
import type { RecordKey } from '../../../services/record-keys.ts';
import { parseArgument } from '../argument.ts';
import { builder, type InputRef } from '../builder.ts';
import { exampleKey } from './write-examples.ts';

interface SentKey {
  readonly field?: string | null | undefined;
  readonly externalId?: string | null | undefined;
}

const types = new Map<RecordKind, InputRef<SentKey>>();

/** `AssetKey` */
export function keyType(kind: RecordKind): InputRef<SentKey> {
  const type = types.get(kind) ?? createKeyType(kind);
  types.set(kind, type);
  return type;
}

/** Throws a ServiceError 400. */
export function parseKey({ field, externalId }: SentKey, { maxTextLength }: ValueLimits): RecordKey {
  if (field) return { field };
  return { externalId: String(parseArgument(['by', 'externalId'], { type: 'text' }, externalId, maxTextLength)) };
}

function createKeyType(kind: RecordKind): InputRef<SentKey> {
  const fields = matchableFields(kind);
  if (fields.length === 0 && !kind.fields.externalIds) {
    throw new Error(`${kind.pluralLabel} have no key: declare a field with matchable(…), or externalIds()`);
  }
  return builder.inputType(`${kind.name}Key`, {
    isOneOf: true,
    description: `What identifies ${withArticle(kind.label)} besides its ID: ${exampleKey(kind)}.`,
    fields: (t) => ({
      ...(fields.length > 0 && {
        field: t.field({
          type: keyFieldType(kind),
          description: 'The field whose value identifies the record.',
        }),
      }),
      ...(kind.fields.externalIds && {
        externalId: t.string({
          description:
            'The name of the other system, as in `externalIds`. An upsert leaves the IDs in all other systems unchanged.',
        }),
      }),
    }),
  });
}

/** `AssetKeyField` */
const keyFieldType = (kind: RecordKind) =>
  builder.enumType(`${kind.name}KeyField`, {
    description: `A field that identifies ${withArticle(kind.label)}.`,
    values: Object.fromEntries(
      matchableFields(kind).map((name) => [
        constantCase(name),
        { value: name, description: kind.fields[name]?.description ?? '' },
      ]),
    ),
  });
