/**
 * Creates of kinds with a REST route, `assetCategories.list` and `projects.update(id, …)` use REST, the other methods
 * GraphQL.
 */
import { type Changes, changeCursor, changes, type RevertChanges, revertChanges } from './changes.ts';
import { type ExportFile, type ExportRows, exportFile, exportRows } from './export.ts';
import { type Graphql, graphql } from './graphql.ts';
import { type ImportRecords, type ImportRows, importRecords, importRows } from './import.ts';
import type { AssetCategory, Project, ProjectChanges } from './openapi.ts';
import { type Options, readOptions } from './options.ts';
import { type List, list, type RecordMethods, type Records, recordMethods, type Update, update } from './records.ts';
import { createSend } from './send.ts';

/**
 * A client for a Yardgraph service. The constructor throws a TypeError for an invalid option. A key that a function
 * returns is checked before each attempt: if it is invalid, requests reject with a TypeError. The properties, text and
 * JSON of the client do not show the key.
 */
export class Yardgraph implements RecordMethods {
  readonly assets!: Records<'Asset'>;
  readonly workOrders!: Records<'WorkOrder'>;
  readonly projects!: Omit<Records<'Project'>, 'update'> & {
    /**
     * Changes a project by its ID, or a batch. Absent fields stay, null clears a field, `externalIds` replaces all IDs.
     */
    readonly update: Update<ProjectChanges, Project> & Records<'Project'>['update'];
  };
  readonly locations!: Records<'Location'>;
  readonly transportOrders!: Records<'TransportOrder'>;
  readonly assetCategories!: Records<'AssetCategory'> & {
    /** Returns all asset categories of the workspace, oldest first. */
    readonly list: List<AssetCategory>;
  };
  /** Times for which assets are reserved. */
  readonly allocations!: Records<'Allocation'>;
  /** The names and colours of statuses, companies and other entities that other systems keep. */
  readonly labels!: Records<'Label'>;
  /**
   * Creates records of several kinds, or updates records found by a key, all or none. A record can link to another of
   * the import by its `ref`, and to any record by name or external IDs.
   */
  readonly importRecords: ImportRecords;
  /** Imports any number of rows of any kinds, part by part. Stores the valid rows of each part. */
  readonly import: ImportRows;
  /** Yields the records of a kind, such as `assets`, or of `all` kinds, from one state of the database. */
  readonly export: ExportRows;
  /** Opens a file with the records of a kind, or of all kinds. */
  readonly exportFile: ExportFile;
  /**
   * Follows the changes of the workspace, page by page, in the order of their commits, each once, also across restarts
   * of the service. Ends by `break`, `signal`, or with `follow: false` after the last change. To continue later, store
   * the `endCursor` of each page.
   */
  readonly changes: Changes;
  /**
   * Returns the cursor of the last change. A new consumer first gets this cursor, then reads the records, then follows
   * `changes` after it.
   */
  readonly changeCursor: () => Promise<string>;
  /**
   * Restores the records of a range of changes, such as an import, to their state before it, in one transaction. A
   * record that has changed since is kept, and listed.
   */
  readonly revertChanges: RevertChanges;
  /**
   * Returns the data of a GraphQL operation. Throws a GraphqlError if the response has errors, even if it has data.
   * Documents of GraphQL Code Generator and gql.tada have types. For text, you can give types as parameters, which are
   * not checked; without them, the data is untyped.
   */
  readonly graphql: Graphql;

  constructor(options: Options) {
    const send = createSend(readOptions(options));
    this.graphql = graphql(send);
    Object.assign(this, recordMethods(send, this.graphql));
    this.projects = { ...this.projects, update: oneOrMany(update(send, '/projects'), this.projects.update) };
    this.assetCategories = { ...this.assetCategories, list: list(send, '/asset-categories') };
    this.importRecords = importRecords(this.graphql);
    this.import = importRows(this.graphql);
    this.exportFile = exportFile(send);
    this.export = exportRows(this.exportFile);
    this.changes = changes(this.graphql);
    this.changeCursor = changeCursor(this.graphql);
    this.revertChanges = revertChanges(this.graphql);
  }
}

/** Accepts a project by its ID, as in clients without batches of changes, or a batch. */
const oneOrMany = (
  one: Update<ProjectChanges, Project>,
  many: Records<'Project'>['update'],
): Yardgraph['projects']['update'] =>
  ((first: never, second: never, third: never) =>
    Array.isArray(first) ? many(first, second) : one(first, second, third)) as never;
