/** `create` prints only the key on standard output, to be piped into a secret store. */
import * as z from 'zod';
import { anonymousWorkspace } from '../auth/keyring.ts';
import {
  createKey,
  isShortText,
  isWorkspaceName,
  type NewKey,
  revokeKey,
  stateOf,
  workspaceNameForm,
} from '../auth/keys.ts';
import { type Config, duration } from '../config.ts';
import { StartError } from '../errors.ts';
import { listField, pluralizeRecords } from '../model/labels.ts';
import { program } from '../program.ts';
import { kindNamed, recordKinds } from '../records/index.ts';
import { type ApiKey, createKeyStore, type KeyStore } from '../store/admin/api-keys.ts';
import { createWorkspaces, recordCount } from '../store/admin/workspaces.ts';
import type { Database, Run } from '../store/database.ts';
import { createTablesIfNew, requireUpToDate, withDatabase } from './database.ts';
import { printTable } from './terminal.ts';

/** Throws a StartError if it cannot be written, which rolls the transaction back. */
async function printKey(text: string): Promise<void> {
  const { stdout } = process;
  // Without a listener, the error would end the process within the transaction.
  const failed = new Promise<Error>((resolve) => stdout.once('error', resolve));
  const written = new Promise<Error | null | undefined>((resolve) => stdout.write(`${text}\n`, resolve));
  if (await Promise.race([written, failed])) {
    throw new StartError('the key cannot be written to standard output: nothing was changed');
  }
}

/** Commits after printing: nobody misses a stored key. A retry would print a second key. */
const commitAfterPrinting = <T>(
  { transaction, dialect }: Database,
  work: (store: KeyStore, run: Run) => Promise<T>,
): Promise<T> => transaction((run) => work(createKeyStore({ run, read: run, dialect }), run), { maxAttempts: 1 });

const withKeyStore = (
  config: Config,
  work: (store: KeyStore, database: Database) => Promise<void>,
  { mayCreate = false } = {},
): Promise<void> =>
  withDatabase(config, { mayCreate }, async (database) => {
    await createTablesIfNew(database);
    await work(createKeyStore(database), database);
  });

export function createApiKey(config: Config, options: Partial<z.input<typeof newKeyOptions>>): Promise<void> {
  const newKey = parseNewKey(options);
  return withKeyStore(
    config,
    async (store, database) => {
      const isFirst = await store.isDefinitelyEmpty();
      const printHints = await prepareHints(database, newKey.workspace, isFirst);
      const key = await commitAfterPrinting(database, async (transaction, run) => {
        const { dialect } = database;
        if (dialect.lockMaintenance) await run(dialect.lockMaintenance);
        const created = await createKey(transaction, newKey);
        await printKey(created.text);
        return created.key;
      });
      const end =
        key.expiresAt === null ? 'never expires' : `expires in ${options.expires}, ${minute(key.expiresAt)} UTC`;
      console.error(`Created a key for ${key.userId} in the workspace ${key.workspace.name}; ${rightsOf(key)}; ${end}`);
      console.error('It is not shown again. To revoke it, use its prefix:', key.id);
      printHints();
    },
    { mayCreate: true },
  );
}

/**
 * The first key closes the anonymous workspace, and a new workspace may be a misspelt name. While a cluster is partly
 * unavailable, the key is created without these hints.
 */
async function prepareHints(database: Database, name: string, isFirst: boolean): Promise<() => void> {
  const workspaces = createWorkspaces(database, recordKinds);
  const existing = await workspaces.find(name).catch(() => null);
  const open =
    isFirst && name !== anonymousWorkspace ? await workspaces.find(anonymousWorkspace).catch(() => null) : null;
  return () => {
    if (isFirst) console.error('This is the first key: from now on, every request needs a key.');
    else if (existing === undefined) console.error(`The workspace ${name} is new.`);
    if (!open) return;
    const stored = pluralizeRecords(recordCount(open));
    console.error(`Stored so far: ${stored} in the workspace ${open.name}, to which this key gives no access.`);
    console.error(`To move it, run: ${program} workspaces rename ${open.name} ${name}`);
  };
}

export const revokeApiKey = (config: Config, prefix: string) =>
  withKeyStore(config, async (store) => {
    await revokeKey(store, prefix);
    console.error(`Revoked the key ${prefix}: every process rejects it within five seconds.`);
  });

export const listApiKeys = (config: Config, { json = false }: { json?: boolean }) =>
  withDatabase(config, {}, async (database) => {
    await requireUpToDate(database);
    const keys = await createKeyStore(database).list();
    if (json) return console.log(JSON.stringify(keys.map(keyJson), null, 2));
    if (keys.length === 0) return console.error(`There are no keys: create one with ${program} keys create.`);
    const rows = keys.map((key) => columns.map(([, cell]) => cell(key)));
    printTable(
      columns.map(([head]) => head),
      rows,
    );
  });

/** Scripts read this: fields may be added, not renamed or removed. Times are in ISO 8601, or null. */
const keyJson = (key: ApiKey) => ({
  prefix: key.id,
  workspace: key.workspace.name,
  user: key.userId,
  readOnly: key.readOnly,
  write: key.writes && kindsOf(key.writes),
  label: key.label,
  state: stateOf(key),
  createdAt: key.createdAt,
  lastUsedAt: key.lastUsedAt,
  lastUsedFrom: key.lastUsedFrom,
  expiresAt: key.expiresAt,
  revokedAt: key.revokedAt,
});

const columns: readonly (readonly [head: string, cell: (key: ApiKey) => string])[] = [
  ['prefix', (key) => key.id],
  ['workspace', (key) => key.workspace.name],
  ['user', (key) => key.userId],
  ['rights', (key) => rightsOf(key)],
  ['state', stateOf],
  ['created (UTC)', (key) => minute(key.createdAt)],
  ['last used (UTC)', (key) => minute(key.lastUsedAt)],
  ['from', (key) => key.lastUsedFrom ?? '-'],
  ['expires (UTC)', (key) => minute(key.expiresAt)],
  ['label', (key) => key.label ?? ''],
];

const kindsOf = (writes: string): string[] => writes.split(',').map((name) => listField(kindNamed(name)));

function rightsOf({ readOnly, writes }: ApiKey): string {
  if (readOnly) return 'read-only';
  return writes ? `read, write ${kindsOf(writes).join()}` : 'read and write';
}

const minute = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';

const required = z.string({ error: 'required' });

const shortTextForm = { error: 'expected 1 to 255 characters, no control characters' };

const kindNames = recordKinds.map(listField);

const newKeyOptions = z.object({
  workspace: required.refine(isWorkspaceName, { error: workspaceNameForm }),
  user: required.refine(isShortText, shortTextForm),
  readOnly: z.boolean(),
  write: z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .refine((names) => names.every((name) => kindNames.includes(name)), {
      error: `expected ${kindNames.join()}, or some of them`,
    })
    .transform((names) => recordKinds.filter((kind) => names.includes(listField(kind))))
    .optional(),
  expires: duration.optional(),
  label: z.string().refine(isShortText, shortTextForm).optional(),
});

function parseNewKey(given: Partial<z.input<typeof newKeyOptions>>): NewKey {
  const { data, error } = newKeyOptions.safeParse(given);
  if (data) return data;
  throw new StartError(error.issues.map(({ path, message }) => `--${path.join()}: ${message}`).join('\n'));
}
