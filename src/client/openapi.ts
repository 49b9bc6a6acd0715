/** Types of requests, responses and errors. Generated from the OpenAPI document by `npm run schema`; do not edit. */

/**
 * An item the workspace owns or uses, such as a machine.
 */
export interface Asset {
  /**
   * ID of the asset
   */
  id: string;
  /**
   * name of the asset
   */
  name: string;
  /**
   * unique reference ID of the asset
   */
  uid: string | null;
  /**
   * ID of the asset's status
   */
  statusId: string | null;
  /**
   * ID of the asset's type
   */
  assetTypeId: string | null;
  /**
   * ID of the current location
   */
  currentLocationId: string | null;
  /**
   * whether the utilization of the asset is tracked
   */
  trackUtilization: boolean | null;
  /**
   * when manufactured
   */
  manufacturedAt: string | null;
  /**
   * when acquired
   */
  acquiredAt: string | null;
  /**
   * ID of the owning company
   */
  ownerId: string | null;
  /**
   * ID of the manufacturing company
   */
  manufacturerId: string | null;
  /**
   * ID of the purchase order used to buy the asset
   */
  purchaseOrderId: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds: {
    [k: string]: string;
  } | null;
  /**
   * ID of the workspace the asset belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
  /**
   * ID of the user who last updated it
   */
  updatedBy: string | null;
}

export interface NewAsset {
  /**
   * name of the asset
   */
  name: string;
  /**
   * unique reference ID of the asset
   */
  uid?: string | null;
  /**
   * ID of the asset's status
   */
  statusId?: string | null;
  /**
   * ID of the asset's type
   */
  assetTypeId?: string | null;
  /**
   * ID of the current location
   */
  currentLocationId?: string | null;
  /**
   * whether the utilization of the asset is tracked
   */
  trackUtilization?: boolean | null;
  /**
   * when manufactured
   */
  manufacturedAt?: string | null;
  /**
   * when acquired
   */
  acquiredAt?: string | null;
  /**
   * ID of the owning company
   */
  ownerId?: string | null;
  /**
   * ID of the manufacturing company
   */
  manufacturerId?: string | null;
  /**
   * ID of the purchase order used to buy the asset
   */
  purchaseOrderId?: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  } | null;
}

/**
 * Work to be done for a project, at a location.
 */
export interface WorkOrder {
  /**
   * ID of the work order
   */
  id: string;
  /**
   * name of the work order
   */
  name?: string;
  /**
   * ID of the work order type
   */
  typeId?: string;
  /**
   * reference code
   */
  reference?: string;
  /**
   * ID of the project the work is for
   */
  projectId?: string;
  /**
   * ID of the work order's status
   */
  statusId?: string;
  /**
   * ID of the location the work is done at
   */
  locationId?: string;
  /**
   * when the work order starts
   */
  startDate?: string;
  /**
   * when the work order ends
   */
  endDate?: string;
  /**
   * notes
   */
  notes?: string;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  };
  /**
   * ID of the workspace the work order belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
  /**
   * ID of the user who created it
   */
  createdBy?: string;
  /**
   * ID of the user who last updated it
   */
  updatedBy?: string;
}

export interface NewWorkOrder {
  /**
   * name of the work order
   */
  name?: string | null;
  /**
   * ID of the work order type
   */
  typeId?: string | null;
  /**
   * reference code
   */
  reference?: string | null;
  /**
   * ID of the project the work is for
   */
  projectId?: string | null;
  /**
   * ID of the work order's status
   */
  statusId?: string | null;
  /**
   * ID of the location the work is done at
   */
  locationId?: string | null;
  /**
   * when the work order starts
   */
  startDate?: string | null;
  /**
   * when the work order ends
   */
  endDate?: string | null;
  /**
   * notes
   */
  notes?: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  } | null;
}

/**
 * A project for a company, at a location.
 */
export interface Project {
  /**
   * ID of the project
   */
  id: string;
  /**
   * name of the project
   */
  name: string;
  /**
   * reference code
   */
  reference?: string;
  /**
   * when the project starts
   */
  startDate?: string;
  /**
   * when the project ends
   */
  endDate?: string;
  /**
   * notes
   */
  notes?: string;
  /**
   * ID of the project's status
   */
  statusId?: string;
  /**
   * ID of the company the project is for
   */
  companyId?: string;
  /**
   * ID of the location of the project
   */
  locationId?: string;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  };
  /**
   * ID of the workspace the project belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
  /**
   * ID of the user who created it
   */
  createdBy?: string;
  /**
   * ID of the user who last updated it
   */
  updatedBy?: string;
}

export interface NewProject {
  /**
   * name of the project
   */
  name: string;
  /**
   * reference code
   */
  reference?: string | null;
  /**
   * when the project starts
   */
  startDate?: string | null;
  /**
   * when the project ends
   */
  endDate?: string | null;
  /**
   * notes
   */
  notes?: string | null;
  /**
   * ID of the project's status
   */
  statusId?: string | null;
  /**
   * ID of the company the project is for
   */
  companyId?: string | null;
  /**
   * ID of the location of the project
   */
  locationId?: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  } | null;
}

export interface ProjectChanges {
  /**
   * name of the project
   */
  name?: string;
  /**
   * reference code
   */
  reference?: string | null;
  /**
   * when the project starts
   */
  startDate?: string | null;
  /**
   * when the project ends
   */
  endDate?: string | null;
  /**
   * notes
   */
  notes?: string | null;
  /**
   * ID of the project's status
   */
  statusId?: string | null;
  /**
   * ID of the company the project is for
   */
  companyId?: string | null;
  /**
   * ID of the location of the project
   */
  locationId?: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  } | null;
}

/**
 * A place: a yard, a site, an address.
 */
export interface Location {
  /**
   * ID of the location
   */
  id: string;
  /**
   * name of the location
   */
  name?: string;
  /**
   * latitude of the coordinates, in degrees
   */
  latitude?: number;
  /**
   * longitude of the coordinates, in degrees
   */
  longitude?: number;
  /**
   * first address line
   */
  address1?: string;
  /**
   * second address line
   */
  address2?: string;
  /**
   * city
   */
  city?: string;
  /**
   * state
   */
  state?: string;
  /**
   * postal code
   */
  postalCode?: string;
  /**
   * country
   */
  country?: string;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  };
  /**
   * ID of the workspace the location belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
}

export interface NewLocation {
  /**
   * name of the location
   */
  name?: string | null;
  /**
   * latitude of the coordinates, in degrees
   */
  latitude?: number | null;
  /**
   * longitude of the coordinates, in degrees
   */
  longitude?: number | null;
  /**
   * first address line
   */
  address1?: string | null;
  /**
   * second address line
   */
  address2?: string | null;
  /**
   * city
   */
  city?: string | null;
  /**
   * state
   */
  state?: string | null;
  /**
   * postal code
   */
  postalCode?: string | null;
  /**
   * country
   */
  country?: string | null;
  /**
   * identifiers in outside systems
   */
  externalIds?: {
    [k: string]: string;
  } | null;
}

/**
 * A transport for a project.
 */
export interface TransportOrder {
  /**
   * ID of the transport order
   */
  id: string;
  /**
   * name of the transport order
   */
  name?: string;
  /**
   * reference code
   */
  reference?: string;
  /**
   * transport order number
   */
  number?: string;
  /**
   * notes
   */
  notes?: string;
  /**
   * ID of the transport order's status
   */
  statusId?: string;
  /**
   * ID of the project the transport is for
   */
  projectId?: string;
  /**
   * ID of the purchase order
   */
  purchaseOrderId?: string;
  /**
   * ID of the allocation order
   */
  allocationOrderId?: string;
  /**
   * ID of the workspace the transport order belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
  /**
   * ID of the user who created it
   */
  createdBy?: string;
}

export interface NewTransportOrder {
  /**
   * name of the transport order
   */
  name?: string | null;
  /**
   * reference code
   */
  reference?: string | null;
  /**
   * transport order number
   */
  number?: string | null;
  /**
   * notes
   */
  notes?: string | null;
  /**
   * ID of the transport order's status
   */
  statusId?: string | null;
  /**
   * ID of the project the transport is for
   */
  projectId?: string | null;
  /**
   * ID of the purchase order
   */
  purchaseOrderId?: string | null;
  /**
   * ID of the allocation order
   */
  allocationOrderId?: string | null;
}

/**
 * A node in the tree of asset categories.
 */
export interface AssetCategory {
  /**
   * ID of the asset category
   */
  id: string;
  /**
   * name of the asset category
   */
  name?: string;
  /**
   * description of the asset category
   */
  description?: string;
  /**
   * ID of the parent asset category
   */
  parentId?: string;
  /**
   * ID of the workspace the asset category belongs to
   */
  workspaceId: string;
  /**
   * creation time
   */
  createdAt: string;
  /**
   * time of the last change
   */
  updatedAt: string;
}

export interface NewAssetCategory {
  /**
   * name of the asset category
   */
  name?: string | null;
  /**
   * description of the asset category
   */
  description?: string | null;
  /**
   * ID of the parent asset category
   */
  parentId?: string | null;
}

export interface ErrorResponse {
  /**
   * human-readable message
   */
  error: string;
  /**
   * the HTTP status as text
   */
  code: string;
}

/**
 * RFC 9457, for requests with `Accept: application/problem+json`.
 */
export interface Problem {
  /**
   * `about:blank`, or `urn:yardgraph:may-be-stored` for a 503 after which the request may have been stored
   */
  type: string;
  title: string;
  status: number;
  detail: string;
  /**
   * every invalid field
   */
  errors?: {
    /**
     * position in the batch
     */
    index?: number;
    field?: string;
    message: string;
  }[];
}
