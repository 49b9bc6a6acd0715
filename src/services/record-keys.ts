/** Finds the records that the items of an upsert or a deletion are about, by the key that other systems know them by. */
import type { ExternalIds } from '../model/fields.ts';
import { type Issue, type Parsed, type Path, quote, validValues } from '../model/issues.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { RecordKind, RecordOf } from '../model/record-kind.ts';
import { lookupOutdated } from '../store/connections/database-error.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { emptyKeyProblem, noRecordWith } from './checks/batch.ts';
import { describeExternalId, listed, several } from './resolve-links.ts';

export type RecordKey = { readonly field: string } | { readonly externalId: string };

interface Keyed<T> {
  readonly item: Linkable<T>;
  readonly key?: string;
}

/** Only own properties count: the key of an external ID may be any text, such as `constructor`. */
function keyIn(item: Parsed<object>, by: RecordKey): unknown {
  const values = validValues(item);
  if ('field' in by) return values[by.field];
  const externalIds = values.externalIds as ExternalIds | null | undefined;
  return externalIds && Object.hasOwn(externalIds, by.externalId) ? externalIds[by.externalId] : undefined;
}

const pathOf = (by: RecordKey): Path => ('field' in by ? [by.field] : ['externalIds', by.externalId]);

const describeKey = (by: RecordKey, key: string): string =>
  'field' in by ? `the ${by.field} ${quote(key)}` : describeExternalId({ key: by.externalId, value: key });

/** Items without a key, and those with a key that is empty or that an earlier item has, get an issue. */
export function requireKeys<T extends object>(
  kind: RecordKind,
  by: RecordKey,
  items: readonly Linkable<T>[],
): Keyed<T>[] {
  const places = new Map<string, number>();
  return items.map((item, index) => {
    const key = keyIn(item, by);
    if (typeof key !== 'string') {
      const [field] = pathOf(by);
      // A key that was sent, but is invalid, has an issue already.
      if (item.issues?.some(({ path }) => path[0] === field)) return { item };
      const message = `required: records are found by ${'field' in by ? `the ${by.field}` : 'this external ID'}`;
      return { item: withIssues(item, [{ path: pathOf(by), message }]) };
    }
    const earlier = places.get(key);
    const message =
      emptyKeyProblem(kind, key) ??
      (earlier === undefined ? undefined : `item [${earlier}] of this batch also has ${describeKey(by, key)}`);
    if (message === undefined) {
      places.set(key, index);
      return { item, key };
    }
    const refused = withIssues(item, [{ path: pathOf(by), message }]);
    // Does not report the key a second time, as taken.
    const [field = ''] = pathOf(by);
    return { item: { ...refused, validFields: { ...refused.validFields, [field]: undefined } } as typeof refused };
  });
}

interface Wanted<K extends RecordKind> {
  readonly by: RecordKey;
  readonly keyed: readonly Keyed<object>[];
  readonly read: (ids: readonly string[]) => Promise<RecordOf<K>[]>;
}

/** Returns the record of each item, locked; undefined where there is none, or several, which is an issue. */
export async function findRecords<K extends RecordKind>(find: Lookups, kind: K, { by, keyed, read }: Wanted<K>) {
  const keys = keyed.flatMap(({ key }) => (key === undefined ? [] : [key]));
  const matches =
    'field' in by
      ? await find.findByText(kind, by.field, keys)
      : await find.findByExternalId(
          kind,
          keys.map((value) => ({ key: by.externalId, value })),
        );
  const idsByKey = new Map(keys.map((key, index) => [key, matches[index] ?? []]));
  const ids = [...idsByKey.values()].flatMap((found) => (found.length === 1 ? found : []));
  const locked = ids.length > 0 ? await read(ids) : [];
  const byId = new Map(locked.map((record) => [record.id, record]));

  const invalid: Issue[] = [];
  const records = keyed.map(({ key }, index) => {
    const found = key === undefined ? [] : (idsByKey.get(key) ?? []);
    const [id] = found;
    if (key === undefined || id === undefined) return undefined;
    if (found.length > 1) {
      const message = `${several(kind, found)} have ${describeKey(by, key)}: ${listed(found)}`;
      invalid.push({ path: [index, ...pathOf(by)], message });
      return undefined;
    }
    const record = byId.get(id);
    // Somebody has changed or deleted the record before it was locked: the transaction runs again.
    if (!record || keyIn({ value: record }, by) !== key) throw lookupOutdated();
    return record;
  });
  return { records, invalid };
}

/** Returns the record of each key, locked to be deleted. A key that no record has, or several, or an earlier item, is an issue. */
export async function findToDeleteByKeys<K extends RecordKind>(
  find: Lookups,
  kind: K,
  by: RecordKey,
  keys: readonly Parsed<string>[],
) {
  const [field, name] = pathOf(by);
  const items = keys.map(({ value, issues }) => {
    if (issues) return { issues: issues.map(({ message }) => ({ path: pathOf(by), message })), validFields: {} };
    return { value: { [String(field)]: name === undefined ? value : { [name]: value } } };
  });
  const keyed = requireKeys(kind, by, items);
  const read = (ids: readonly string[]) => find.findToDelete(kind, ids);
  const { records, invalid } = await findRecords(find, kind, { by, keyed, read });
  const ambiguous = new Map(invalid.map(({ path, message }) => [path[0], message]));
  const issues = keyed.flatMap(({ item, key }, index): Issue[] => {
    if (records[index]) return [];
    const messages = item.issues?.map(({ message }) => message) ?? [
      ambiguous.get(index) ?? noRecordWith(kind, describeKey(by, key ?? '')),
    ];
    return messages.map((message) => ({ path: [index], message }));
  });
  return { records, issues };
}
