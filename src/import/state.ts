/**
 * Where an import is, in a small SQLite file beside its first file, so that it goes on after it was stopped at any moment: what is stored,
 * the IDs that rows got, and the links that could not be set yet.
 */
import { rmSync, statSync } from 'node:fs';
import sqlite3 from 'sqlite3';
import { errorCode, StartError } from '../errors.ts';
import type { Values } from '../model/record-kind.ts';

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

export type Counts = Readonly<Record<'created' | 'updated' | 'unchanged' | 'refused', number>>;

interface RowId {
  readonly kind: string;
  readonly id: string;
}

export interface Names {
  readonly ids: readonly RowId[];
  readonly outside: readonly (readonly [kind: string, key: string, value: string])[];
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
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened = new sqlite3.Database(path, (error) => (error ? reject(cannotWrite(path, error)) : resolve(opened)));
  });
  /** Lists are sent as JSON. */
  const all = <T = Values>(sql: string, ...values: readonly unknown[]): Promise<readonly T[]> =>
    new Promise((resolve, reject) => {
      const sent = values.map((value) => (typeof value === 'object' ? JSON.stringify(value) : value));
      database.all<T>(sql, sent, (error, rows) => (error ? reject(error) : resolve(rows)));
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
    if (code === 'SQLITE_NOTADB') throw notState(path);
    if (statSync(path).size === 0) rmSync(path);
    throw cannotWrite(path, error);
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
  async function note({ ids, outside }: Names, ofIds: string, ofOutside: string): Promise<void> {
    if (ids.length + outside.length === 0) return;
    await transaction(async () => {
      await all(ofIds, ids);
      await all(ofOutside, outside);
    });
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
    expectRows: (names: Names): Promise<void> =>
      note(
        names,
        `INSERT OR IGNORE INTO ids SELECT value ->> 'kind', value ->> 'id', NULL, NULL FROM json_each(?)`,
        `INSERT OR IGNORE INTO outside SELECT value ->> 0, value ->> 1, value ->> 2, NULL FROM json_each(?)`,
      ),
    /** Returns what became of the rows: their record's ID, null if they come later, or an empty text if they were refused. */
    async findRows(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
      const sql = 'SELECT id, record FROM ids WHERE kind = ? AND id IN (SELECT value FROM json_each(?))';
      const found = await all<{ id: string; record: string | null }>(sql, kind, ids);
      return new Map(found.map(({ id, record }) => [id, record]));
    },
    expectRefusal: (names: Names): Promise<void> =>
      note(
        names,
        `UPDATE ids SET refused = 1 WHERE (kind, id) IN (SELECT value ->> 'kind', value ->> 'id' FROM json_each(?))`,
        `UPDATE outside SET refused = 1
         WHERE (kind, key, value) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
      ),
    /** Returns which of these IDs rows have that were noted: true if they would be refused. */
    async findExpected(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
      const sql = 'SELECT id, refused FROM ids WHERE kind = ? AND id IN (SELECT value FROM json_each(?))';
      const found = await all<{ id: string; refused: unknown }>(sql, kind, ids);
      return new Map(found.map(({ id, refused }) => [id, refused !== null]));
    },
    /** Returns those of these external IDs that rows of this import have, unless they would be refused. */
    async findOutside(kind: string, key: string, values: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await all<{ value: string }>(
        'SELECT value FROM outside WHERE kind = ? AND key = ? AND refused IS NULL AND value IN (SELECT value FROM json_each(?))',
        kind,
        key,
        values,
      );
      return new Set(found.map(({ value }) => value));
    },
    /** Stores what a part has done, all or nothing. */
    async advance(
      changed: Progress,
      ids: readonly (RowId & { readonly record: string })[] = [],
      late: readonly LateLink[] = [],
    ): Promise<void> {
      await transaction(async () => {
        // A refused row does not take the place of an earlier one with its ID.
        await all(
          `INSERT INTO ids SELECT value ->> 'kind', value ->> 'id', value ->> 'record', NULL FROM json_each(?) WHERE true
           ON CONFLICT (kind, id) DO UPDATE SET record = excluded.record WHERE COALESCE(ids.record, '') = ''`,
          ids,
        );
        await all(
          `INSERT OR REPLACE INTO late SELECT value ->> 'kind', value ->> 'record', value ->> 'field', value ->> 'target', value ->> 'id', NULL FROM json_each(?)`,
          late,
        );
        await all('DELETE FROM progress');
        await all('INSERT INTO progress VALUES (?)', changed);
      });
      progress = changed;
    },
    /** Returns links that are still to be set, with the ID of the record that they lead to, empty if its row was refused. */
    lateLinks: (limit: number) =>
      all<LateLink & { readonly to: string }>(
        `SELECT late.kind, late.record, field, target, late.id, COALESCE(ids.record, '') AS "to"
         FROM late LEFT JOIN ids ON ids.kind = target AND ids.id = late.id
         WHERE message IS NULL ORDER BY late.kind, late.record LIMIT ?`,
        limit,
      ),
    /** Notes that these links were set, but for those with a message, which say why they could not be. */
    settle: (links: readonly LateLink[], unset: readonly UnsetLink[]): Promise<void> =>
      transaction(async () => {
        await all(
          'DELETE FROM late WHERE (record, field) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))',
          links.map(({ record, field }) => [record, field]),
        );
        for (const { kind, record, field, target, id, message } of unset) {
          await all('INSERT INTO late VALUES (?, ?, ?, ?, ?, ?)', kind, record, field, target, id, message);
        }
      }),
    /** The first links that could not be set, and the number of all. */
    async unsetLinks(limit: number) {
      const unset = 'FROM late WHERE message IS NOT NULL';
      const first = await all<UnsetLink>(`SELECT * ${unset} ORDER BY kind, record LIMIT ?`, limit);
      const [counted] = await all(`SELECT COUNT(*) AS number ${unset}`);
      return { first, count: Number(counted?.number) };
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
    throw notState(path);
  }
}

const notState = (path: string): StartError => new StartError(`${path} is not the state of an import: move it away`);

const cannotWrite = (path: string, error: unknown): StartError =>
  new StartError(
    `cannot write ${path}, where an import notes what it has done: ${error instanceof Error ? error.message : error}`,
  );
