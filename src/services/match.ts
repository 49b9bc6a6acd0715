/** Finds the stored records that items are about, and those to which their links lead: by IDs, external IDs and texts. */
import { tooLarge } from '../errors.ts';
import { type ExternalIds, type ExternalIdsPatch, mergedExternalIds } from '../model/fields.ts';
import { count, expected, formatPath, type Issue, type Path, quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import type { ExternalId, RecordKey, Said } from '../model/links.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import {
  externalIdsProblem,
  isBlank,
  recordLengthProblem,
  requiredMessage,
  type ValueLimits,
} from '../model/schemas.ts';
import { kindOfId } from '../records/index.ts';
import { lookupOutdated } from '../store/connections/database-error.ts';
import { maxExternalIdsPerWrite } from '../store/writes/apply-changes.ts';
import { maxMatches, type Tx } from '../store/writes/tx.ts';
import { type Item, referTo } from './item.ts';

/** Puts the IDs to which links lead into the values. Locks nothing: the check of all references does that. */
export async function resolveLinks(tx: Tx, items: readonly Item[]): Promise<void> {
  const byRef = itemsByRef(items);
  const toStored = items.flatMap(({ links = [] }) => links.filter(({ ref }) => ref === undefined));
  const finders = new Map<RecordKind, (said: readonly Said[]) => string | Issue>();
  for (const target of new Set(toStored.map((link) => link.target))) {
    const ofTarget = toStored.filter((link) => link.target === target).map(({ said }) => said);
    finders.set(target, await targetFinder(tx, target, ofTarget));
  }
  for (const item of items) {
    for (const { name, field, target, ref, said } of item.links ?? []) {
      if (ref !== undefined) {
        const path = [name, 'ref'];
        const found = byRef.get(ref);
        if (found?.kind === target) {
          referTo(found, item, field, { path, message: `the record with the ref ${quote(ref)} was rejected` });
        } else item.issues.push({ path, message: refProblem(target, ref, found) });
      } else {
        const found = finders.get(target)?.(said);
        if (typeof found === 'string') item.values = { ...item.values, [field]: found };
        else if (found) item.issues.push({ path: [name, ...found.path], message: found.message });
      }
    }
  }
}

/** Only the first item with a ref can be referred to. */
function itemsByRef(items: readonly Item[]): ReadonlyMap<string, Item> {
  const byRef = new Map<string, Item>();
  for (const item of items) {
    const { ref } = item;
    if (ref === undefined) continue;
    if (byRef.has(ref)) {
      item.issues.push({ path: ['ref'], message: `another record of this mutation has the ref ${quote(ref)}` });
    } else byRef.set(ref, item);
  }
  return byRef;
}

function refProblem(kind: RecordKind, ref: string, found: Item | undefined): string {
  if (!found) return `this mutation creates no record with the ref ${quote(ref)}`;
  const actual = withArticle(found.kind.label);
  return `expected the ref of ${withArticle(kind.label)}, ${quote(ref)} is the ref of ${actual}`;
}

/**
 * Looks up what links to records of a kind say, in one statement for each field. Where a link says several things, the candidates are the
 * record with the ID, or those that have what fewest records have: they are read, and compared with all that it says. Returns a function
 * that returns the ID of the only record of which all of it is true, or why there is none.
 */
async function targetFinder(tx: Tx, target: RecordKind, links: readonly (readonly Said[])[]) {
  const wanted = new Map(links.flatMap(lookedUp).map((said) => [keyOf(said), said]));
  const matches = new Map<string, readonly string[]>();
  for (const field of new Set([...wanted.values()].map(fieldOf))) {
    const ofField = [...wanted].filter(([, said]) => fieldOf(said) === field);
    const texts = ofField.map(([, { text }]) => text ?? '');
    const externalIds = ofField.flatMap(([, { by }], index) =>
      'externalId' in by ? [{ key: by.externalId, value: texts[index] ?? '' }] : [],
    );
    const isExternal = field === 'externalIds';
    if (externalIds.length > maxExternalIdsPerWrite) {
      const problem = `the links have more than ${count(maxExternalIdsPerWrite)} external IDs: send fewer at a time`;
      throw tooLarge(problem, 'too many external IDs');
    }
    const found = await (isExternal ? tx.findByExternalId(target, externalIds) : tx.findByText(target, field, texts));
    for (const [index, [key]] of ofField.entries()) matches.set(key, found[index] ?? []);
  }
  const candidatesOf = (link: readonly Said[]) =>
    lookedUp(link)
      .map((said) => matches.get(keyOf(said)) ?? [])
      .reduce((fewest, ids) => (ids.length < fewest.length ? ids : fewest));
  const compared = links.filter((link) => link.length > 1);
  const ids = [...new Set(compared.flatMap(candidatesOf))];
  const fields = new Set(['id', ...compared.flat().map(fieldOf)]);
  const read = ids.length > 0 ? await tx.find(target, ids, fields) : [];
  const records = new Map(read.map((record) => [record.id, record]));
  const isTrue = ({ by, text }: Said, id: string) => {
    const stored = keyIn(records.get(id) ?? {}, by) ?? '';
    return text === null ? isBlank(String(stored)) : stored === text;
  };

  return (link: readonly Said[]): string | Issue => {
    for (const { path, text } of link) {
      const message = text === null ? undefined : emptyKeyProblem(target, text);
      if (message !== undefined) return { path, message };
    }
    const candidates = candidatesOf(link);
    // Only the first of many are found: there may be others of which all of it is true.
    const isCompared = link.length > 1 && candidates.length < maxMatches;
    const found = isCompared ? candidates.filter((id) => link.every((said) => isTrue(said, id))) : candidates;
    const [id, other] = found;
    return id !== undefined && other === undefined ? id : linkIssue(target, link, found, isCompared);
  };
}

function linkIssue(target: RecordKind, link: readonly Said[], found: readonly string[], isCompared: boolean): Issue {
  // The cast is safe: a link says at least one thing that is not null.
  const [first] = lookedUp(link) as readonly [Said, ...Said[]];
  const { by, text } = first;
  const described = isCompared ? describeAll(link) : describeKey(by, text ?? '');
  const path = link.length > 1 ? [] : first.path;
  if (found.length > 0) return { path, message: `${several(target, found)} have ${described}: ${listed(found)}` };
  if (isCompared) return { path, message: `expected one ${target.label}, received ${described}` };
  return { path, message: fieldOf(first) === 'id' ? noRecord(target, text ?? '') : noRecordWith(target, described) };
}

/** The most that is listed of what a link says: each has up to 100 characters. */
const maxDescribed = 5;

/** Returns `name "North yard" and externalIds.crm null` */
function describeAll(link: readonly Said[]): string {
  const described = link.slice(0, maxDescribed).map(({ by, text }) => {
    const key = formatPath('field' in by ? [by.field] : ['externalIds', by.externalId]);
    return `${key} ${text === null ? 'null' : quote(text)}`;
  });
  return [...described, ...(link.length > maxDescribed ? ['…'] : [])].join(' and ');
}

/** The ID alone, if a link says it: no other record can be meant. */
function lookedUp(link: readonly Said[]): readonly Said[] {
  if (link.length === 1) return link;
  const id = link.find((said) => fieldOf(said) === 'id');
  return id ? [id] : link.filter(({ text }) => text !== null);
}

const fieldOf = ({ by }: Said): string => ('field' in by ? by.field : 'externalIds');

/** No key or text has the character NUL, nor the name of a field a space. */
const keyOf = ({ by, text }: Said): string => `${'field' in by ? by.field : `in ${by.externalId}`}\0${text}`;

/** Reads and locks what items are about. All items of a write that are not new are of one kind. */
export async function matchRecords(
  tx: Tx,
  items: readonly Item[],
  { by, limits }: { readonly by?: RecordKey | undefined; readonly limits?: ValueLimits | undefined },
): Promise<void> {
  const [{ op, kind } = {}] = items;
  if (!kind || op === 'create') return;
  const find = (ids: readonly string[]) => (op === 'delete' ? tx.findToDelete(kind, ids) : tx.findToUpdate(kind, ids));
  const matched = by ? await matchByKey(tx, find, kind, items, by) : await matchById(find, kind, items);
  if (op === 'upsert') for (const item of matched) requireComplete(item);
  for (const item of items) {
    if (limits) mergeExternalIds(item, by, limits);
    const { ifUpdatedAt, before } = item;
    if (ifUpdatedAt === undefined || !before || ifUpdatedAt === before.updatedAt) continue;
    const message = expected(`the updatedAt of the stored ${kind.label}, "${before.updatedAt}"`, ifUpdatedAt);
    item.issues.push({ path: ['ifUpdatedAt'], message, isConflict: true });
  }
}

type Find = (ids: readonly string[]) => Promise<AnyRecord[]>;

/** Returns the items without an ID. */
async function matchById(find: Find, kind: RecordKind, items: readonly Item[]): Promise<readonly Item[]> {
  // Lets only well-formed IDs reach the database.
  const ids = items.flatMap(({ id }) => (id !== undefined && kindOfId(id) === kind ? [id] : []));
  const found = new Map((ids.length > 0 ? await find(ids) : []).map((record) => [record.id, record]));
  const first = new Map<string, Item>();
  for (const item of items) {
    const { id, op } = item;
    if (id === undefined) continue;
    const earlier = first.get(id);
    const message = found.has(id) ? earlier && alsoHas(earlier, `the ID ${quote(id)}`) : noRecord(kind, id);
    if (message !== undefined) item.issues.unshift({ path: op === 'delete' ? [] : ['id'], message });
    else {
      first.set(id, item);
      item.before = found.get(id);
    }
  }
  return items.filter(({ id }) => id === undefined);
}

const alsoHas = ({ path }: Item, what: string): string => `item [${path.at(-1)}] of this batch also has ${what}`;

/** Returns the items whose key one record has, or none. If several have it, nobody knows which of them is meant. */
async function matchByKey(
  tx: Tx,
  find: Find,
  kind: RecordKind,
  items: readonly Item[],
  by: RecordKey,
): Promise<readonly Item[]> {
  const matched: Item[] = [];
  const byKey = itemsByKey(kind, items, by);
  const keys = [...byKey.keys()];
  const matches =
    'field' in by
      ? await tx.findByText(kind, by.field, keys)
      : await tx.findByExternalId(
          kind,
          keys.map((value) => ({ key: by.externalId, value })),
        );
  const ids = matches.flatMap((found) => (found.length === 1 ? found : []));
  const records = new Map((ids.length > 0 ? await find(ids) : []).map((record) => [record.id, record]));
  for (const [index, [key, item]] of [...byKey].entries()) {
    const [id, other] = matches[index] ?? [];
    if (other === undefined) matched.push(item);
    if (id === undefined) {
      if (item.op === 'delete') item.issues.push({ path: [], message: noRecordWith(kind, describeKey(by, key)) });
    } else if (other !== undefined) {
      const found = matches[index] ?? [];
      const message = `${several(kind, found)} have ${describeKey(by, key)}: ${listed(found)}`;
      item.issues.push({ path: keyPath(item, by), message });
    } else {
      item.before = records.get(id);
      // Somebody has changed or deleted the record before it was locked: the transaction runs again.
      if (!item.before || keyIn(item.before, by) !== key) throw lookupOutdated();
    }
  }
  return matched;
}

/** Items without a key, and those with a key that is empty or that an earlier item has, get an issue. */
function itemsByKey(kind: RecordKind, items: readonly Item[], by: RecordKey): Map<string, Item> {
  const byKey = new Map<string, Item>();
  for (const item of items) {
    const key = item.op === 'delete' ? item.key : keyIn(item.values, by, item.merge?.externalIds);
    const path = keyPath(item, by);
    if (typeof key !== 'string') {
      // A key that was sent, but is invalid, has an issue already.
      if (item.issues.some((issue) => issue.path[0] === path[0])) continue;
      const message = `required: records are found by ${'field' in by ? `the ${by.field}` : 'this external ID'}`;
      item.issues.unshift({ path, message });
      continue;
    }
    const earlier = byKey.get(key);
    const message = emptyKeyProblem(kind, key) ?? (earlier && alsoHas(earlier, describeKey(by, key)));
    if (message !== undefined) item.issues.unshift({ path, message });
    else byKey.set(key, item);
  }
  return byKey;
}

/** Only own properties count: the key of an external ID may be any text, such as `constructor`. */
function keyIn(values: Values, by: RecordKey, merged?: ExternalIdsPatch): unknown {
  if ('field' in by) return values[by.field];
  const externalIds = merged ?? (values.externalIds as ExternalIds | null | undefined);
  return externalIds && Object.hasOwn(externalIds, by.externalId) ? externalIds[by.externalId] : undefined;
}

/** A deletion by key is sent as the key alone. */
const keyPath = ({ op, merge }: Item, by: RecordKey): Path => {
  if (op === 'delete') return [];
  return 'field' in by ? [by.field] : [merge?.name ?? 'externalIds', by.externalId];
};

const describeKey = (by: RecordKey, key: string): string =>
  'field' in by ? `the ${by.field} ${quote(key)}` : describeExternalId({ key: by.externalId, value: key });

/** A new record of an upsert has all that is required. */
function requireComplete({ kind, values, before, issues }: Item): void {
  if (before) return;
  const missing = Object.entries(kind.fields).filter(
    ([name, field]) => field.required && values[name] === undefined && !issues.some(({ path }) => path[0] === name),
  );
  issues.unshift(...missing.map(([name, field]) => ({ path: [name], message: requiredMessage(field) })));
}

/** Of the record as it is locked, so that nothing is lost that others store at the same time. Found by an ID of one system, it keeps the IDs of the others. */
function mergeExternalIds(item: Item, by: RecordKey | undefined, limits: ValueLimits): void {
  const { op, kind, values, before, issues } = item;
  const isByExternalId = op === 'upsert' && before && by && 'externalId' in by;
  const merge = item.merge ?? (isByExternalId ? { name: 'externalIds', externalIds: values.externalIds } : undefined);
  if (!merge || issues.length > 0) return;
  const stored = ((before as Values | undefined)?.externalIds ?? null) as ExternalIds | null;
  const externalIds = mergedExternalIds(stored, merge.externalIds as ExternalIdsPatch);
  item.values = { ...values, externalIds };
  const tooMany = externalIdsProblem(externalIds ?? {}, limits);
  const problem = tooMany ?? recordLengthProblem(item.values, limits);
  if (problem === undefined) return;
  const path = tooMany === undefined ? [] : [merge.name];
  issues.push({ path, message: before ? `${problem}, including those of the stored ${kind.label}` : problem });
}

/** Another workspace's record is as unknown as one that never existed. */
export function noRecord(kind: RecordKind, id: string): string {
  const problem = `there is no ${kind.label} with the ID ${quote(id)}`;
  const actual = kindOfId(id);
  if (actual === kind) return `${problem} in this workspace`;
  if (actual) return `${problem}: this is the ID of ${withArticle(actual.label)}`;
  const start = `${kind.idPrefix}_`;
  if (id.startsWith(start)) return `${problem}: it starts like an ID of this service, but has another form`;
  return `${problem}: IDs of this service start with ${start}`;
}

const noRecordWith = (kind: RecordKind, key: string): string =>
  `there is no ${kind.label} with ${key} in this workspace`;

/** Any number of records may have an empty text, with nothing else in common. */
export const emptyKeyProblem = (kind: RecordKind, text: string): string | undefined =>
  isBlank(text) ? expected(`a value to find the ${kind.label} by`, text) : undefined;

/** Returns `the external ID "4711" of "erp"` */
export const describeExternalId = ({ key, value }: ExternalId): string =>
  `the external ID ${quote(value)} of ${quote(key)}`;

/** Returns `2 assets`, or `several assets` if not all of them were found. */
const several = ({ pluralLabel }: RecordKind, ids: readonly string[]): string =>
  ids.length < maxMatches ? `${ids.length} ${pluralLabel}` : `several ${pluralLabel}`;

const listed = (ids: readonly string[]): string =>
  ids.length < maxMatches ? ids.join(', ') : `${ids.slice(0, maxMatches - 1).join(', ')}, …`;
