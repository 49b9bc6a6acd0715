/**
 * Finds records by keys and by the criteria of links, then reads and locks them. Lookups take no locks: keys are
 * compared again once their records are locked, and the check of references locks the targets of links.
 */
import { tooLarge } from '../errors.ts';
import { type ExternalIdsPatch, maxExternalIdsPerWrite } from '../model/fields.ts';
import { formatCount, type IssueData, isObject, type Path, type ValidationIssue } from '../model/issues.ts';
import type { Link, LinkCriteria } from '../model/links.ts';
import type { Criterion, RecordKey, RecordKind, Values } from '../model/record-kind.ts';
import { isBlank, missingValue, recordTooLong, tooManyExternalIds, type ValueLimits } from '../model/schemas.ts';
import { kindOfId, linkOrder } from '../records/index.ts';
import { lookupOutdated, maxMatches, type Tx } from '../store/writes/tx.ts';
import {
  addDependent,
  addTo,
  createItem,
  externalIdsAfter,
  groupByKind,
  type Item,
  indexById,
  setReference,
} from './item.ts';

export async function findByKeys(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const [kind, ofKind] of groupByKind(items.filter(({ by }) => by))) {
    const wanted = keyedItems(kind, ofKind);
    const criteria = wanted.map(({ criterion }) => [criterion]);
    const found = await tx.findMatches(kind, criteria);
    for (const [index, { item, criterion }] of wanted.entries()) {
      const ids = found[index] ?? [];
      const path = keyPath(item, criterion.by);
      if (ids.length > 1) item.issues.push({ path, ...severalIssue(kind, [criterion], ids) });
      else if (ids.length === 0 && item.op === 'delete') {
        item.issues.push({ path, code: 'no-record', kind: kind.label, ...criterion });
      }
      item.id = ids.length === 1 ? ids[0] : undefined;
    }
  }
  const batchById = indexById(items);
  for (const item of items) {
    const first = batchById.get(item.id ?? '');
    if (first && first !== item && first.kind === item.kind) item.duplicateOf = first;
  }
}

interface KeyedItem {
  readonly item: Item;
  readonly criterion: Criterion;
}

function keyedItems(kind: RecordKind, items: readonly Item[]): KeyedItem[] {
  const byKey = new Map<string, KeyedItem>();
  for (const item of items) {
    const { by } = item;
    if (!by) continue;
    const text = sentKey(item, by);
    const path = keyPath(item, by);
    if (typeof text !== 'string') {
      if (!hasIssueAt(item, path)) item.issues.unshift({ path, code: 'key-required', by });
      continue;
    }
    const criterion = { by, text };
    const key = criterionKey(criterion);
    const first = byKey.get(key)?.item;
    item.duplicateOf = first;
    if (isBlank(text)) item.issues.unshift({ path, code: 'empty-key', kind: kind.label, received: text });
    else if (first) item.issues.unshift({ path, code: 'repeated', ...criterion, other: first.path });
    else byKey.set(key, { item, criterion });
  }
  return [...byKey.values()];
}

const sentKey = ({ op, key, values, merge }: Item, by: RecordKey): unknown =>
  op === 'delete' ? key : keyIn(values, by, merge?.externalIds);

/** Only own properties count: the key of an external ID may be any text, such as `constructor`. */
function keyIn(values: Values, by: RecordKey, merged?: ExternalIdsPatch): unknown {
  if ('field' in by) return values[by.field];
  const externalIds = merged ?? values.externalIds;
  return isObject(externalIds) && Object.hasOwn(externalIds, by.externalId) ? externalIds[by.externalId] : undefined;
}

const keyPath = ({ op, merge }: Item, by: RecordKey): Path => {
  if (op === 'delete') return [];
  return 'field' in by ? [by.field] : [merge?.name ?? 'externalIds', by.externalId];
};

const hasIssueAt = ({ issues }: Item, place: Path): boolean =>
  issues.some(({ path }) => path.length >= Math.min(place.length, 1) && path.every((step, at) => step === place[at]));

/** Keys and texts have no NUL, names of fields no space. */
const criterionKey = ({ by, text }: Criterion): string =>
  `${'field' in by ? by.field : `in ${by.externalId}`}\0${text ?? '\0'}`;

const criteriaKey = (criteria: LinkCriteria): string => criteria.map(criterionKey).join('\0\0');

/** The target of a link is the only record that meets all criteria after the write, in or outside of the batch. */
export async function resolveLinks(tx: Tx, items: readonly Item[]): Promise<void> {
  const itemsByRef = indexByRef(items);
  const byTarget = new Map<RecordKind, { readonly item: Item; readonly link: Link }[]>();
  for (const item of items) {
    for (const link of item.links ?? []) {
      if (link.ref === undefined) addTo(byTarget, link.target, { item, link });
      else followRef(itemsByRef, item, link, link.ref);
    }
  }
  for (const [target, links] of byTarget) {
    const ofTarget = items.filter(({ kind, duplicateOf }) => kind === target && !duplicateOf);
    const criteria = links.map(({ link }) => link.criteria);
    const matches = await resolveCriteria(tx, target, ofTarget, criteria);
    for (const { item, link } of links) followCriteria(matches.get(criteriaKey(link.criteria)), item, link);
  }
}

/** Only the first item with a ref can be referred to. */
function indexByRef(items: readonly Item[]): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  for (const item of items) {
    const { ref } = item;
    if (ref === undefined) continue;
    const first = index.get(ref);
    if (first) item.issues.push({ path: ['ref'], code: 'repeated-ref', ref, other: first.path });
    else index.set(ref, item);
  }
  return index;
}

function followRef(
  itemsByRef: ReadonlyMap<string, Item>,
  item: Item,
  { name, field, target }: Link,
  ref: string,
): void {
  const path = [name, 'ref'];
  const referred = itemsByRef.get(ref);
  if (!referred) item.issues.push({ path, code: 'unknown-ref', ref });
  else if (referred.kind === target) {
    setReference(item, field, referred);
    addDependent(referred, item, { path, code: 'rejected-target', ref, other: referred.path });
  } else {
    const labels = { kind: target.label, actual: referred.kind.label };
    item.issues.push({ path, code: 'wrong-ref', ...labels, ref, other: referred.path });
  }
}

interface Candidate {
  readonly item: Item;
  readonly before: Values | undefined;
  readonly after: Values | undefined;
}

interface Matches {
  /** Stored records outside the batch. */
  readonly ids: readonly string[];
  readonly candidates: readonly Candidate[];
  /** Stands for all items that begin or cease to meet the criteria: if one is rejected, the links' target changes. */
  readonly changing: Item | undefined;
}

const meets = (record: Values | undefined, criteria: LinkCriteria): boolean =>
  record !== undefined &&
  criteria.every(({ by, text }) => {
    const stored = keyIn(record, by) ?? '';
    return text === null ? isBlank(String(stored)) : stored === text;
  });

async function resolveCriteria(
  tx: Tx,
  target: RecordKind,
  batch: readonly Item[],
  links: readonly LinkCriteria[],
): Promise<ReadonlyMap<string, Matches>> {
  const distinct = new Map(links.map((criteria) => [criteriaKey(criteria), criteria]));
  const externalIds = [...distinct.values()].flat().filter(({ by }) => 'externalId' in by);
  if (externalIds.length > maxExternalIdsPerWrite) {
    const problem = `the links have more than ${formatCount(maxExternalIdsPerWrite)} external IDs: send fewer at a time`;
    throw tooLarge(problem, 'too many external IDs');
  }
  const index = await indexCandidates(tx, target, batch, links.flat());
  const stored = await tx.findMatches(target, [...distinct.values()], wellFormedIds(batch, target));
  return new Map(
    [...distinct].map(([key, criteria], place): [string, Matches] => {
      const candidates = candidatesFor(criteria, index);
      const changed = candidates.filter(({ before, after }) => meets(before, criteria) !== meets(after, criteria));
      const changing = changed.length > 0 ? createItem('update', target, [], { value: {} }) : undefined;
      const issue: ValidationIssue = { path: [], code: 'rejected-target', kind: target.label, criteria };
      if (changing) for (const { item } of changed) addDependent(item, changing, issue);
      const matching = candidates.filter(({ after }) => meets(after, criteria));
      return [key, { ids: stored[place] ?? [], candidates: matching, changing }];
    }),
  );
}

function followCriteria(matches: Matches | undefined, item: Item, link: Link): void {
  const { name, field, target, criteria } = link;
  const kind = target.label;
  const blank = criteria.find(({ text }) => text !== null && isBlank(text));
  if (blank) {
    item.issues.push({ path: [name, ...blank.path], code: 'empty-key', kind, received: blank.text ?? '' });
    return;
  }
  const { ids = [], candidates = [], changing } = matches ?? {};
  if (ids.length + candidates.length !== 1) {
    item.issues.push(linkIssue(link, ids, candidates));
    return;
  }
  const [candidate] = candidates;
  if (candidate) setReference(item, field, candidate.item);
  else item.values = { ...item.values, [field]: ids[0] };
  const other = candidate ? { other: candidate.item.path } : {};
  if (changing) addDependent(changing, item, { path: [name], code: 'rejected-target', kind, criteria, ...other });
}

/** Only well-formed IDs reach the database. */
const wellFormedIds = (items: readonly Item[], kind: RecordKind): string[] =>
  items.flatMap(({ id }) => (id !== undefined && kindOfId(id) === kind ? [id] : []));

type CandidateIndex = ReadonlyMap<string, ReadonlySet<Candidate>>;

/** By `criterionKey`, the items whose records meet it before or after the write. */
async function indexCandidates(tx: Tx, kind: RecordKind, items: readonly Item[], criteria: LinkCriteria) {
  if (items.length === 0) return new Map<string, Set<Candidate>>();
  const fields = new Set(['id', ...criteria.map(criterionField)]);
  const ids = wellFormedIds(items, kind);
  const stored = new Map((ids.length > 0 ? await tx.find(kind, ids, fields) : []).map((record) => [record.id, record]));
  const index = new Map(criteria.map((criterion) => [criterionKey(criterion), new Set<Candidate>()]));
  for (const item of items) {
    const before = stored.get(item.id ?? '');
    const isGone = item.op === 'delete' || (item.id && !before);
    const after = isGone ? undefined : { ...before, ...item.values, externalIds: externalIdsAfter(item, before) };
    const candidate = { item, before, after };
    for (const key of [...criterionKeys(before, fields), ...criterionKeys(after, fields)]) {
      index.get(key)?.add(candidate);
    }
  }
  return index;
}

/** The candidates of the most selective criterion. `meets` compares the rest. */
function candidatesFor(criteria: LinkCriteria, index: CandidateIndex): Candidate[] {
  const none: ReadonlySet<Candidate> = new Set();
  const sets = withTexts(criteria).map((criterion) => index.get(criterionKey(criterion)) ?? none);
  return [...sets.reduce((fewest, set) => (set.size < fewest.size ? set : fewest))];
}

/** A record's texts are fewer than a batch's criteria. */
function criterionKeys(record: Values | undefined, fields: ReadonlySet<string>): string[] {
  const texts = Object.entries(record ?? {}).filter(([field, text]) => fields.has(field) && typeof text === 'string');
  const externalIds = Object.entries((record?.externalIds ?? {}) as ExternalIdsPatch);
  return [
    ...texts.map(([field, text]) => criterionKey({ by: { field }, text: String(text) })),
    ...externalIds.map(([externalId, text]) => criterionKey({ by: { externalId }, text })),
  ];
}

/** Candidates are found by criteria with a text: each link has at least one. */
const withTexts = (criteria: LinkCriteria): LinkCriteria => criteria.filter(({ text }) => text !== null);

function linkIssue(link: Link, ids: readonly string[], candidates: readonly Candidate[]): ValidationIssue {
  const { name, target, criteria } = link;
  const kind = target.label;
  const found = [...ids, ...candidates.slice(0, maxMatches).map(({ item }) => item.id ?? item.path)];
  const [first] = candidates;
  const [criterion, second] = criteria;
  const path = criterion && !second ? [name, ...criterion.path] : [name];
  if (found.length > 0) {
    return { path, ...severalIssue(target, criteria, found), ...(first && { other: first.item.path }) };
  }
  if (!criterion || second) return { path, code: 'no-match', kind, criteria };
  if (criterionField(criterion) === 'id') return { path, ...noRecord(target, criterion.text ?? '') };
  return { ...criterion, path, code: 'no-record', kind };
}

function severalIssue(
  { pluralLabel: plural }: RecordKind,
  criteria: readonly Criterion[],
  found: readonly (string | Path)[],
): IssueData {
  // Lookups stop at `maxMatches`.
  const isMore = found.length >= maxMatches;
  return { code: 'several', plural, criteria, found: isMore ? found.slice(0, maxMatches - 1) : found, isMore };
}

const criterionField = ({ by }: Criterion): string => ('field' in by ? by.field : 'externalIds');

/** Locks kind by kind, in the order all writes use. */
export async function readRecords(tx: Tx, items: readonly Item[]): Promise<void> {
  const groups = groupByKind(items);
  for (const kind of linkOrder) {
    const ofKind = groups.get(kind)?.filter(({ id }) => id !== undefined) ?? [];
    const itemsWith = (isDeletion: boolean) => ofKind.filter(({ op }) => (op === 'delete') === isDeletion);
    const toDelete = wellFormedIds(itemsWith(true), kind);
    const toUpdate = wellFormedIds(itemsWith(false), kind);
    const found = [
      ...(toDelete.length > 0 ? await tx.findToDelete(kind, toDelete) : []),
      ...(toUpdate.length > 0 ? await tx.findToUpdate(kind, toUpdate) : []),
    ];
    const records = new Map(found.map((record) => [record.id, record]));
    for (const item of ofKind) {
      const { id = '', by, op, unchangedSince, duplicateOf } = item;
      const record = records.get(id);
      // Another write has changed or deleted the record meanwhile: the transaction runs again.
      if (by && (!record || keyIn(record, by) !== sentKey(item, by))) throw lookupOutdated();
      const path = op === 'delete' || by ? [] : ['id'];
      if (!record && unchangedSince === undefined) item.issues.unshift({ path, ...noRecord(kind, id) });
      else if (duplicateOf) {
        item.issues.unshift({ path, code: 'repeated', by: { field: 'id' }, text: id, other: duplicateOf.path });
      } else item.before = record;
    }
  }
}

/** Merges external IDs. Checks that new records are complete and stored ones have the expected `updatedAt`. */
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

function requireComplete({ kind, values, links = [], issues }: Item): void {
  const isSent = (name: string) =>
    values[name] !== undefined ||
    links.some(({ field }) => field === name) ||
    issues.some(({ path }) => path[0] === name);
  const missing = Object.entries(kind.fields).filter(([name, field]) => field.required && !isSent(name));
  issues.unshift(...missing.map(([name, field]) => ({ path: [name], ...missingValue(field) })));
}

/** Merges into the locked record: no external ID of a simultaneous write is lost. */
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

/** Records of another workspace are as unknown as ones that never existed. */
export function noRecord({ label: kind, idPrefix: prefix }: RecordKind, id: string): IssueData<'no-record'> {
  const issue = { code: 'no-record', kind, by: { field: 'id' }, text: id } as const;
  const actual = kindOfId(id);
  if (!actual) return { ...issue, prefix, isMalformed: id.startsWith(`${prefix}_`) };
  return actual.label === kind ? issue : { ...issue, actual: actual.label };
}
