/** The client: the eight REST operations and GraphQL, one line each, with the types of the OpenAPI document. */
import { type Graphql, graphql } from './graphql.ts';
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
 * A client for one Yardgraph service. The API key is not visible in its properties, text or JSON.
 * The constructor throws a TypeError if an option is invalid. Only a key that a function returns is checked later, before each
 * attempt: if it is invalid, requests reject with a TypeError.
 */
export class Yardgraph {
  readonly assets: { readonly create: Create<NewAsset, Asset> };
  readonly workOrders: { readonly create: Create<NewWorkOrder, WorkOrder> };
  readonly projects: {
    readonly create: Create<NewProject, Project>;
    /** Leaves absent fields unchanged, clears fields that are null, and replaces `externalIds` as a whole. */
    readonly update: Update<ProjectChanges, Project>;
  };
  readonly locations: { readonly create: Create<NewLocation, Location> };
  readonly transportOrders: { readonly create: Create<NewTransportOrder, TransportOrder> };
  readonly assetCategories: {
    readonly create: Create<NewAssetCategory, AssetCategory>;
    /** Returns all asset categories of the workspace, oldest first. */
    readonly list: List<AssetCategory>;
  };
  /**
   * Returns the data of a GraphQL operation. Throws a GraphqlError if the response has errors, even if it also has data.
   * The types come from the document, if GraphQL Code Generator or gql.tada made it. For text they may be given as type
   * parameters, which nothing checks; without them, the data is untyped.
   */
  readonly graphql: Graphql;

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
