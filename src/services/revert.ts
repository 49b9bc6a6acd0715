/**
 * Reverses changes by a write, which history and feed show. Each record in the range becomes an item:
 *
 * | before        | now                             | the item                        |
 * |---------------|---------------------------------|---------------------------------|
 * | did not exist | exists, as the range left it    | deletes the record              |
 * | did not exist | does not exist                  | changes nothing                 |
 * | existed       | exists, as the range left it    | restores the earlier values     |
 * | existed       | exists, with its earlier values | changes nothing                 |
 * | existed       | deleted, as the range left it   | stores it again with its old ID |
 * | any           | changed since to another state  | keeps the record                |
 * | was erased    | does not exist                  | fails                           |
 *
 * Records that cannot be reversed are skipped, with their dependents.
 */
import { badRequest } from '../errors.ts';
import { linkOrder } from '../records/index.ts';
import type { LoggedChange } from '../store/log.ts';
import type { Tx } from '../store/writes/tx.ts';
import { changedSinceIssue, clientValues } from './checks.ts';
import { createItem, type Item, isRejection } from './item.ts';
import { type Session, write } from './write.ts';

/** Changes after the number `after`, up to and including `upTo`. */
export interface ChangeRange {
  readonly after: number;
  readonly upTo: number;
  readonly message?: string | undefined;
}

/** `kept` if the record has changed since, `failed` for another reason. `made` counts the new changes. */
export interface RevertResult {
  readonly reversed: number;
  readonly kept: number;
  readonly failed: number;
  readonly made: number;
  readonly notReversed: readonly UnreversedChange[];
}

export interface UnreversedChange {
  readonly outcome: 'kept' | 'failed';
  readonly message: string;
  readonly change: number;
  readonly kind: string;
  readonly recordId: string;
}

interface Reversal {
  readonly item: Item & { readonly id: string };
  readonly numbers: readonly number[];
}

/** Throws a 403, a 400 for changes that do not exist yet, a 410 for deleted ones, or a 413 for too much text. */
export async function revertChanges(session: Session, range: ChangeRange): Promise<RevertResult> {
  // The log is read before the write: its rows are final.
  const reading = session.with({ isDryRun: true });
  const reversals = await reading.transaction(async (tx) => ({
    changes: [],
    returned: await createReversals(tx, range),
  }));
  const items = reversals.map(({ item }) => item);
  const results = await write(session, items, {
    onInvalid: 'skip',
    resultOf: (_, stored) => ({ isChanged: stored !== undefined && stored.outcome !== 'unchanged' }),
  });
  const counts = { reversed: 0, kept: 0, failed: 0, made: 0 };
  const notReversed: UnreversedChange[] = [];
  for (const [index, { item, numbers }] of reversals.entries()) {
    const result = results[index];
    if (!result || !isRejection(result)) {
      counts.reversed += numbers.length;
      counts.made += result?.isChanged ? 1 : 0;
      continue;
    }
    const [{ message = '', code } = {}] = result.issues;
    const outcome = code === 'changed-since' ? 'kept' : 'failed';
    counts[outcome] += numbers.length;
    for (const change of numbers) {
      notReversed.push({ outcome, message, change, kind: item.kind.name, recordId: item.id });
    }
  }
  return { ...counts, notReversed: notReversed.sort((a, b) => a.change - b.change) };
}

interface TouchedRecord {
  readonly first: LoggedChange;
  readonly numbers: number[];
  /** A change with another message after the first: the record keeps its state. */
  intervening?: LoggedChange;
}

/** Targets of references come first. */
async function createReversals(tx: Tx, range: ChangeRange): Promise<readonly Reversal[]> {
  const { message, upTo } = range;
  const touched = new Map<string, TouchedRecord>();
  for (const change of await changesIn(tx, range)) {
    const record = touched.get(change.id);
    const isSelected = message === undefined || change.message === message;
    if (isSelected && !record) touched.set(change.id, { first: change, numbers: [change.number] });
    else if (isSelected) record?.numbers.push(change.number);
    else if (record) record.intervening = change;
  }
  const reversals: Reversal[] = [];
  for (const kind of linkOrder) {
    const ofKind = [...touched].filter(([, { first }]) => first.kind === kind.name);
    const existing = ofKind.flatMap(([id, { first }]) =>
      first.action === 'created' ? [] : [{ id, number: first.number - 1 }],
    );
    const versions = existing.length > 0 ? await tx.versions(kind, existing) : [];
    const earlier = new Map(existing.map(({ id }, index) => [id, versions[index] ?? undefined]));
    for (const [id, { first, numbers, intervening }] of ofKind) {
      const restored = earlier.get(id);
      const parsed = { value: restored ? clientValues(kind, restored) : {} };
      const op = restored ? 'restore' : 'delete';
      const item = { ...createItem(op, kind, [], parsed), id, restored, unchangedSince: upTo };
      if (!restored && first.action !== 'created') item.issues.push({ path: [], code: 'erased', kind: kind.label });
      if (intervening) item.issues.push(changedSinceIssue(kind, intervening.number));
      reversals.push({ item, numbers });
    }
  }
  return reversals;
}

async function changesIn(tx: Tx, { after, upTo }: ChangeRange): Promise<LoggedChange[]> {
  const last = await tx.lastChange(after);
  if (upTo > last) throw badRequest(`there is no change with the cursor "${upTo}" yet: the last one is "${last}"`);
  if (upTo <= after) return [];
  return tx.changes({ after, upTo, limit: upTo - after, withBefore: false });
}
