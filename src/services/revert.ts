/**
 * Reverses changes by a write of its own, which history and feed show like any other. Each record that the changes of a range touched is an
 * item:
 *
 * | before the range | now                               | the item                                    |
 * |------------------|-----------------------------------|---------------------------------------------|
 * | did not exist    | exists, as the range left it      | is deleted                                  |
 * | did not exist    | does not exist                    | changes nothing                             |
 * | existed          | exists, as the range left it      | gets its earlier values back                |
 * | existed          | exists, with its earlier values   | changes nothing                             |
 * | existed          | does not exist, as the range left | is stored again with its ID                 |
 * | any              | was changed since to another state | is kept                                     |
 *
 * What cannot be reversed is left out, with all that depends on it.
 */
import { badRequest } from '../errors.ts';
import type { AnyRecord, RecordKind } from '../model/record-kind.ts';
import { linkOrder } from '../records/index.ts';
import type { LoggedChange } from '../store/log.ts';
import type { Tx } from '../store/writes/tx.ts';
import { changedSince, clientValues } from './checks.ts';
import { type Item, isRejected, itemOf } from './item.ts';
import { type Session, write } from './write.ts';

/** The changes with greater numbers than `after`, up to the one with the number `upTo`. */
export interface ChangeRange {
  readonly after: number;
  readonly upTo: number;
  /** Only those with this message. */
  readonly message?: string | undefined;
}

/** How many changes were reversed, kept because their record has changed since, or failed to be reversed, and which of them were not. */
export interface Reverted {
  readonly reversed: number;
  readonly kept: number;
  readonly failed: number;
  /** The number of changes by which they were reversed. */
  readonly made: number;
  readonly notReversed: readonly NotReversed[];
}

export interface NotReversed {
  readonly outcome: 'kept' | 'failed';
  readonly message: string;
  readonly change: number;
  readonly kind: string;
  readonly recordId: string;
}

/** The item of a record, and the numbers of its changes in the range. */
interface Reversal {
  readonly item: Item & { readonly id: string };
  readonly numbers: readonly number[];
}

/**
 * Gives records the state back that they had before the range, all or none. Throws a ServiceError: 403, 400 for changes to come, 413 for
 * too much text.
 */
export async function revertChanges(session: Session, range: ChangeRange): Promise<Reverted> {
  // The log does not change, so that it can be read before the write.
  const reading = session.with({ isDryRun: true });
  const reversals = await reading.transaction(async (tx) => ({ changes: [], returned: await reversalsOf(tx, range) }));
  const items = reversals.map(({ item }) => item);
  const results = await write(session, items, {
    onInvalid: 'skip',
    resultOf: (_, stored) => ({ isChanged: stored !== undefined && stored.outcome !== 'unchanged' }),
  });
  const counts = { reversed: 0, kept: 0, failed: 0, made: 0 };
  const notReversed: NotReversed[] = [];
  for (const [index, { item, numbers }] of reversals.entries()) {
    const result = results[index];
    if (!result || !isRejected(result)) {
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

/** Returns the reversals of all records that the range has changed, targets of references first. */
async function reversalsOf(tx: Tx, range: ChangeRange): Promise<readonly Reversal[]> {
  const { message, upTo } = range;
  const changes = await changesIn(tx, range);
  const isMeant = (change: LoggedChange) => message === undefined || change.message === message;
  const touched = new Map<string, { readonly first: LoggedChange; readonly numbers: number[] }>();
  for (const change of changes.filter(isMeant)) {
    const earlier = touched.get(change.id);
    if (earlier) earlier.numbers.push(change.number);
    else touched.set(change.id, { first: change, numbers: [change.number] });
  }
  // What others changed before is a part of the state that the record gets back.
  const isBetween = (change: LoggedChange) => change.number > (touched.get(change.id)?.first.number ?? Infinity);
  const others = new Map(changes.filter((it) => !isMeant(it) && isBetween(it)).map((change) => [change.id, change]));
  const reversals: Reversal[] = [];
  for (const kind of linkOrder) {
    const ofKind = [...touched].filter(([, { first }]) => first.kind === kind.name);
    const existing = ofKind.flatMap(([id, { first }]) =>
      first.action === 'created' ? [] : [{ id, number: first.number - 1 }],
    );
    const earlier = await versionsAt(tx, kind, existing);
    for (const [id, { numbers }] of ofKind) {
      const restored = earlier.get(id);
      const parsed = { value: restored ? clientValues(kind, restored) : {} };
      const item = { ...itemOf(restored ? 'restore' : 'delete', kind, [], parsed), id, restored, lastChange: upTo };
      const other = others.get(id);
      if (other) item.issues.push(changedSince(kind, other.number));
      reversals.push({ item, numbers });
    }
  }
  return reversals;
}

async function changesIn(tx: Tx, { after, upTo }: ChangeRange): Promise<LoggedChange[]> {
  const last = await tx.lastChange();
  if (upTo > last) throw badRequest(`there is no change with the cursor "${upTo}" yet: the last one is "${last}"`);
  if (upTo <= after) return [];
  return tx.changes({ after, upTo, limit: upTo - after, withBefore: false });
}

/** Returns the records as they were right after the changes with these numbers, by ID. */
async function versionsAt(
  tx: Tx,
  kind: RecordKind,
  at: readonly { readonly id: string; readonly number: number }[],
): Promise<ReadonlyMap<string, AnyRecord>> {
  if (at.length === 0) return new Map();
  const versions = await tx.versions(kind, at);
  return new Map(versions.flatMap((version) => (version ? [[version.id, version]] : [])));
}
