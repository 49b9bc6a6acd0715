/**
 * Sends the rows of an import to the service: `sendAll` in a preview, and to store them. What may create records is sent in parts with
 * idempotency keys that follow from the run, the file and the place of the rows: so a second start sends all parts again, and the service
 * returns what it has stored already. Rows that are upserted by another key than the ID need none: sent again, they find what they have stored.
 */
import type { Yardgraph } from '../../client/index.ts';
import { StartError } from '../errors.ts';
import { type Issue, quote } from '../model/issues.ts';
import { constantCase, counted, listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { linkOrder } from '../records/index.ts';
import type { ImportFile } from './file.ts';
import {
  copied,
  type Linking,
  type LinkKeys,
  lateLinks,
  linkRows,
  type Names,
  noteRow,
  type OwnTexts,
} from './links.ts';
import { type FileReader, partsOf, type Section } from './reading.ts';
import { deleteUnreferenced, halving, methodsOf, storedWith } from './requests.ts';
import {
  externalKey,
  type Fate,
  type LinkCells,
  type LinkedRow,
  nameOf,
  pathOf,
  type RecordRow,
  type SentRow,
} from './row.ts';
import type { collectWarnings } from './warnings.ts';

export interface Import {
  readonly yardgraph: Yardgraph;
  readonly files: readonly ImportFile[];
  readonly reader: FileReader;
  readonly scanned: {
    /** In the order in which they are stored. */
    readonly sections: readonly Section[];
    /** The number of rows. */
    readonly total: number;
    readonly linkKeys: LinkKeys;
  };
  readonly ownTexts: OwnTexts;
  /** By kind, what the stored record of a row is found by; rows of other kinds are created. */
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** Kinds of which records are created for names of links that none has. */
  readonly createMissing: ReadonlySet<RecordKind>;
  /** The most records that are deleted because they are not in the files. */
  readonly deleteMissing: number | undefined;
  /** What is probably wrong in the files. */
  readonly warnings: ReadonlyMap<ImportFile, ReturnType<typeof collectWarnings>>;
  readonly partSize: number;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** How a run through all rows differs: a preview, or storing, which is bound to a run. */
export interface Mode {
  readonly run?: Run;
  /** The rows to which links may lead: none yet. */
  readonly names: Names;
  readonly warns: boolean;
  readonly onSent: (file: ImportFile, rows: readonly SentRow[]) => void;
}

export interface Run {
  /** Of the keys of all parts. */
  readonly id: string;
  /** By file: its place, and a hash. */
  readonly fileKeys: readonly string[];
  /** Set if it goes on: what to do to begin anew. */
  readonly anew?: string | undefined;
}

/** What has become of all rows, or would become of them. */
export interface Sent {
  readonly rows: Record<Fate['outcome'], number>;
  /** The number of changes besides those of rows. */
  readonly others: number;
  /** What is to be said of links to later rows that could not be set. */
  readonly unset: readonly string[];
  /** Names in links for which records are created. */
  readonly missing: Linking['missing'];
  /** The records that rows have become, or are: by kind, if all others of these kinds are to be deleted. */
  readonly kept: ReadonlyMap<RecordKind, ReadonlySet<string>>;
}

export async function sendAll(work: Import, { run, names, warns, onSent }: Mode): Promise<Sent> {
  const linking: Linking = { ...work, names, missing: new Map(), isPreview: run === undefined };
  const rows = { CREATED: 0, UPDATED: 0, UNCHANGED: 0, REJECTED: 0 };
  const late: LateLink[] = [];
  const kept = new Map<RecordKind, Set<string>>();
  const withKeyIssue = keyChecker(work);

  function settle(file: ImportFile, sent: SentRow): void {
    const { row, outcome, id, late: ofRow } = sent;
    rows[outcome] += 1;
    // The ID of a record that a preview would create is not final.
    noteRow(names, sent, run || outcome !== 'CREATED' ? id : undefined);
    if (outcome === 'REJECTED' || id === undefined) return;
    for (const cells of ofRow) late.push({ cells, record: id, row, file });
    kept.get(row.kind)?.add(id);
  }

  for (const section of work.scanned.sections) {
    const { kind, file } = section;
    const warn = warns ? work.warnings.get(file)?.warn : undefined;
    const fileKey = run && `import-${run.id}-${run.fileKeys[work.files.indexOf(file)]}-${kind.name}`;
    const send = async (part: readonly RecordRow[]): Promise<SentRow[]> => {
      const linked = await linkRows(linking, kind, part, warn);
      // A part and its first half are different requests.
      const key = fileKey && `${fileKey}-${part[0]?.place}-${part.length}`;
      const sent = await deliver(work, kind, linked, key);
      if (run?.anew !== undefined && fileKey) await requireStored(work, kind, sent, run.anew);
      for (const row of sent) settle(file, row);
      return sent;
    };
    const reject = (row: RecordRow, message: string): SentRow => {
      const unsent = { row, record: {}, late: [], unsent: new Set<string>() };
      const sent = { ...unsent, issues: [{ path: [], message }], outcome: 'REJECTED' as const };
      settle(file, sent);
      return sent;
    };
    for await (const part of partsOf(work.reader, section, work.partSize, warn)) {
      work.signal.throwIfAborted();
      // All records of a kind of which the files have no row stay: a file may be empty because an export has failed.
      if (work.deleteMissing !== undefined && !kept.has(kind)) kept.set(kind, new Set());
      const checked = part.map((row) => withKeyIssue(file, row));
      onSent(file, await halving(checked, send, reject));
      work.onProgress(part.length);
    }
  }
  const { missing } = linking;
  const { changed, unset } = await setLateLinks(work, linking, late);
  const created = [...missing.values()].reduce((sum, { size }) => sum + size, 0);
  return { rows, others: created + changed, unset, missing, kept };
}

/** Throws a StartError if the service returns records that it has stored before, and that are not there any more. */
async function requireStored({ yardgraph }: Import, kind: RecordKind, rows: readonly SentRow[], anew: string) {
  const created = rows.flatMap(({ outcome, id }) => (outcome === 'CREATED' && id !== undefined ? [id] : []));
  const stored = await storedWith(yardgraph, kind, 'id', created);
  const gone = created.filter((id) => !stored.has(id));
  if (gone.length === 0) return;
  throw new StartError(
    `the import cannot go on: records that it has stored are not there any more, as after an undo, and would not be stored again (${counted(gone.length, kind)}, such as ${gone[0]}). Undo the rest of its changes, and ${anew}`,
  );
}

/**
 * Returns a function that is called with each row once, and refuses it if an earlier row has the same upsert key: the later one would overwrite
 * what the earlier one has stored. A refused row counts, too, so that a preview and each start decide alike.
 */
function keyChecker({ files, upsertKeys }: Import) {
  /** By the key: the line and the place of the file, as one number. */
  const firstRows = new Map<RecordKind, Map<string, number>>([...upsertKeys.keys()].map((kind) => [kind, new Map()]));
  return (file: ImportFile, row: RecordRow): RecordRow => {
    const by = upsertKeys.get(row.kind) ?? '';
    const key = nameOf(row, by);
    if (key === undefined || isBlank(key)) return row;
    const first = firstRows.get(row.kind)?.get(key);
    if (first === undefined) {
      firstRows.get(row.kind)?.set(copied(key), row.source.line * files.length + files.indexOf(file));
      return row;
    }
    const firstFile = files[first % files.length];
    const line = `line ${Math.floor(first / files.length)}${firstFile === file ? '' : ` of ${firstFile?.name}`}`;
    const message = `${line} also has the ${by} ${quote(key)}`;
    return { ...row, issues: [...row.issues, { path: pathOf(by), message }] };
  };
}

/** Sends rows whose links are set. Without a key it is a preview, which has the records of rows that are not created, too. */
async function deliver(
  { yardgraph, upsertKeys, createMissing }: Import,
  kind: RecordKind,
  rows: readonly LinkedRow[],
  key: string | undefined,
): Promise<SentRow[]> {
  const by = upsertKeys.get(kind);
  const valid = rows.filter(({ issues }) => issues.length === 0);
  const records = valid.map(({ record }) => record);
  const isPreview = key === undefined;
  const fates = new Map<LinkedRow, Fate>();
  const note = (fate: Fate) => {
    const row = valid[fates.size];
    if (row) fates.set(row, fate);
  };
  if (by === undefined) {
    const sent = records.map((record) => ({ kind: kind.name, record })) as never[];
    const options = { partSize: valid.length, dryRun: isPreview, idempotencyKey: key };
    if (valid.length > 0) for await (const { row: _, ...fate } of yardgraph.import(sent, options)) note(fate);
  } else if (valid.length > 0) {
    const returning = isPreview ? 'change' : 'outcome';
    const options = { onInvalid: 'SKIP', dryRun: isPreview, returning, ...(by === 'id' && { idempotencyKey: key }) };
    for (const { record, before, ...fate } of await methodsOf(yardgraph, kind).upsert(keyOf(by), records, options)) {
      note({ ...fate, id: record?.id as string, before: before ?? undefined, after: record ?? undefined });
    }
  }
  const toSay = (issue: Issue) => asInFile(issue, valid, createMissing);
  return rows.map((row) => {
    const { issues, ...fate } = fates.get(row) ?? { outcome: 'REJECTED', issues: row.issues };
    return { ...row, ...fate, issues: issues?.map(toSay) ?? [] };
  });
}

const keyOf = (by: string): object => {
  const externalId = externalKey(by);
  return externalId === undefined ? { field: constantCase(by) } : { externalId };
};

/** Names other rows by their lines, where the service names them by their places in the batch, and the options that help. */
function asInFile({ path, message }: Issue, rows: readonly LinkedRow[], created: ReadonlySet<RecordKind>): Issue {
  const place = /^item \[(\d+)\] of this batch/.exec(message);
  const line = rows[Number(place?.[1])]?.row.source.line;
  if (place && line !== undefined) return { path, message: message.replace(place[0], `line ${line}`) };
  const target = linkOrder.find(({ label }) => message.startsWith(`there is no ${label} with the name `));
  if (path[1] === 'name' && target && !created.has(target)) {
    return { path, message: `${message}: create it with --create-missing ${listField(target)}` };
  }
  const isContradiction = /^expected one [a-z ]+, received .* and /.test(message);
  return {
    path,
    message: isContradiction ? `${message}: change them alike, or leave a column out with --skip` : message,
  };
}

interface LateLink {
  readonly cells: LinkCells;
  readonly row: RecordRow;
  readonly file: ImportFile;
  /** The ID of its record. */
  readonly record: string;
}

/** Sets links to rows of the same kind. Returns how many records it changed, and what is to be said of links that cannot be set. */
async function setLateLinks({ yardgraph, partSize, signal }: Import, linking: Linking, late: readonly LateLink[]) {
  let changed = 0;
  const unset: string[] = [];
  const refuse = ({ row, file, cells: [{ field, value }] }: LateLink, message = '') =>
    unset.push(`${file.name}, line ${row.source.line}: ${field} ${quote(value ?? '')} is not set: ${message}`);
  for (const kind of new Set(late.map(({ row }) => row.kind))) {
    const ofKind = late.filter(({ row }) => row.kind === kind);
    const { upsert } = methodsOf(yardgraph, kind);
    for (let start = 0; start < ofKind.length; start += partSize) {
      signal.throwIfAborted();
      const part = ofKind.slice(start, start + partSize);
      const links = await lateLinks(
        linking,
        part.map(({ cells }) => cells),
      );
      const ready = part.flatMap((link, index) => {
        const to = links[index];
        if (to === undefined || to === 'later') return [];
        if ('values' in to) return [{ link, update: { id: link.record, ...to.values } }];
        refuse(link, to.issue.message);
        return [];
      });
      if (linking.isPreview || ready.length === 0) continue;
      const send = async (some: readonly (typeof ready)[number][]) => {
        const updates = some.map(({ update }) => update);
        const sent = await upsert(keyOf('id'), updates, { onInvalid: 'SKIP', returning: 'outcome' });
        for (const [index, { outcome, issues }] of sent.entries()) {
          const link = some[index]?.link;
          if (outcome === 'UPDATED') changed += 1;
          else if (link && issues) refuse(link, issues[0]?.message);
        }
        return [];
      };
      await halving(ready, send, ({ link }, message) => refuse(link, message));
    }
  }
  return { changed, unset };
}

/** The stored records that have a key and are not in the files: by kind, those first that link to others. */
export async function missingRecords(work: Import, { kept }: Sent): Promise<Map<RecordKind, string[]>> {
  const missing = new Map<RecordKind, string[]>();
  for (const kind of linkOrder.toReversed()) {
    const ids = kept.get(kind);
    if (!ids) continue;
    const options = { where: haveKey(work.upsertKeys.get(kind)), signal: work.signal };
    const others: string[] = [];
    for await (const { id } of work.yardgraph.export(listField(kind) as 'assets', options)) {
      if (!ids.has(id)) others.push(id);
    }
    if (others.length > 0) missing.set(kind, others);
  }
  return missing;
}

/** The filter for records that an upsert by this key may find. */
function haveKey(by: string | undefined) {
  if (by === undefined || by === 'id') return undefined;
  const system = externalKey(by);
  return system === undefined ? { [by]: { isNull: false } } : { externalIds: { key: system } };
}

/** Deletes records. Returns those that others refer to, and are kept. */
export async function deleteRecords({ yardgraph, partSize, signal }: Import, kind: RecordKind, ids: readonly string[]) {
  const refused: Awaited<ReturnType<typeof deleteUnreferenced>> = [];
  for (let start = 0; start < ids.length; start += partSize) {
    signal.throwIfAborted();
    refused.push(...(await deleteUnreferenced(yardgraph, kind, ids.slice(start, start + partSize))));
  }
  return refused;
}
