/** The client: the eight operations and GraphQL, a line each, with the types of the OpenAPI document. */
import { graphql } from './graphql.ts';
import type {
  Asset,
  AssetCategory,
  Location,
  NewAsset,
  NewAssetCategory,
  NewLocation,
  NewProject,
  NewTransportOrder,
  NewWorkOrder,
  Project,
  ProjectChanges,
  TransportOrder,
  WorkOrder,
} from './openapi.ts';
import { type Options, readOptions } from './options.ts';
import { type Create, create, type List, list, type Update, update } from './rest.ts';
import { createSend } from './send.ts';

export type { CreateOptions } from './rest.ts';

/**
 * A service and how to reach it. Keeps its key to itself: no property, text or JSON of it has the key.
 * Throws a TypeError when the options cannot be meant.
 */
export class Yardgraph {
  readonly assets: { readonly create: Create<NewAsset, Asset> };
  readonly workOrders: { readonly create: Create<NewWorkOrder, WorkOrder> };
  readonly projects: {
    readonly create: Create<NewProject, Project>;
    /** Fields that are absent stay as they are, null clears a field, `externalIds` is replaced as a whole. */
    readonly update: Update<ProjectChanges, Project>;
  };
  readonly locations: { readonly create: Create<NewLocation, Location> };
  readonly transportOrders: { readonly create: Create<NewTransportOrder, TransportOrder> };
  readonly assetCategories: {
    readonly create: Create<NewAssetCategory, AssetCategory>;
    /** All of the workspace, oldest first. */
    readonly list: List<AssetCategory>;
  };
  /**
   * The data of a GraphQL operation. Throws a GraphqlError when there are errors, even beside data.
   * Nobody checks that the data has the type that is asked for.
   */
  readonly graphql: <Data = unknown>(document: string, variables?: Readonly<Record<string, unknown>>) => Promise<Data>;

  constructor(options: Options) {
    const send = createSend(readOptions(options));
    this.assets = { create: create(send, '/assets') };
    this.workOrders = { create: create(send, '/work-orders') };
    this.projects = { create: create(send, '/projects'), update: update(send, '/projects') };
    this.locations = { create: create(send, '/locations') };
    this.transportOrders = { create: create(send, '/transport-orders') };
    this.assetCategories = { create: create(send, '/asset-categories'), list: list(send, '/asset-categories') };
    this.graphql = graphql(send);
  }
}
