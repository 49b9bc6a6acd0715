/** The mutations that delete records, by their IDs or by keys of other systems: `deleteAssets`. */
import { badRequest } from '../../../errors.ts';
import type { Parsed } from '../../../model/issues.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { textProblem } from '../../../model/schemas.ts';
import { deleteRecords } from '../../../services/delete-records.ts';
import type { Session } from '../../../services/session.ts';
import { type ArgumentExtensions, type FieldExtensions, lengthOf } from '../../limits/extensions.ts';
import { builder, type MutationFields } from '../builder.ts';
import { typeOf } from '../types.ts';
import { keyType, parseKey } from './key-type.ts';
import { dryRunArgument, requireLength, write, writeCost } from './write.ts';
import { exampleDelete, exampleKey } from './write-examples.ts';

const limited = { extensions: { requireLength } satisfies ArgumentExtensions };

const handling = builder.enumType('ReferenceHandling', {
  description: 'What a deletion does if other records refer to the ones it deletes.',
  values: {
    REFUSE: { value: 'refuse', description: 'Deletes nothing: the error lists the records that refer to each one.' },
    CLEAR: {
      value: 'clear',
      description:
        'Sets these references to null, which is recorded as a change of each record that has one. At most as many as the setting `MAX_BATCH` can be cleared at once.',
    },
  } as const,
});

export function deleteField<K extends RecordKind>(t: MutationFields, kind: K) {
  const references = t.arg({
    type: handling,
    required: true,
    defaultValue: 'refuse',
    description: 'What to do if other records refer to them. References between records of the batch do not count.',
    // Charges for as many records as may be changed.
    extensions: {
      cost: (value, { maxBatch }) => (value === 'CLEAR' ? maxBatch * writeCost : 0),
    } satisfies ArgumentExtensions,
  });
  return t.field({
    type: [typeOf(kind)],
    nullable: true,
    description: `Deletes ${kind.pluralLabel}, all or none, and returns them as they were, in the order sent: ${exampleDelete(kind)}.`,
    extensions: {
      cost: { listSize: ({ ids, keys }) => lengthOf(ids ?? keys), perRecord: writeCost },
    } satisfies FieldExtensions,
    args: {
      ids: t.arg.idList({ ...limited, description: `The IDs of the ${kind.pluralLabel}, each once.` }),
      by: t.arg({
        type: keyType(kind),
        description: `The key by which \`keys\` identify the ${kind.pluralLabel}, instead of their IDs: ${exampleKey(kind)}.`,
      }),
      keys: t.arg.stringList({ ...limited, description: `The values of the key, each once: \`["4711"]\`.` }),
      references,
      dryRun: dryRunArgument(t),
    },
    resolve(_root, { ids, by, keys: values, references, dryRun }, context, info) {
      const { argument, sent } = requireOneList({ ids, by, keys: values });
      const { limits } = context;
      requireLength(sent.length, argument, limits);
      const options = { references, maxCleared: limits.maxBatch, by: by ? parseKey(by, limits) : undefined };
      const parse = by ? parseText(limits.maxTextLength) : parseId;
      return write(context, info, {
        run: async (session: Session) => deleteRecords(session, kind, sent.map(parse), options),
        dryRun,
        primed: (records) => [[kind, new Map(records.map(({ id }) => [id, null]))]],
        argument,
        // The cast is safe: these are records of the kind, which the compiler cannot see for a type parameter.
      }) as never;
    },
  });
}

interface SentLists {
  readonly ids: readonly string[] | null | undefined;
  readonly by: object | null | undefined;
  readonly keys: readonly string[] | null | undefined;
}

/** Returns the list that was sent, and the name of its argument. Throws a ServiceError 400 if not exactly one was. */
function requireOneList({ ids, by, keys }: SentLists) {
  const [hasIds, hasBy, hasKeys] = [ids, by, keys].map((sent) => (sent ?? undefined) !== undefined);
  if (hasIds && !hasBy && !hasKeys) return { argument: 'ids', sent: ids ?? [] };
  if (hasBy && hasKeys && !hasIds) return { argument: 'keys', sent: keys ?? [] };
  const names = [hasIds && 'ids', hasBy && 'by', hasKeys && 'keys'].filter((name) => name !== false);
  throw badRequest(`expected either ids, or by and keys; received ${names.join(' and ') || 'none of them'}`);
}

/** Parses an ID: the service says which of them it does not know. */
const parseId = (value: string): Parsed<string> => ({ value });

const parseText =
  (maxLength: number) =>
  (value: string): Parsed<string> => {
    const problem = textProblem(value, maxLength);
    return problem === undefined ? { value } : { issues: [{ path: [], message: problem }], validFields: {} };
  };
