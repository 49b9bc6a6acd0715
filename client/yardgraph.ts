/** The client: its methods, one line each. Creates and `projects.update(id, …)` are REST operations; the others are GraphQL. */

import { type Changes, changeCursor, changes, type RevertChanges, revertChanges } from './changes.ts';
import { type ExportFile, type ExportRows, exportFile, exportRows } from './export.ts';
import { type Graphql, graphql } from './graphql.ts';
import { type ImportRecords, type ImportRows, importRecords, importRows } from './import.ts';
import type { AssetCategory, Project, ProjectChanges } from './openapi.ts';
import { type Options, readOptions } from './options.ts';
import { type List, list, type Records, records, type Update, update } from './records.ts';
import { createSend } from './send.ts';

/**
 * A client for one Yardgraph service. The API key is not visible in its properties, text or JSON.
 * The constructor throws a TypeError if an option is invalid. Only a key that a function returns is checked later, before each
 * attempt: if it is invalid, requests reject with a TypeError.
 */
export class Yardgraph {
  readonly assets: Records<'Asset'>;
  readonly workOrders: Records<'WorkOrder'>;
  readonly projects: Omit<Records<'Project'>, 'update'> & {
    /**
     * Changes one project, given its ID, or a batch. Leaves absent fields unchanged, clears fields that are null, and replaces
     * `externalIds` as a whole.
     */
    readonly update: Update<ProjectChanges, Project> & Records<'Project'>['update'];
  };
  readonly locations: Records<'Location'>;
  readonly transportOrders: Records<'TransportOrder'>;
  readonly assetCategories: Records<'AssetCategory'> & {
    /** Returns all asset categories of the workspace, oldest first. */
    readonly list: List<AssetCategory>;
  };
  /** The names and colours of statuses, companies and the like, which other systems keep. */
  readonly labels: Records<'Label'>;
  /**
   * Creates records of several kinds, or updates those that are found by a key, all or none. A record can refer to another one of the same
   * import by its `ref`, and to any by its name or external IDs.
   */
  readonly importRecords: ImportRecords;
  /** Imports any number of rows of any kinds, from files or other sources, part by part; the valid rows of each part are stored. */
  readonly import: ImportRows;
  /** Yields all records of a kind, such as `assets`, or of all kinds, `all`, from one state of the database. */
  readonly export: ExportRows;
  /** Opens a file with all records of a kind, or of all kinds. */
  readonly exportFile: ExportFile;
  /**
   * Follows the changes of the workspace, page by page, in the order of their commits: every change once, also while the service
   * restarts. Ends by `break`, by the option `signal`, or with `follow: false` after the last change. To continue later, store the
   * `endCursor` of each page.
   */
  readonly changes: Changes;
  /** Returns the last change's cursor. A new consumer gets it, reads the records, then follows `changes` after it. */
  readonly changeCursor: () => Promise<string>;
  /**
   * Gives the records of a range of changes, such as those of an import, the state back that they had before it, in one transaction.
   * A record that has changed since is kept, and listed.
   */
  readonly revertChanges: RevertChanges;
  /**
   * Returns the data of a GraphQL operation. Throws a GraphqlError if the response has errors, even if it also has data.
   * The types come from the document, if GraphQL Code Generator or gql.tada made it. For text they may be given as type
   * parameters, which nothing checks; without them, the data is untyped.
   */
  readonly graphql: Graphql;

  constructor(options: Options) {
    const send = createSend(readOptions(options));
    this.graphql = graphql(send);
    this.assets = records(send, this.graphql, 'Asset', '/assets');
    this.workOrders = records(send, this.graphql, 'WorkOrder', '/work-orders');
    const projects = records(send, this.graphql, 'Project', '/projects');
    this.projects = { ...projects, update: oneOrMany(update(send, '/projects'), projects.update) };
    this.locations = records(send, this.graphql, 'Location', '/locations');
    this.transportOrders = records(send, this.graphql, 'TransportOrder', '/transport-orders');
    this.assetCategories = {
      ...records(send, this.graphql, 'AssetCategory', '/asset-categories'),
      list: list(send, '/asset-categories'),
    };
    this.labels = records(send, this.graphql, 'Label', '/labels');
    this.importRecords = importRecords(this.graphql);
    this.import = importRows(this.graphql);
    this.exportFile = exportFile(send);
    this.export = exportRows(this.exportFile);
    this.changes = changes(this.graphql);
    this.changeCursor = changeCursor(this.graphql);
    this.revertChanges = revertChanges(this.graphql);
  }
}

/** Accepts one project by its ID, as the client did before it had batches of changes, or a batch. */
const oneOrMany = (
  one: Update<ProjectChanges, Project>,
  many: Records<'Project'>['update'],
): Yardgraph['projects']['update'] =>
  ((first: never, second: never, third: never) =>
    Array.isArray(first) ? many(first, second) : one(first, second, third)) as never;
