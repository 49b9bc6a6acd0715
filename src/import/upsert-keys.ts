/** Reads `--upsert-by`: the keys by which the records of each kind are found. */
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { constantCase, listField } from '../model/labels.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { kindCalled, plain } from './columns.ts';
import type { UpsertKey } from './run.ts';

/** The word in place of a key for a kind whose rows are all created. */
const create = 'create';

/**
 * Returns the keys by kind. Each option is a key for all kinds, `externalIds.erp`, or for one, `projects=reference`. Throws a StartError
 * unless there is none, or one for each kind.
 */
export function upsertKeysOf(kinds: readonly RecordKind[], options: readonly string[]): Map<RecordKind, UpsertKey> {
  const keys = new Map<RecordKind, UpsertKey>();
  if (options.length === 0) return keys;
  const named = new Map(options.map((option) => splitOption(option)));
  for (const kind of kinds) {
    const name = named.get(kind) ?? named.get(undefined) ?? '';
    if (name === create) continue;
    const key = keyOf(kind, name);
    if (!key) {
      const known = [...matchableFields(kind), ...(kind.fields.externalIds ? ['externalIds.erp'] : []), create];
      const choices = known.map((choice) => `--upsert-by ${listField(kind)}=${choice}`).join(', or ');
      throw new StartError(
        name === ''
          ? `--upsert-by: say how ${kind.pluralLabel} are found: ${choices}`
          : `--upsert-by: ${kind.pluralLabel} cannot be found by ${quote(name)}: expected ${choices}`,
      );
    }
    keys.set(kind, key);
  }
  return keys;
}

function splitOption(option: string): [RecordKind | undefined, string] {
  const at = option.indexOf('=');
  const [kindName, key] = [option.slice(0, Math.max(0, at)), option.slice(at + 1)];
  // The name of a system may have the character, too: `externalIds.a=b`.
  if (at < 0 || kindName.includes('.')) return [undefined, option];
  const kind = kindCalled(kindName);
  if (!kind) throw new StartError(`--upsert-by: unknown kind ${quote(kindName)}, expected one such as assets`);
  return [kind, key];
}

function keyOf(kind: RecordKind, name: string): UpsertKey | undefined {
  const externalId = /^external ?ids?\.(.+)$/is.exec(name)?.[1];
  if (externalId !== undefined && kind.fields.externalIds) return { externalId };
  const field = matchableFields(kind).find((candidate) => plain(candidate) === plain(name));
  return field === undefined ? undefined : { field: constantCase(field) };
}
