/**
 * Where an import is, in a small SQLite file beside its first file, so that it goes on after it was stopped at any moment: what is stored,
 * the IDs that rows got, and the links that could not be set yet.
 */
import { rmSync, statSync } from 'node:fs';
import sqlite3 from 'sqlite3';
import { errorCode, StartError } from '../errors.ts';

export interface Progress {
  /** Identifies the import in the idempotency keys of its parts, and in its change message. */
  readonly run: string;
  /** The hashes of the files, and everything else that decides what is sent. */
  readonly identity: string;
  /** The kinds in the files, in the order in which they are written: the place of a file among the files, and the name of a kind. */
  readonly sections: readonly (readonly [file: number, kind: string])[];
  readonly total: number;
  /** The cursor of the last change before the first write. */
  readonly after?: string;
  /** The section that is being written, and the number of its rows that are done. */
  readonly section: number;
  readonly rows: number;
  /** When the next part was first sent, in milliseconds: the service knows its idempotency key for 24 hours. */
  readonly since: number;
  readonly counts: Counts;
  /** The files of refused rows, one for each file: their names, which nothing had before the import, and their lengths in bytes. */
  readonly refused: readonly RefusedFile[];
}

export interface RefusedFile {
  readonly name: string;
  readonly bytes: number;
}

export interface Counts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: number;
}

interface RowId {
  readonly kind: string;
  readonly id: string;
}

/** An external ID that a row has. */
type OutsideId = readonly [kind: string, key: string, value: string];

export interface Names {
  readonly ids: readonly RowId[];
  readonly outside: readonly OutsideId[];
}

/** A link that could not be set, since its target comes later. */
export interface LateLink {
  readonly kind: string;
  readonly record: string;
  readonly field: string;
  readonly target: string;
  /** The ID in the file of the row that it leads to. */
  readonly id: string;
}

/** A link that could not be set, because the row that it leads to was refused, or the service refused the link. */
export interface UnsetLink extends LateLink {
  readonly message: string;
}

export type State = Awaited<ReturnType<typeof openState>>;

const tables = `
  CREATE TABLE IF NOT EXISTS progress (json TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS ids (kind TEXT, id TEXT, record TEXT, refused INTEGER, PRIMARY KEY (kind, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS outside (kind TEXT, key TEXT, value TEXT, refused INTEGER, PRIMARY KEY (kind, key, value)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS late (kind TEXT, record TEXT, field TEXT, target TEXT, id TEXT, message TEXT, PRIMARY KEY (record, field)) WITHOUT ROWID;
`;

/** Throws a StartError if another process has it open: it imports the same files. */
export async function openState(path: string) {
  const database = await open(path);
  const all = (sql: string, values: readonly unknown[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    new Promise((resolve, reject) => {
      database.all(sql, values, (error, rows) =>
        error ? reject(error) : resolve(rows as readonly Readonly<Record<string, unknown>>[]),
      );
    });
  const close = () => new Promise<void>((resolve) => database.close(() => resolve()));

  try {
    await all('PRAGMA locking_mode = EXCLUSIVE');
    await all('PRAGMA synchronous = FULL');
    await all('BEGIN EXCLUSIVE');
    for (const sql of tables.split(';')) if (sql.trim() !== '') await all(sql);
    await all('COMMIT');
  } catch (error) {
    await close();
    const code = errorCode(error);
    if (code === 'SQLITE_BUSY') throw new StartError(`another import of these files is running (it has ${path} open)`);
    if (code === 'SQLITE_NOTADB') throw new StartError(`${path} is not the state of an import: move it away`);
    if (statSync(path).size === 0) rmSync(path);
    throw cannotWrite(path, error as Error);
  }

  async function transaction(work: () => Promise<void>): Promise<void> {
    await all('BEGIN');
    try {
      await work();
      await all('COMMIT');
    } catch (error) {
      // A full disk may have rolled it back already; its error is the one to throw.
      await all('ROLLBACK').catch(() => {});
      throw error;
    }
  }
  async function setProgress(changed: Progress): Promise<void> {
    await all('DELETE FROM progress');
    await all('INSERT INTO progress VALUES (?)', [JSON.stringify(changed)]);
  }
  const [row] = await all('SELECT json FROM progress');
  let progress = row && readProgress(path, String(row.json));
  if (progress?.after === undefined) {
    // Stopped before it stored anything: the files are read again, and may be others.
    progress = undefined;
    await transaction(async () => {
      for (const table of ['progress', 'ids', 'outside', 'late']) await all(`DELETE FROM ${table}`);
    });
  }

  return {
    /** Undefined until all files have been read; then of an import that has stored something, or of this one. */
    progress: (): Progress | undefined => progress,
    async expectRows({ ids, outside }: Names): Promise<void> {
      if (ids.length + outside.length === 0) return;
      await transaction(async () => {
        await all(`INSERT OR IGNORE INTO ids SELECT value ->> 'kind', value ->> 'id', NULL, NULL FROM json_each(?)`, [
          JSON.stringify(ids),
        ]);
        await all(
          `INSERT OR IGNORE INTO outside SELECT value ->> 0, value ->> 1, value ->> 2, NULL FROM json_each(?)`,
          [JSON.stringify(outside)],
        );
      });
    },
    /** Returns what became of the rows: their record's ID, null if they come later, or an empty text if they were refused. */
    async findRows(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
      const found = await all('SELECT id, record FROM ids WHERE kind = ? AND id IN (SELECT value FROM json_each(?))', [
        kind,
        JSON.stringify(ids),
      ]);
      return new Map(found.map(({ id, record }) => [String(id), record === null ? null : String(record)]));
    },
    async expectRefusal({ ids, outside }: Names): Promise<void> {
      if (ids.length + outside.length === 0) return;
      await transaction(async () => {
        await all(
          `UPDATE ids SET refused = 1 WHERE (kind, id) IN (SELECT value ->> 'kind', value ->> 'id' FROM json_each(?))`,
          [JSON.stringify(ids)],
        );
        await all(
          `UPDATE outside SET refused = 1
           WHERE (kind, key, value) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
          [JSON.stringify(outside)],
        );
      });
    },
    /** Returns which of these IDs rows have that were noted: true if they would be refused. */
    async findExpected(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
      const found = await all('SELECT id, refused FROM ids WHERE kind = ? AND id IN (SELECT value FROM json_each(?))', [
        kind,
        JSON.stringify(ids),
      ]);
      return new Map(found.map(({ id, refused }) => [String(id), refused !== null]));
    },
    /** Returns those of these external IDs that rows of this import have, unless they would be refused. */
    async findOutside(kind: string, key: string, values: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await all(
        'SELECT value FROM outside WHERE kind = ? AND key = ? AND refused IS NULL AND value IN (SELECT value FROM json_each(?))',
        [kind, key, JSON.stringify(values)],
      );
      return new Set(found.map(({ value }) => String(value)));
    },
    async advance(
      changed: Progress,
      {
        ids = [],
        late = [],
      }: { readonly ids?: readonly (RowId & { readonly record: string })[]; readonly late?: readonly LateLink[] } = {},
    ): Promise<void> {
      await transaction(async () => {
        if (ids.length > 0) {
          // A refused row does not take the place of an earlier one with its ID.
          await all(
            `INSERT INTO ids SELECT value ->> 'kind', value ->> 'id', value ->> 'record', NULL FROM json_each(?) WHERE true
             ON CONFLICT (kind, id) DO UPDATE SET record = excluded.record WHERE COALESCE(ids.record, '') = ''`,
            [JSON.stringify(ids)],
          );
        }
        if (late.length > 0) {
          await all(
            `INSERT OR REPLACE INTO late SELECT value ->> 'kind', value ->> 'record', value ->> 'field', value ->> 'target', value ->> 'id', NULL FROM json_each(?)`,
            [JSON.stringify(late)],
          );
        }
        await setProgress(changed);
      });
      progress = changed;
    },
    /** Returns links that are still to be set, with the ID of the record that they lead to, empty if its row was refused. */
    async lateLinks(limit: number): Promise<readonly (LateLink & { readonly to: string })[]> {
      const found = await all(
        `SELECT late.kind, late.record, field, target, late.id, COALESCE(ids.record, '') AS "to"
         FROM late LEFT JOIN ids ON ids.kind = target AND ids.id = late.id
         WHERE message IS NULL ORDER BY late.kind, late.record LIMIT ?`,
        [limit],
      );
      return found as readonly object[] as readonly (LateLink & { to: string })[];
    },
    /** Notes that these links were set, but for those with a message, which say why they could not be. */
    async settle(links: readonly LateLink[], unset: readonly UnsetLink[]): Promise<void> {
      await transaction(async () => {
        await all(`DELETE FROM late WHERE (record, field) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`, [
          JSON.stringify(links.map(({ record, field }) => [record, field])),
        ]);
        for (const { kind, record, field, target, id, message } of unset) {
          await all('INSERT INTO late VALUES (?, ?, ?, ?, ?, ?)', [kind, record, field, target, id, message]);
        }
      });
    },
    async unsetLinks(limit: number): Promise<{ readonly first: readonly UnsetLink[]; readonly count: number }> {
      const first = await all('SELECT * FROM late WHERE message IS NOT NULL ORDER BY kind, record LIMIT ?', [limit]);
      const [counted] = await all('SELECT COUNT(*) AS number FROM late WHERE message IS NOT NULL');
      return { first: first as readonly object[] as readonly UnsetLink[], count: Number(counted?.number) };
    },
    close,
    async remove(): Promise<void> {
      await close();
      rmSync(path, { force: true });
    },
  };
}

function readProgress(path: string, json: string): Progress {
  try {
    return JSON.parse(json);
  } catch {
    throw new StartError(`${path} is not the state of an import: move it away`);
  }
}

const open = (path: string): Promise<sqlite3.Database> =>
  new Promise((resolve, reject) => {
    const database = new sqlite3.Database(path, (error) => {
      if (error) reject(cannotWrite(path, error));
      else resolve(database);
    });
  });

const cannotWrite = (path: string, { message }: Error): StartError =>
  new StartError(`cannot write ${path}, where an import notes what it has done: ${message}`);
