/**
 * `yardgraph indexes`: lists the indexes of records, and adds or drops one that the operator's own filters and orders need. The service
 * may run meanwhile.
 */
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { recordKinds } from '../records/index.ts';
import type { Database } from '../store/database.ts';
import { addIndex, dropIndex, fieldsToIndex, indexName, listIndexes } from '../store/schema/indexes.ts';
import { longStatementTimeout, requireUpToDate, withDatabase } from './database.ts';
import { printTable } from './terminal.ts';

const withIndexes = (config: Config, work: (database: Database) => Promise<void>): Promise<void> =>
  withDatabase(config, { statementTimeout: longStatementTimeout }, async (database) => {
    await requireUpToDate(database);
    await work(database);
  });

export const listAllIndexes = (config: Config, { json = false }: { json?: boolean }) =>
  withIndexes(config, async (database) => {
    const list = (await listIndexes(database, recordKinds)).map(({ kind, field, name, bytes, isOwn, isValid }) => ({
      index: name,
      table: kind.table,
      kind: listField(kind),
      field,
      bytes,
      origin: isOwn ? 'service' : isValid ? 'added' : 'added, not complete',
    }));
    // Scripts read this: fields may be added, but none is renamed or removed.
    if (json) return console.log(JSON.stringify(list, null, 2));
    printTable(
      ['index', 'table', 'kind', 'field', 'bytes', 'origin'],
      list.map(({ index, table, kind, field, bytes, origin }) => [index, table, kind, field, bytes, origin]),
    );
  });

export async function addIndexOf(config: Config, kindName: string, field: string): Promise<void> {
  const kind = findKind(kindName);
  requireField(kind, field);
  await withIndexes(config, async (database) => {
    const found = await findIndex(database, kind, field);
    if (found?.isValid) throw new StartError(`<field>: ${field} has an index already`);
    if (found) console.error(`Dropping ${found.name} first, which an earlier attempt left incomplete.`);
    await addIndex(database, kind, field);
    console.log(`Added ${indexName(kind, field)}. Restart the service, so that all of its queries use it.`);
  });
}

export async function dropIndexOf(config: Config, kindName: string, field: string): Promise<void> {
  const kind = findKind(kindName);
  requireField(kind, field);
  await withIndexes(config, async (database) => {
    if (!(await findIndex(database, kind, field))) throw new StartError(`<field>: ${field} has no index`);
    await dropIndex(database, kind, field);
    console.log(`Dropped ${indexName(kind, field)}.`);
  });
}

function findKind(name: string): RecordKind {
  const kind = recordKinds.find((other) => listField(other) === name);
  if (kind) return kind;
  throw new StartError(`<kind>: ${expected(recordKinds.map(listField).join(', '), name)}`);
}

/** Throws StartError for fields whose indexes the service itself needs. */
function requireField(kind: RecordKind, field: string): void {
  if (kind.storedFields[field]?.indexed)
    throw new StartError(`<field>: the service itself needs the index of ${field}`);
  const fields = fieldsToIndex(kind);
  if (!fields.includes(field)) throw new StartError(`<field>: ${expected(fields.join(', '), field)}`);
}

async function findIndex(database: Database, kind: RecordKind, field: string) {
  const list = await listIndexes(database, [kind]);
  return list.find(({ name }) => name === indexName(kind, field));
}
