/** Creates or changes records by a key that other systems know them by. */
import { isRecordLongerThan } from '../model/characters.ts';
import type { ExternalIds } from '../model/fields.ts';
import { count } from '../model/issues.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { CreateOf, RecordKind, RecordOf, UpdateOf } from '../model/record-kind.ts';
import { requiredMessage, type ValueLimits } from '../model/schemas.ts';
import type { TransactionStore } from '../store/workspace-store.ts';
import { cycleIssues, lockTree } from './cycles.ts';
import { resolveLinks } from './resolve-links.ts';
import { requireMayWrite, type Session } from './session.ts';
import { creationStamps, updateStamps } from './stamps.ts';
import { findRecords, type UpsertKey, withKeys } from './upsert-keys.ts';
import { referenceIssues, requireValid } from './validation.ts';

export interface Upserted<K extends RecordKind> {
  readonly record: RecordOf<K>;
  readonly outcome: 'created' | 'updated' | 'unchanged';
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Changes the records that have the keys of the items, and creates those that are missing, all in one transaction, or none. Returns them
 * in the order sent. A record that has all values already stays as it is, including its `updatedAt`. Throws a ServiceError: 403 if the
 * session may not write, otherwise 400, or 409 if conflicts with stored records are the only issues, with every issue of the batch.
 */
export async function upsertRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  by: UpsertKey,
  batch: readonly Linkable<UpdateOf<K>>[],
  limits: ValueLimits,
): Promise<Upserted<K>[]> {
  requireMayWrite(session);
  if (batch.length === 0) return [];
  return session.store.transaction(async (transaction) => {
    await lockTree(transaction, kind, batch);
    // Otherwise two upserts of a key that no record has would both create one.
    await transaction.lock(`upsert ${kind.table}`);
    const resolved = await resolveLinks(transaction, batch);
    const unresolved = await referenceIssues(transaction, kind, { parsed: resolved });
    const keyed = withKeys(by, resolved);
    const { records, invalid } = await findRecords(transaction, kind, by, keyed);
    const ambiguous = new Set(invalid.map(({ path }) => path[0]));
    const items = keyed.map(({ item }, index) =>
      ambiguous.has(index) ? item : completed(kind, by, item, records[index], limits),
    );

    const cycles = await cycleIssues(transaction, kind, { changes: items, records });
    const found = { invalid: [...invalid, ...unresolved, ...cycles], conflicts: [] };
    const lookedUp = 'field' in by ? by.field : undefined;
    await requireValid(transaction, kind, { parsed: items, current: records, found, lookedUp }, 'lookup');
    return store(transaction, session, kind, items, records);
  });
}

/**
 * The item as it is to be stored. A new record needs the required fields. If records are found by the IDs of one system, those of the
 * other systems are kept, because each system knows only its own.
 */
function completed<K extends RecordKind>(
  kind: K,
  by: UpsertKey,
  item: Linkable<UpdateOf<K>>,
  record: RecordOf<K> | undefined,
  limits: ValueLimits,
): Linkable<UpdateOf<K>> {
  const sent = (item.value ?? item.validFields) as Values;
  if (!record) {
    const missing = Object.entries(kind.fields).filter(
      ([name, field]) =>
        field.required && sent[name] === undefined && !item.issues?.some(({ path }) => path[0] === name),
    );
    return withIssues(
      item,
      missing.map(([name, field]) => ({ path: [name], message: requiredMessage(field) })),
    );
  }
  if ('field' in by || item.issues) return item;
  const externalIds = { ...((record as Values).externalIds as ExternalIds), ...(sent.externalIds as ExternalIds) };
  const size = Object.keys(externalIds).length;
  const most = limits.maxExternalIds;
  if (size > most) {
    const message = `expected at most ${count(most)} keys, those of the stored ${kind.label} included, there are ${count(size)}`;
    return withIssues(item, [{ path: ['externalIds'], message }]);
  }
  const value = { ...item.value, externalIds } as UpdateOf<K>;
  if (!isRecordLongerThan({ ...record, ...value }, limits.maxRecordLength)) return { ...item, value };
  const message = `expected at most ${count(limits.maxRecordLength)} characters of text in the whole record, there are more`;
  return withIssues(item, [{ path: [], message }]);
}

async function store<K extends RecordKind>(
  transaction: TransactionStore,
  session: Session,
  kind: K,
  items: readonly Linkable<UpdateOf<K>>[],
  records: readonly (RecordOf<K> | undefined)[],
): Promise<Upserted<K>[]> {
  // Missing records have all that is required: the batch is valid.
  const missing = items.flatMap(({ value }, index) => (records[index] || !value ? [] : [value as CreateOf<K>]));
  const created = await transaction.add(kind, missing, creationStamps(kind, session));
  const versions = records.map((before, index) => {
    if (!before) return {};
    const changes = changesOf(before, items[index]?.value ?? {});
    if (Object.keys(changes).length === 0) return { before, after: before };
    return { before, after: { ...before, ...changes, ...updateStamps(kind, session, before) } };
  });
  await transaction.update(
    kind,
    versions.flatMap(({ before, after }) => (before && after && before !== after ? [{ before, after }] : [])),
  );
  let next = 0;
  return versions.map(({ before, after }) => {
    if (after) return { record: after, outcome: before === after ? 'unchanged' : 'updated' };
    next += 1;
    return { record: created[next - 1] as RecordOf<K>, outcome: 'created' };
  });
}

/** The values that the record does not have. */
const changesOf = (record: object, values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame((record as Values)[name], value)));

/** External IDs have no order. */
function isSame(stored: unknown, sent: unknown): boolean {
  if (stored === sent) return true;
  if (typeof stored !== 'object' || typeof sent !== 'object' || !stored || !sent) return false;
  const entries = Object.entries(sent);
  if (entries.length !== Object.keys(stored).length) return false;
  return entries.every(([key, text]) => Object.hasOwn(stored, key) && (stored as Values)[key] === text);
}
