/**
 * Group commit for new records: additions that arrive while others are being stored share the next statement, and with it the cost of a
 * commit, a write to disk. Each is acknowledged after that commit, and one that the database refuses does not fail the others. SQLite has
 * one writer, and therefore one queue. On Postgres each workspace has its own: its writers wait for the row of its change number anyway,
 * and never for another workspace.
 */
import { ServiceError } from '../../errors.ts';
import { externalIdCount, textLengthOfAll } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { TransactionConflict, WorkspaceDeleted } from '../connections/database-error.ts';
import type { Driver, Row, Usage } from '../connections/driver.ts';
import type { Transactions } from '../connections/transactions.ts';
import type { Dialect, NewRecords } from '../query/dialect.ts';
import type { Author } from '../query/tables.ts';
import { type IdempotencyKey, idempotencyRow, usedKeys } from './idempotency.ts';
import { createLookups } from './lookups.ts';
import { newRecords } from './work.ts';

/** New records of one kind, whose unique values, references and key only the database has checked when they are stored. */
export interface Addition extends Pick<NewRecords, 'references'> {
  readonly workspaceId: number;
  readonly kind: RecordKind;
  /** The records, which get their IDs and their workspace when they are stored. */
  readonly drafts: readonly Row[];
  readonly author: Author;
  readonly usage: Usage;
  readonly key?: IdempotencyKey | undefined;
}

interface GroupCommit {
  /** Undefined, with nothing stored, if the records need a transaction: the database has refused them, or they are too many. */
  add(addition: Addition): Promise<readonly Row[] | undefined>;
}

interface Waiting extends Addition {
  readonly size: number;
  readonly resolve: (records: readonly Row[] | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** The most of an addition, and of its group: making the statement takes 20 ms. On SQLite, each external ID is a row of its own. */
const maxRecords = 5_000;
const maxExternalIds = 30_000;
const maxLength = 4_000_000;

/** Share of a group kept free for small additions behind a large first one. */
const reserve = 0.1;

export function createGroupCommit(
  database: Pick<Transactions, 'runAlone' | 'forWorkspace'>,
  dialect: Dialect,
  { hasGroupsByWorkspace }: Pick<Driver, 'hasGroupsByWorkspace'>,
): GroupCommit {
  const { withChanges } = dialect;
  /** The additions that wait, by workspace or all together. A queue is here as long as its groups are being stored. */
  const queues = new Map<number | undefined, { readonly waiting: Waiting[]; running: number }>();
  // On Postgres one group is sent while another is synced to disk. More would be smaller, and wait for each other at the change number.
  const maxRunning = hasGroupsByWorkspace ? 2 : 1;

  async function runGroups(queueId: number | undefined): Promise<void> {
    const queue = queues.get(queueId);
    if (!queue) return;
    while (queue.waiting.length > 0) await store(takeGroup(queue.waiting));
    queue.running -= 1;
    if (queue.running === 0) queues.delete(queueId);
  }

  /** Stores all, or else those that lookups do not refuse, or else each half by itself, until those that are refused are alone. */
  async function store(group: readonly Waiting[]): Promise<void> {
    const [first] = group;
    if (!first || !withChanges) return;
    const { runAlone } = hasGroupsByWorkspace ? database.forWorkspace(first.workspaceId) : database;
    try {
      const additions = await Promise.all(group.map(newRecordsOf));
      for (const { usage } of group) usage.statements += 1;
      await runAlone(withChanges(first.kind, additions));
      for (const [index, { resolve }] of group.entries()) resolve(additions[index]?.records);
    } catch (error) {
      if (!concernsSome(error)) for (const { reject } of group) reject(error);
      else if (group.length === 1) first.resolve(undefined);
      else {
        // If the lookups fail, the halves find out why.
        const refused = await refusedAmong(first.kind, group).catch(() => new Set<Waiting>());
        for (const { resolve } of refused) resolve(undefined);
        const others = group.filter((addition) => !refused.has(addition));
        const half = refused.size > 0 ? others.length : Math.ceil(others.length / 2);
        await store(others.slice(0, half));
        await store(others.slice(half));
      }
    }
  }

  /** A client that sends many refused additions should not cost the others a commit for each half of a group. */
  async function refusedAmong(kind: RecordKind, group: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
    const refused = new Set<Waiting>();
    for (const workspaceId of new Set(group.map((addition) => addition.workspaceId))) {
      const additions = group.filter((addition) => addition.workspaceId === workspaceId);
      const { read } = database.forWorkspace(workspaceId);
      const scope = { dialect, run: read, workspaceId, workspaceName: '' };
      const { existingValues } = createLookups(scope, { isDryRun: true });
      const refuse = (isRefused: (addition: Waiting) => boolean) => {
        for (const addition of additions.filter(isRefused)) refused.add(addition);
      };
      for (const target of new Set(additions.flatMap(({ references }) => [...references.keys()]))) {
        const idsIn = ({ references }: Waiting) => references.get(target) ?? [];
        const found = await existingValues(target, 'id', additions.flatMap(idsIn));
        refuse((addition) => idsIn(addition).some((id) => !found.has(id)));
      }
      for (const [field, { unique }] of Object.entries(kind.fields)) {
        if (!unique) continue;
        const textsIn = ({ drafts }: Waiting) =>
          drafts.flatMap((draft) => (typeof draft[field] === 'string' ? [draft[field]] : []));
        const taken = await existingValues(kind, field, additions.flatMap(textsIn));
        refuse((addition) => textsIn(addition).some((text) => taken.has(text)));
      }
      const keys = additions.flatMap(({ key }) => key?.key ?? []);
      const used = await usedKeys(scope, keys);
      refuse(({ key }) => key !== undefined && used.has(key.key));
    }
    return refused;
  }

  return {
    async add(addition) {
      const size = sizeOf(addition);
      if (!withChanges || size > 1) return undefined;
      return new Promise((resolve, reject) => {
        const entry = { ...addition, size, resolve, reject };
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

function sizeOf({ drafts }: Addition): number {
  let externalIds = 0;
  for (const draft of drafts) externalIds += externalIdCount(draft.externalIds ?? {});
  return Math.max(drafts.length / maxRecords, externalIds / maxExternalIds, textLengthOfAll(drafts) / maxLength);
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

async function newRecordsOf({ workspaceId, kind, drafts, references, author, key }: Addition): Promise<NewRecords> {
  const records = newRecords(kind, drafts).map((record): Row => Object.assign(record, { workspaceId }));
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
    keyed: key && (await idempotencyRow(workspaceId, key, records)),
  };
}

/** True if the cause may be one addition of the group. After any other error a retry cannot help, or might store the group twice. */
const concernsSome = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error instanceof TransactionConflict || error instanceof WorkspaceDeleted;
