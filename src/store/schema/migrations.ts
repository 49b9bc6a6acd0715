/** The migrations, by name and in order. Names have no extension: `.ts` and compiled `.js` files use the same databases. */
import type { Knex } from 'knex';
import * as recordKinds from '../../../migrations/0001_record_kinds.ts';
import * as apiKeys from '../../../migrations/0002_api_keys.ts';
import * as workspaces from '../../../migrations/0003_workspaces.ts';
import * as indexes from '../../../migrations/0004_indexes.ts';
import * as changes from '../../../migrations/0005_changes.ts';
import * as externalIdTriggers from '../../../migrations/0006_external_id_triggers.ts';
import * as locks from '../../../migrations/0007_locks.ts';
import * as fewerIndexes from '../../../migrations/0008_fewer_indexes.ts';
import * as workspaceNumbers from '../../../migrations/0009_workspace_numbers.ts';

const migrations: Readonly<Record<string, Knex.Migration>> = {
  '0001_record_kinds': recordKinds,
  '0002_api_keys': apiKeys,
  '0003_workspaces': workspaces,
  '0004_indexes': indexes,
  '0005_changes': changes,
  '0006_external_id_triggers': externalIdTriggers,
  '0007_locks': locks,
  '0008_fewer_indexes': fewerIndexes,
  '0009_workspace_numbers': workspaceNumbers,
};

export const migrationNames: readonly string[] = Object.keys(migrations);

export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => [...migrationNames],
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const migration = migrations[name];
    if (!migration) throw new Error(`no migration is called ${name}`);
    return migration;
  },
};

/** The newest migration, which says which databases this version of the service can use. */
export const schemaVersion = migrationNames.at(-1) ?? '';
