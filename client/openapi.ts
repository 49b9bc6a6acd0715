/** Types of requests, responses and errors. Generated from the OpenAPI document by `npm run schema`; do not edit. */

/** An item the workspace owns or uses, such as a machine. */
export interface Asset {
  /** The ID of the asset, given by the service. */
  id: string;
  /** The name of the asset. */
  name: string;
  /** The unique reference ID of the asset: no other asset of the workspace has it. */
  uid: string | null;
  /** The ID of the status of the asset. It is an ID of another system, stored as sent. */
  statusId: string | null;
  /** The ID of the type of the asset. It is an ID of another system, stored as sent. */
  assetTypeId: string | null;
  /** The ID of the location where the asset is. An ID of another system is stored as sent. */
  currentLocationId: string | null;
  /** Whether the utilization of the asset is tracked. */
  trackUtilization: boolean | null;
  /** When the asset was manufactured. */
  manufacturedAt: string | null;
  /** When the asset was acquired. */
  acquiredAt: string | null;
  /** The ID of the company that owns the asset. It is an ID of another system, stored as sent. */
  ownerId: string | null;
  /** The ID of the company that made the asset. It is an ID of another system, stored as sent. */
  manufacturerId: string | null;
  /** The ID of the purchase order used to buy the asset. It is an ID of another system, stored as sent. */
  purchaseOrderId: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds: {
    [k: string]: string;
  } | null;
  /** The ID of the category that the asset is in. An ID of another system is stored as sent. */
  categoryId?: string;
  /** The ID of the asset that the asset is a part of, which must be stored here. */
  parentId?: string;
  /** The ID of the workspace that the asset belongs to. */
  workspaceId: string;
  /** When the asset was created. */
  createdAt: string;
  /** When the asset was last changed. */
  updatedAt: string;
  /** The ID of the user who last changed the asset, as named by the API key. */
  updatedBy: string | null;
}

export interface NewAsset {
  /** The name of the asset. */
  name: string;
  /** The unique reference ID of the asset: no other asset of the workspace has it. */
  uid?: string | null;
  /** The ID of the status of the asset. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the type of the asset. It is an ID of another system, stored as sent. */
  assetTypeId?: string | null;
  /** The ID of the location where the asset is. An ID of another system is stored as sent. */
  currentLocationId?: string | null;
  /** Whether the utilization of the asset is tracked. */
  trackUtilization?: boolean | null;
  /** When the asset was manufactured. */
  manufacturedAt?: string | null;
  /** When the asset was acquired. */
  acquiredAt?: string | null;
  /** The ID of the company that owns the asset. It is an ID of another system, stored as sent. */
  ownerId?: string | null;
  /** The ID of the company that made the asset. It is an ID of another system, stored as sent. */
  manufacturerId?: string | null;
  /** The ID of the purchase order used to buy the asset. It is an ID of another system, stored as sent. */
  purchaseOrderId?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
  /** The ID of the category that the asset is in. An ID of another system is stored as sent. */
  categoryId?: string | null;
  /** The ID of the asset that the asset is a part of, which must be stored here. */
  parentId?: string | null;
}

/** Work to be done for a project, at a location. */
export interface WorkOrder {
  /** The ID of the work order, given by the service. */
  id: string;
  /** The name of the work order. */
  name?: string;
  /** The ID of the type of the work order. It is an ID of another system, stored as sent. */
  typeId?: string;
  /** The reference code of the work order. */
  reference?: string;
  /** The ID of the project that the work is for. An ID of another system is stored as sent. */
  projectId?: string;
  /** The ID of the status of the work order. It is an ID of another system, stored as sent. */
  statusId?: string;
  /** The ID of the location where the work is done. An ID of another system is stored as sent. */
  locationId?: string;
  /** When the work order starts. */
  startDate?: string;
  /** When the work order ends. */
  endDate?: string;
  /** Notes on the work order. */
  notes?: string;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  };
  /** The ID of the asset that the work is for. An ID of another system is stored as sent. */
  assetId?: string;
  /** The ID of the workspace that the work order belongs to. */
  workspaceId: string;
  /** When the work order was created. */
  createdAt: string;
  /** When the work order was last changed. */
  updatedAt: string;
  /** The ID of the user who created the work order, as named by the API key. */
  createdBy?: string;
  /** The ID of the user who last changed the work order, as named by the API key. */
  updatedBy?: string;
}

export interface NewWorkOrder {
  /** The name of the work order. */
  name?: string | null;
  /** The ID of the type of the work order. It is an ID of another system, stored as sent. */
  typeId?: string | null;
  /** The reference code of the work order. */
  reference?: string | null;
  /** The ID of the project that the work is for. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** The ID of the status of the work order. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the location where the work is done. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** When the work order starts. */
  startDate?: string | null;
  /** When the work order ends. */
  endDate?: string | null;
  /** Notes on the work order. */
  notes?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
  /** The ID of the asset that the work is for. An ID of another system is stored as sent. */
  assetId?: string | null;
}

/** A project for a company, at a location. */
export interface Project {
  /** The ID of the project, given by the service. */
  id: string;
  /** The name of the project. */
  name: string;
  /** The reference code of the project. */
  reference?: string;
  /** When the project starts. */
  startDate?: string;
  /** When the project ends. */
  endDate?: string;
  /** Notes on the project. */
  notes?: string;
  /** The ID of the status of the project. It is an ID of another system, stored as sent. */
  statusId?: string;
  /** The ID of the company that the project is for. It is an ID of another system, stored as sent. */
  companyId?: string;
  /** The ID of the location of the project. An ID of another system is stored as sent. */
  locationId?: string;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  };
  /** The ID of the workspace that the project belongs to. */
  workspaceId: string;
  /** When the project was created. */
  createdAt: string;
  /** When the project was last changed. */
  updatedAt: string;
  /** The ID of the user who created the project, as named by the API key. */
  createdBy?: string;
  /** The ID of the user who last changed the project, as named by the API key. */
  updatedBy?: string;
}

export interface NewProject {
  /** The name of the project. */
  name: string;
  /** The reference code of the project. */
  reference?: string | null;
  /** When the project starts. */
  startDate?: string | null;
  /** When the project ends. */
  endDate?: string | null;
  /** Notes on the project. */
  notes?: string | null;
  /** The ID of the status of the project. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the company that the project is for. It is an ID of another system, stored as sent. */
  companyId?: string | null;
  /** The ID of the location of the project. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
}

export interface ProjectChanges {
  /** The name of the project. */
  name?: string;
  /** The reference code of the project. */
  reference?: string | null;
  /** When the project starts. */
  startDate?: string | null;
  /** When the project ends. */
  endDate?: string | null;
  /** Notes on the project. */
  notes?: string | null;
  /** The ID of the status of the project. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the company that the project is for. It is an ID of another system, stored as sent. */
  companyId?: string | null;
  /** The ID of the location of the project. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
}

export interface ProjectMergePatch {
  /** The name of the project. */
  name?: string;
  /** The reference code of the project. */
  reference?: string | null;
  /** When the project starts. */
  startDate?: string | null;
  /** When the project ends. */
  endDate?: string | null;
  /** Notes on the project. */
  notes?: string | null;
  /** The ID of the status of the project. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the company that the project is for. It is an ID of another system, stored as sent. */
  companyId?: string | null;
  /** The ID of the location of the project. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs to set in other systems; null removes one, and all others stay. */
  externalIds?: {
    [k: string]: string | null;
  } | null;
}

/** A place: a yard, a site, an address. */
export interface Location {
  /** The ID of the location, given by the service. */
  id: string;
  /** The name of the location. */
  name?: string;
  /** The latitude in degrees; north of the equator is positive. */
  latitude?: number;
  /** The longitude in degrees; east of Greenwich is positive. */
  longitude?: number;
  /** The first line of the address, such as the street and number. */
  address1?: string;
  /** The second line of the address. */
  address2?: string;
  /** The city. */
  city?: string;
  /** The state or province. */
  state?: string;
  /** The postal code. */
  postalCode?: string;
  /** The country. */
  country?: string;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  };
  /** The ID of the location that the location is in, which must be stored here. */
  parentId?: string;
  /** The ID of the workspace that the location belongs to. */
  workspaceId: string;
  /** When the location was created. */
  createdAt: string;
  /** When the location was last changed. */
  updatedAt: string;
}

export interface NewLocation {
  /** The name of the location. */
  name?: string | null;
  /** The latitude in degrees; north of the equator is positive. */
  latitude?: number | null;
  /** The longitude in degrees; east of Greenwich is positive. */
  longitude?: number | null;
  /** The first line of the address, such as the street and number. */
  address1?: string | null;
  /** The second line of the address. */
  address2?: string | null;
  /** The city. */
  city?: string | null;
  /** The state or province. */
  state?: string | null;
  /** The postal code. */
  postalCode?: string | null;
  /** The country. */
  country?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
  /** The ID of the location that the location is in, which must be stored here. */
  parentId?: string | null;
}

/** A transport for a project. */
export interface TransportOrder {
  /** The ID of the transport order, given by the service. */
  id: string;
  /** The name of the transport order. */
  name?: string;
  /** The reference code of the transport order. */
  reference?: string;
  /** The number of the transport order. */
  number?: string;
  /** Notes on the transport order. */
  notes?: string;
  /** The ID of the status of the transport order. It is an ID of another system, stored as sent. */
  statusId?: string;
  /** The ID of the project that the transport is for. An ID of another system is stored as sent. */
  projectId?: string;
  /** The ID of the purchase order for the transport. It is an ID of another system, stored as sent. */
  purchaseOrderId?: string;
  /** The ID of the allocation order for the transport. It is an ID of another system, stored as sent. */
  allocationOrderId?: string;
  /** The ID of the workspace that the transport order belongs to. */
  workspaceId: string;
  /** When the transport order was created. */
  createdAt: string;
  /** When the transport order was last changed. */
  updatedAt: string;
  /** The ID of the user who created the transport order, as named by the API key. */
  createdBy?: string;
}

export interface NewTransportOrder {
  /** The name of the transport order. */
  name?: string | null;
  /** The reference code of the transport order. */
  reference?: string | null;
  /** The number of the transport order. */
  number?: string | null;
  /** Notes on the transport order. */
  notes?: string | null;
  /** The ID of the status of the transport order. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the project that the transport is for. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** The ID of the purchase order for the transport. It is an ID of another system, stored as sent. */
  purchaseOrderId?: string | null;
  /** The ID of the allocation order for the transport. It is an ID of another system, stored as sent. */
  allocationOrderId?: string | null;
}

/** A category of assets, such as cranes. Categories form a tree. */
export interface AssetCategory {
  /** The ID of the asset category, given by the service. */
  id: string;
  /** The name of the asset category. */
  name?: string;
  /** The description of the asset category. */
  description?: string;
  /** The ID of the parent asset category, which must be stored here. */
  parentId?: string;
  /** The ID of the workspace that the asset category belongs to. */
  workspaceId: string;
  /** When the asset category was created. */
  createdAt: string;
  /** When the asset category was last changed. */
  updatedAt: string;
}

export interface NewAssetCategory {
  /** The name of the asset category. */
  name?: string | null;
  /** The description of the asset category. */
  description?: string | null;
  /** The ID of the parent asset category, which must be stored here. */
  parentId?: string | null;
}

/** A time for which an asset is reserved: for work, a project, a transport, a location or a user. */
export interface Allocation {
  /** The ID of the allocation, given by the service. */
  id: string;
  /** The ID of the asset that is allocated, which must be stored here. */
  assetId: string;
  /** The ID of the work order that the asset is allocated to. An ID of another system is stored as sent. */
  workOrderId?: string;
  /** The ID of the project that the asset is allocated to. An ID of another system is stored as sent. */
  projectId?: string;
  /** The ID of the transport order that moves the asset. An ID of another system is stored as sent. */
  transportOrderId?: string;
  /** The ID of the location where the asset will be. An ID of another system is stored as sent. */
  locationId?: string;
  /** The ID of the allocation order. It is an ID of another system, stored as sent. */
  allocationOrderId?: string;
  /** The ID of the user to whom the asset is allocated. It is an ID of another system, stored as sent. */
  userId?: string;
  /** When the allocation starts. An allocation without a start has no time. */
  startDate?: string;
  /** When the allocation ends; the asset is free from then on. Without an end, it stays allocated. */
  endDate?: string;
  /** The ID of the status of the allocation. It is an ID of another system, stored as sent. */
  statusId?: string;
  /** Notes on the allocation. */
  notes?: string;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  };
  /** The ID of the workspace that the allocation belongs to. */
  workspaceId: string;
  /** When the allocation was created. */
  createdAt: string;
  /** When the allocation was last changed. */
  updatedAt: string;
  /** The ID of the user who created the allocation, as named by the API key. */
  createdBy?: string;
  /** The ID of the user who last changed the allocation, as named by the API key. */
  updatedBy?: string;
}

export interface NewAllocation {
  /** The ID of the asset that is allocated, which must be stored here. */
  assetId: string;
  /** The ID of the work order that the asset is allocated to. An ID of another system is stored as sent. */
  workOrderId?: string | null;
  /** The ID of the project that the asset is allocated to. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** The ID of the transport order that moves the asset. An ID of another system is stored as sent. */
  transportOrderId?: string | null;
  /** The ID of the location where the asset will be. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The ID of the allocation order. It is an ID of another system, stored as sent. */
  allocationOrderId?: string | null;
  /** The ID of the user to whom the asset is allocated. It is an ID of another system, stored as sent. */
  userId?: string | null;
  /** When the allocation starts. An allocation without a start has no time. */
  startDate?: string | null;
  /** When the allocation ends; the asset is free from then on. Without an end, it stays allocated. */
  endDate?: string | null;
  /** The ID of the status of the allocation. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** Notes on the allocation. */
  notes?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: {
    [k: string]: string;
  } | null;
}

/** The name and the colour of something that is kept in another system, such as a status or a company. */
export interface Label {
  /** The ID of the label, given by the service. */
  id: string;
  /** The name that people know it by. */
  name?: string;
  /** What has the name: its type, such as `STATUS` or `ASSET_TYPE`, a colon, and the ID that records have. No other label of the workspace has it. */
  key?: string;
  /** The colour to show it in, such as `#2e7d32`. */
  color?: string;
  /** The ID of the workspace that the label belongs to. */
  workspaceId: string;
  /** When the label was created. */
  createdAt: string;
  /** When the label was last changed. */
  updatedAt: string;
}

export interface NewLabel {
  /** The name that people know it by. */
  name?: string | null;
  /** What has the name: its type, such as `STATUS` or `ASSET_TYPE`, a colon, and the ID that records have. No other label of the workspace has it. */
  key?: string | null;
  /** The colour to show it in, such as `#2e7d32`. */
  color?: string | null;
}

export interface ErrorResponse {
  /** human-readable message */
  error: string;
  /** the HTTP status as text */
  code: string;
}

/** RFC 9457, for requests with `Accept: application/problem+json`. */
export interface Problem {
  /** `about:blank`, `urn:yardgraph:may-be-stored` for a 503 after which the request may have been stored, `urn:yardgraph:disk-full` for one because the disk of the database is full, or `urn:yardgraph:idempotency-key-reused` for a 409 because of the `Idempotency-Key` */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** every invalid field */
  errors?: {
    /** position in the batch */
    index?: number;
    field?: string;
    message: string;
    /** what programs tell issues apart by, such as `required` */
    code: string;
    /** another item of the batch that it involves, such as `[0]` */
    other?: string;
  }[];
}
