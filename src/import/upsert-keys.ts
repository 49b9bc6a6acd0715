/** How stored records are found for the rows of a file, by the options `--upsert-by`. */
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import { matchableFields, type RecordKind } from '../model/record-kind.ts';
import { label } from '../records/index.ts';
import { externalIdIn, kindCalled, plain } from './columns.ts';

/** How the stored records of rows are found, as columns and links say it: `id`, a field such as `uid`, or `externalIds.erp`. */
export type UpsertKey = string;

/** The word in place of a key for a kind whose rows are all created. */
const createWord = 'create';

/**
 * Returns the keys by kind. Each option is a key for all kinds, `externalIds.erp`, or for one, `projects=reference`. Labels have a key without
 * an option: a second file is to rename what the first one has named; also if it is to be the ID, of which a file with the types of what is
 * named has none. There is a problem unless there is no option, or a key for each kind.
 */
export function upsertKeysOf(
  kinds: readonly RecordKind[],
  options: readonly string[],
  hasLabelledTypes = false,
): { readonly keys: Map<RecordKind, UpsertKey>; readonly problems: string[] } {
  const keys = new Map<RecordKind, UpsertKey>();
  const named = new Map(options.map(splitOption));
  const problems: string[] = [];
  for (const kind of new Set(kinds)) {
    const ownName = named.get(kind);
    const said = ownName ?? named.get(undefined) ?? '';
    const name = kind === label && hasLabelledTypes && plain(said) === 'id' ? 'key' : said;
    if (name === createWord) continue;
    const key = keyOf(kind, name) ?? (kind === label && ownName === undefined ? keyOf(label, 'key') : undefined);
    if (key) keys.set(kind, key);
    else if (options.length > 0) {
      const external = kind.fields.externalIds ? ['externalIds.erp'] : [];
      const known = [...matchableFields(kind), ...external, 'id', createWord];
      const choices = known.map((choice) => `--upsert-by ${listField(kind)}=${choice}`).join(', or ');
      problems.push(
        name === ''
          ? `--upsert-by: say how ${kind.pluralLabel} are found: ${choices}`
          : `--upsert-by: ${kind.pluralLabel} cannot be found by ${quote(name)}: expected ${choices}`,
      );
    }
  }
  return { keys, problems };
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
  if (plain(name) === 'id') return 'id';
  const externalId = externalIdIn(kind, name);
  if (externalId) return `externalIds.${externalId.key}`;
  return matchableFields(kind).find((candidate) => plain(candidate) === plain(name));
}
