/**
 * Group commit for new records: additions that arrive while others are being stored share the next statement, and with it the cost of a
 * commit, a write to disk. Each is acknowledged after that commit, and one that the database refuses does not fail the others. SQLite has
 * one writer, and therefore one queue. On Postgres each workspace has its own: its writers wait for the row of its change number anyway,
 * and never for another workspace.
 */
import { ServiceError } from '../../errors.ts';
import { externalIdCount, textLengthOfAll } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { databaseUnavailable, TransactionConflict, WorkspaceDeleted } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, Row, Usage } from '../connections/driver.ts';
import type { Transactions } from '../connections/transactions.ts';
import type { Dialect, NewRecords } from '../query/dialect.ts';
import type { Author } from '../query/tables.ts';
import { type IdempotencyKey, idempotencyRow } from './idempotency.ts';
import { maxExternalIdsPerWrite, type Written } from './write.ts';

/** New records of one kind, whose unique values, references and key only the database has checked when they are stored. */
export interface Addition<T> extends Pick<NewRecords, 'references'> {
  readonly kind: RecordKind;
  /** The fields that were sent for each record. */
  readonly values: readonly Row[];
  /** Makes the records when they are stored: their IDs are then in the order of the commits. */
  make(): Written<T>;
}

interface Sent<T = unknown> extends Addition<T> {
  readonly workspaceId: number;
  readonly author: Author;
  readonly usage: Usage;
  readonly key?: IdempotencyKey | undefined;
}

interface GroupDatabase extends Pick<Transactions, 'runAlone' | 'forWorkspace'> {
  readonly dialect: Pick<Dialect, 'withChanges'>;
  readonly driver: Pick<Driver, 'hasGroupsByWorkspace'>;
  readonly options: Pick<DatabaseOptions, 'connectionTimeout'>;
}

interface GroupCommit {
  /** Undefined, with nothing stored, if the records need a transaction: the database has refused them, or they are too many. */
  add<T>(addition: Sent<T>): Promise<Written<T> | undefined>;
}

interface Waiting extends Sent {
  readonly size: number;
  /** When it has waited for as long as for a connection, in milliseconds. */
  readonly latest: number;
  readonly resolve: (written: Written<unknown> | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** Limits of one addition; a group may exceed them by `reserve`. Making the statement takes 20 ms. On SQLite, each external ID is a row. */
const maxRecords = 5_000;
const maxLength = 4_000_000;

/** Share of a group kept free for small additions behind a large first one. */
const reserve = 0.1;

export function createGroupCommit(database: GroupDatabase): GroupCommit {
  const { withChanges } = database.dialect;
  const { hasGroupsByWorkspace } = database.driver;
  /** The additions that wait, by workspace or all together. A queue is here as long as its groups are being stored. */
  const queues = new Map<number | undefined, { readonly waiting: Waiting[]; running: number }>();
  // On Postgres one group is sent while another is synced to disk. More would be smaller, and wait for each other at the change number.
  const maxRunning = hasGroupsByWorkspace ? 2 : 1;

  async function runGroups(queueId: number | undefined): Promise<void> {
    const queue = queues.get(queueId);
    if (!queue) return;
    while (queue.waiting.length > 0) await store(takeGroup(refuseLate(queue.waiting)));
    queue.running -= 1;
    if (queue.running === 0) queues.delete(queueId);
  }

  /** If the database refuses one of them, nobody knows which: each then has a transaction of its own, with lookups. */
  async function store(group: readonly Waiting[]): Promise<void> {
    const [first] = group;
    if (!first || !withChanges) return;
    const { runAlone } = hasGroupsByWorkspace ? database.forWorkspace(first.workspaceId) : database;
    try {
      const written = group.map(({ make }) => make());
      const additions = await Promise.all(group.map((addition, index) => newRecordsOf(addition, written[index])));
      for (const { usage } of group) usage.statements += 1;
      await runAlone(withChanges(first.kind, additions));
      for (const [index, { resolve }] of group.entries()) resolve(written[index]);
    } catch (error) {
      for (const { resolve, reject } of group) {
        if (concernsSome(error)) resolve(undefined);
        else reject(error);
      }
    }
  }

  return {
    async add<T>(addition: Sent<T>) {
      const size = sizeOf(addition);
      if (!withChanges || size > 1) return undefined;
      return new Promise<Written<T> | undefined>((resolve, reject) => {
        // The cast is safe: it is resolved with what its own `make` has returned.
        const latest = Date.now() + database.options.connectionTimeout;
        const entry: Waiting = { ...addition, size, latest, resolve: resolve as Waiting['resolve'], reject };
        const queueId = hasGroupsByWorkspace ? addition.workspaceId : undefined;
        const queue = queues.get(queueId) ?? { waiting: [], running: 0 };
        queues.set(queueId, queue);
        queue.waiting.push(entry);
        if (queue.running === maxRunning) return;
        queue.running += 1;
        // Later, so that requests that have already arrived are read first and can join the group.
        setImmediate(() => void runGroups(queueId));
      });
    },
  };
}

function sizeOf({ values }: Addition<unknown>): number {
  let externalIds = 0;
  for (const sent of values) externalIds += externalIdCount(sent.externalIds ?? {});
  return Math.max(
    values.length / maxRecords,
    externalIds / maxExternalIdsPerWrite,
    textLengthOfAll(values) / maxLength,
  );
}

/** Returns those that wait, without those that have waited for too long while another process held a lock. */
function refuseLate(waiting: Waiting[]): Waiting[] {
  const now = Date.now();
  for (const { latest, reject } of waiting) if (latest < now) reject(databaseUnavailable('CONNECTIONS_IN_USE'));
  waiting.push(...waiting.splice(0).filter(({ latest }) => latest >= now));
  return waiting;
}

function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  const group: Waiting[] = [];
  const others: Waiting[] = [];
  let size = 0;
  for (const addition of waiting.splice(0)) {
    const isTaken = addition.kind === (group[0] ?? addition).kind && size + addition.size <= 1 + reserve;
    if (isTaken) size += addition.size;
    (isTaken ? group : others).push(addition);
  }
  waiting.push(...others);
  return group;
}

async function newRecordsOf(
  { workspaceId, kind, references, author, key }: Sent,
  written: Written<unknown> | undefined,
): Promise<NewRecords> {
  const records = (written?.changes ?? []).flatMap(({ after }) => (after ? [after] : []));
  return {
    records,
    references,
    change: {
      ...author,
      workspaceId,
      kind: kind.name,
      action: 'created',
      at: String(records[0]?.createdAt),
      before: null,
    },
    keyed: key && (await idempotencyRow(workspaceId, key, written?.returned)),
  };
}

/** True if the cause may be one addition of the group. After any other error a retry cannot help, or might store the group twice. */
const concernsSome = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;
