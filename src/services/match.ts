/**
 * Finds the records of items by their keys, and the targets of their links; then reads and locks the records. Keys and links are looked up
 * without a lock: the record of a key is compared once it is locked, and the check of references locks the targets of links.
 */
import { tooLarge } from '../errors.ts';
import { type ExternalIdsPatch, maxExternalIdsPerWrite } from '../model/fields.ts';
import { count, type FoundIssue, type IssueData, isObject, type Path } from '../model/issues.ts';
import type { Link, Said } from '../model/links.ts';
import type { Criterion, RecordKey, RecordKind, Values } from '../model/record-kind.ts';
import { isBlank, missingValue, recordTooLong, tooManyExternalIds, type ValueLimits } from '../model/schemas.ts';
import { kindOfId, linkOrder } from '../records/index.ts';
import { lookupOutdated, maxMatches, type Tx } from '../store/writes/tx.ts';
import { byId, byKind, dependOn, externalIdsAfter, type Item, itemOf, referTo } from './item.ts';

/** Sets the IDs of the items that have keys. If several records have a key, nobody knows which of them is meant. */
export async function findByKeys(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const [kind, ofKind] of byKind(items.filter(({ by }) => by))) {
    const wanted = itemsByKey(kind, ofKind);
    const found = await tx.findMatches(
      kind,
      wanted.map(({ criterion }) => [criterion]),
    );
    for (const [index, { item, criterion }] of wanted.entries()) {
      const ids = found[index] ?? [];
      const path = keyPath(item, criterion.by);
      if (ids.length > 1) item.issues.push({ path, ...severalHave(kind, [criterion], ids) });
      else if (ids.length === 0 && item.op === 'delete') {
        item.issues.push({ path, code: 'no-record', kind: kind.label, ...criterion });
      }
      item.id = ids.length === 1 ? ids[0] : undefined;
    }
  }
  const first = byId(items);
  for (const item of items) {
    const other = first.get(item.id ?? '');
    if (other && other !== item && other.kind === item.kind) item.earlier = other;
  }
}

interface KeyedItem {
  readonly item: Item;
  readonly criterion: Criterion;
}

/** Items without a key, and those with a key that is empty or that an earlier item has, get an issue. */
function itemsByKey(kind: RecordKind, items: readonly Item[]): KeyedItem[] {
  const byKey = new Map<string, KeyedItem>();
  for (const item of items) {
    const { by } = item;
    if (!by) continue;
    const key = sentKey(item, by);
    const path = keyPath(item, by);
    if (typeof key !== 'string') {
      if (!hasIssueAt(item, path)) item.issues.unshift({ path, code: 'key-required', by });
      continue;
    }
    const criterion = { by, text: key };
    const name = textKey(criterion);
    const earlier = byKey.get(name)?.item;
    item.earlier = earlier;
    if (isBlank(key)) item.issues.unshift({ path, code: 'empty-key', kind: kind.label, received: key });
    else if (earlier) item.issues.unshift({ path, code: 'repeated', ...criterion, other: earlier.path });
    else byKey.set(name, { item, criterion });
  }
  return [...byKey.values()];
}

/** Only own properties count: the key of an external ID may be any text, such as `constructor`. */
function keyIn(values: Values, by: RecordKey, merged?: ExternalIdsPatch): unknown {
  if ('field' in by) return values[by.field];
  const externalIds = merged ?? values.externalIds;
  return isObject(externalIds) && Object.hasOwn(externalIds, by.externalId) ? externalIds[by.externalId] : undefined;
}

/** True if the value at a path is invalid, or what it is a part of. */
const hasIssueAt = ({ issues }: Item, place: Path): boolean =>
  issues.some(({ path }) => path.length >= Math.min(place.length, 1) && path.every((step, at) => step === place[at]));

/** A deletion by key is sent as the key alone. */
const keyPath = ({ op, merge }: Item, by: RecordKey): Path => {
  if (op === 'delete') return [];
  return 'field' in by ? [by.field] : [merge?.name ?? 'externalIds', by.externalId];
};

/**
 * Resolves links to the records of which all their criteria are true after the write: stored records that are not of the batch, and items
 * as they will be. Exactly one is the target.
 */
export async function resolveLinks(tx: Tx, items: readonly Item[]): Promise<void> {
  const byRef = itemsByRef(items);
  const byTarget = new Map<RecordKind, { readonly item: Item; readonly link: Link }[]>();
  for (const item of items) {
    for (const link of item.links ?? []) {
      if (link.ref !== undefined) followRef(byRef, item, link, link.ref);
      else {
        const ofTarget = byTarget.get(link.target);
        if (ofTarget) ofTarget.push({ item, link });
        else byTarget.set(link.target, [{ item, link }]);
      }
    }
  }
  for (const [target, linking] of byTarget) {
    const find = await createTargetFinder(
      tx,
      target,
      items,
      linking.map(({ link }) => link.said),
    );
    for (const { item, link } of linking) find(item, link);
  }
}

/** Only the first item with a ref can be referred to. */
function itemsByRef(items: readonly Item[]): ReadonlyMap<string, Item> {
  const byRef = new Map<string, Item>();
  for (const item of items) {
    const { ref } = item;
    if (ref === undefined) continue;
    const first = byRef.get(ref);
    if (first) item.issues.push({ path: ['ref'], code: 'repeated-ref', ref, other: first.path });
    else byRef.set(ref, item);
  }
  return byRef;
}

function followRef(byRef: ReadonlyMap<string, Item>, item: Item, { name, field, target }: Link, ref: string): void {
  const path = [name, 'ref'];
  const other = byRef.get(ref);
  if (other?.kind === target) {
    referTo(other, item, field);
    dependOn(other, item, { path, code: 'rejected-target', ref, other: other.path });
  } else if (!other) item.issues.push({ path, code: 'unknown-ref', ref });
  else {
    const [kind, actual] = [target.label, other.kind.label];
    item.issues.push({ path, code: 'wrong-ref', kind, ref, actual, other: other.path });
  }
}

/** An item as a target of links: its record before the write, if there is one, and after it, unless it is deleted. */
interface Target {
  readonly item: Item;
  readonly before: Values | undefined;
  readonly after: Values | undefined;
}

type Criteria = readonly Said[];

const isMet = (criteria: Criteria, record: Values | undefined): boolean =>
  record !== undefined &&
  criteria.every(({ by, text }) => {
    const stored = keyIn(record, by) ?? '';
    return text === null ? isBlank(String(stored)) : stored === text;
  });

/** The targets of a list of criteria, which many links may share. */
interface Matches {
  /** Of stored records that are not of the batch. */
  readonly ids: readonly string[];
  readonly items: readonly Target[];
  /** Is rejected with any item without whose change another record would be the target, or none. */
  readonly changes: Item | undefined;
}

/** Returns a function that sets a link of an item, or notes its issue. */
async function createTargetFinder(tx: Tx, target: RecordKind, items: readonly Item[], wanted: readonly Criteria[]) {
  const ofBatch = items.filter(({ kind, earlier }) => kind === target && !earlier);
  const keyOf = (criteria: Criteria) => criteria.map(textKey).join('\0\0');
  const distinct = new Map(wanted.map((criteria) => [keyOf(criteria), criteria]));
  const externalIds = [...distinct.values()].flat().filter(({ by }) => 'externalId' in by);
  if (externalIds.length > maxExternalIdsPerWrite) {
    const problem = `the links have more than ${count(maxExternalIdsPerWrite)} external IDs: send fewer at a time`;
    throw tooLarge(problem, 'too many external IDs');
  }
  const candidatesOf = await indexTargets(tx, target, ofBatch, wanted.flat());
  const stored = await tx.findMatches(target, [...distinct.values()], storedIds(ofBatch, target));
  const matches = new Map(
    [...distinct].map(([key, criteria], index): [string, Matches] => {
      const candidates = candidatesOf(criteria);
      const changing = candidates.filter(({ before, after }) => isMet(criteria, before) !== isMet(criteria, after));
      const issue: FoundIssue = { path: [], code: 'rejected-target', kind: target.label, criteria };
      const changes = changing.length > 0 ? itemOf('update', target, [], { value: {} }) : undefined;
      for (const { item } of changes ? changing : []) dependOn(item, changes as Item, issue);
      return [
        key,
        { ids: stored[index] ?? [], items: candidates.filter(({ after }) => isMet(criteria, after)), changes },
      ];
    }),
  );

  return (item: Item, { name, field, said: criteria }: Link): void => {
    const blank = criteria.find(({ text }) => text !== null && isBlank(text));
    if (blank) {
      const path = [name, ...blank.path];
      item.issues.push({ path, code: 'empty-key', kind: target.label, received: blank.text ?? '' });
      return;
    }
    const found = matches.get(keyOf(criteria));
    if (!found || found.ids.length + found.items.length !== 1) {
      item.issues.push(linkIssue(target, name, criteria, found?.ids ?? [], found?.items ?? []));
      return;
    }
    const [only] = found.items;
    if (only) referTo(only.item, item, field);
    else item.values = { ...item.values, [field]: found.ids[0] };
    if (!found.changes) return;
    const other = only ? { other: only.item.path } : {};
    dependOn(found.changes, item, { path: [name], code: 'rejected-target', kind: target.label, criteria, ...other });
  };
}

/** Only well-formed IDs reach the database. */
const storedIds = (items: readonly Item[], kind: RecordKind): string[] =>
  items.flatMap(({ id }) => (id !== undefined && kindOfId(id) === kind ? [id] : []));

/** Returns a function that returns the items which met a criterion before the write, or will meet it. */
async function indexTargets(tx: Tx, kind: RecordKind, items: readonly Item[], criteria: Criteria) {
  if (items.length === 0) return () => [];
  const fields = new Set(['id', ...criteria.map(fieldOf)]);
  const ids = storedIds(items, kind);
  const stored = new Map((ids.length > 0 ? await tx.find(kind, ids, fields) : []).map((record) => [record.id, record]));
  const index = new Map(criteria.map((criterion) => [textKey(criterion), new Set<Target>()]));
  for (const item of items) {
    const before: Values | undefined = stored.get(item.id ?? '');
    const isGone = item.op === 'delete' || (item.id && !before);
    const after = isGone ? undefined : { ...before, ...item.values, externalIds: externalIdsAfter(item, before) };
    const target = { item, before, after };
    for (const key of [...textKeysOf(before, fields), ...textKeysOf(after, fields)]) index.get(key)?.add(target);
  }
  const none = new Set<Target>();
  // Those of the criterion that fewest meet: links of a batch with different criteria differ in it.
  return (wanted: Criteria): readonly Target[] => {
    const found = lookedUp(wanted).map((criterion) => index.get(textKey(criterion)) ?? none);
    return [...found.reduce((fewest, others) => (others.size < fewest.size ? others : fewest))];
  };
}

/** Returns the keys of all criteria with these fields that a record meets: it has fewer texts than a batch may have criteria. */
function textKeysOf(record: Values | undefined, fields: ReadonlySet<string>): string[] {
  const texts = Object.entries(record ?? {}).filter(([field, text]) => fields.has(field) && typeof text === 'string');
  return [
    ...texts.map(([field, text]) => textKey({ by: { field }, text: text as string })),
    ...Object.entries((record?.externalIds ?? {}) as ExternalIdsPatch).map(([externalId, text]) =>
      textKey({ by: { externalId }, text }),
    ),
  ];
}

/** The criteria by which candidates can be found. A link has at least one. */
const lookedUp = (criteria: Criteria): Criteria => criteria.filter(({ text }) => text !== null);

function linkIssue(
  target: RecordKind,
  name: string,
  criteria: Criteria,
  ids: readonly string[],
  items: readonly Target[],
): FoundIssue {
  const [first] = lookedUp(criteria) as readonly [Said, ...Said[]];
  const isCompared = criteria.length > 1;
  const path = isCompared ? [name] : [name, ...first.path];
  const found = [...ids, ...items.slice(0, maxMatches).map(({ item }) => item.id ?? item.path)];
  const [inBatch] = items;
  if (found.length > 0) {
    return { path, ...severalHave(target, criteria, found), ...(inBatch && { other: inBatch.item.path }) };
  }
  if (isCompared) return { path, code: 'no-match', kind: target.label, criteria };
  if (fieldOf(first) === 'id') return { path, ...noRecord(target, first.text ?? '') };
  return { ...first, path, code: 'no-record', kind: target.label };
}

function severalHave(
  { pluralLabel: plural }: RecordKind,
  criteria: readonly Criterion[],
  found: readonly (string | Path)[],
): IssueData {
  // Not all may have been found.
  const isMore = found.length >= maxMatches;
  return { code: 'several', plural, criteria, found: isMore ? found.slice(0, maxMatches - 1) : found, isMore };
}

const fieldOf = ({ by }: Criterion): string => ('field' in by ? by.field : 'externalIds');

/** No key or text has the character NUL, nor the name of a field a space. */
const textKey = ({ by, text }: Criterion): string =>
  `${'field' in by ? by.field : `in ${by.externalId}`}\0${text ?? '\0'}`;

/** Reads and locks the records of items, kind by kind in the order of all writes, and compares them with what the items expect. */
export async function readRecords(tx: Tx, items: readonly Item[]): Promise<void> {
  const groups = byKind(items);
  for (const kind of linkOrder) {
    const ofKind = groups.get(kind)?.filter(({ id }) => id !== undefined) ?? [];
    const idsOf = (isDeleted: boolean) =>
      storedIds(
        ofKind.filter(({ op }) => (op === 'delete') === isDeleted),
        kind,
      );
    const [deleted, others] = [idsOf(true), idsOf(false)];
    const found = [
      ...(deleted.length > 0 ? await tx.findToDelete(kind, deleted) : []),
      ...(others.length > 0 ? await tx.findToUpdate(kind, others) : []),
    ];
    const records = new Map(found.map((record) => [record.id, record]));
    for (const item of ofKind) {
      const { id = '', by, op, lastChange, earlier } = item;
      const record = records.get(id);
      // Somebody has changed or deleted the record since its key was looked up: the transaction runs again.
      if (by && (!record || keyIn(record, by) !== sentKey(item, by))) throw lookupOutdated();
      const path = op === 'delete' || by ? [] : ['id'];
      if (!record && lastChange === undefined) item.issues.unshift({ path, ...noRecord(kind, id) });
      else if (earlier) {
        item.issues.unshift({ path, code: 'repeated', by: { field: 'id' }, text: id, other: earlier.path });
      } else item.before = record;
    }
  }
}

const sentKey = ({ op, key, values, merge }: Item, by: RecordKey): unknown =>
  op === 'delete' ? key : keyIn(values, by, merge?.externalIds);

/** Merges external IDs, and checks what items need of their records: a new record has all that is required. */
export function completeItems(items: readonly Item[], limits: ValueLimits | undefined): void {
  for (const item of items) {
    const { op, kind, id, by, before, ifUpdatedAt, issues } = item;
    const isNew = op === 'upsert' && id === undefined && !(by && hasIssueAt(item, keyPath(item, by)));
    if (isNew) requireComplete(item);
    if (limits) mergeExternalIds(item, limits);
    if (ifUpdatedAt === undefined || !before || ifUpdatedAt === before.updatedAt) continue;
    const { updatedAt } = before;
    issues.push({ path: ['ifUpdatedAt'], code: 'changed', kind: kind.label, updatedAt, received: ifUpdatedAt });
  }
}

function requireComplete({ kind, values, issues }: Item): void {
  const missing = Object.entries(kind.fields).filter(
    ([name, field]) => field.required && values[name] === undefined && !issues.some(({ path }) => path[0] === name),
  );
  issues.unshift(...missing.map(([name, field]) => ({ path: [name], ...missingValue(field) })));
}

/** Of the record as it is locked, so that nothing is lost that others store at the same time. */
function mergeExternalIds(item: Item, limits: ValueLimits): void {
  const { op, kind, by, merge, values, before, issues } = item;
  const isMerged = merge ?? (op === 'upsert' && before && by && 'externalId' in by);
  if (!isMerged || issues.length > 0) return;
  const externalIds = externalIdsAfter(item, before);
  item.values = { ...values, externalIds };
  const stored = before && kind.label;
  const tooMany = tooManyExternalIds(externalIds ?? {}, limits);
  const tooLong = recordTooLong(item.values, limits);
  if (tooMany) issues.push({ path: [merge?.name ?? 'externalIds'], ...tooMany, stored });
  else if (tooLong) issues.push({ path: [], ...tooLong, stored });
}

/** Another workspace's record is as unknown as one that never existed. */
export function noRecord({ label: kind, idPrefix: prefix }: RecordKind, id: string): IssueData<'no-record'> {
  const issue = { code: 'no-record', kind, by: { field: 'id' }, text: id } as const;
  const actual = kindOfId(id);
  if (!actual) return { ...issue, prefix, isMalformed: id.startsWith(`${prefix}_`) };
  return actual.label === kind ? issue : { ...issue, actual: actual.label };
}
