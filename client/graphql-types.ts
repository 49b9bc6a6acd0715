/** Types of GraphQL inputs and results, and the fields to select. Generated from the schema by `npm run schema`; do not edit. */
import type {
  Allocation,
  Asset,
  AssetCategory,
  Label,
  Location,
  NewAllocation,
  NewAsset,
  NewAssetCategory,
  NewLabel,
  NewLocation,
  NewProject,
  NewTransportOrder,
  NewWorkOrder,
  Project,
  TransportOrder,
  WorkOrder,
} from './openapi.ts';

/** What identifies an allocation. */
export type AllocationKey = { externalId: string; field?: never } | { field: AllocationKeyField; externalId?: never };

/** A field that identifies an allocation. */
export type AllocationKeyField = 'ID';

/** An allocation to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface AllocationPatch extends Partial<NewAllocation> {
  /** The asset that is allocated, instead of `assetId`. */
  asset?: StoredRecordLink | null;
  /** The ID of the allocation. */
  id: string;
  /** The `updatedAt` of the allocation when you read it. If the allocation has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The location where the asset will be, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The project that the asset is allocated to, instead of `projectId`. */
  project?: StoredRecordLink | null;
  /** The transport order that moves the asset, instead of `transportOrderId`. */
  transportOrder?: StoredRecordLink | null;
  /** The work order that the asset is allocated to, instead of `workOrderId`. */
  workOrder?: StoredRecordLink | null;
}

/** What identifies an asset category. */
export type AssetCategoryKey = { field: AssetCategoryKeyField };

/** A field that identifies an asset category. */
export type AssetCategoryKeyField = 'ID' | 'NAME';

/** An asset category to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface AssetCategoryPatch extends Partial<NewAssetCategory> {
  /** The ID of the asset category. */
  id: string;
  /** The `updatedAt` of the asset category when you read it. If the asset category has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The parent asset category, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** What identifies an asset. */
export type AssetKey = { externalId: string; field?: never } | { field: AssetKeyField; externalId?: never };

/** A field that identifies an asset. */
export type AssetKeyField = 'ID' | 'UID';

/** An asset to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface AssetPatch extends Partial<NewAsset> {
  /** The category that the asset is in, instead of `categoryId`. */
  category?: StoredRecordLink | null;
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: StoredRecordLink | null;
  /** The ID of the asset. */
  id: string;
  /** The `updatedAt` of the asset when you read it. If the asset has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The asset that the asset is a part of, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** What was done to a record. */
export type ChangeAction = 'CREATED' | 'DELETED' | 'UPDATED';

/** The ID of a record in another system. */
export interface ExternalIdInput {
  /** The name of the system, as in `externalIds`. */
  key: string;
  /** The ID that the record has there. */
  value: string;
}

/** The fields of an allocation to create, or to change if it is found by the key that `by` has for its kind. In a stored allocation, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAllocationInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface ImportAllocationInput {
  /** The ID of the allocation order. It is an ID of another system, stored as sent. */
  allocationOrderId?: string | null;
  /** The asset that is allocated, instead of `assetId`. */
  asset?: RecordLink | null;
  /** The ID of the asset that is allocated, which must be stored here. */
  assetId?: string | null;
  /** When the allocation ends; the asset is free from then on. Without an end, it stays allocated. */
  endDate?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: { [system: string]: string } | null;
  /** Only if `by` has `allocations: { field: ID }`: the ID of the allocation to change; a new one has none. */
  id?: string | null;
  /** The location where the asset will be, instead of `locationId`. */
  location?: RecordLink | null;
  /** The ID of the location where the asset will be. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** Notes on the allocation. */
  notes?: string | null;
  /** The project that the asset is allocated to, instead of `projectId`. */
  project?: RecordLink | null;
  /** The ID of the project that the asset is allocated to. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this allocation. It is not stored. */
  ref?: string | null;
  /** When the allocation starts. An allocation without a start has no time. */
  startDate?: string | null;
  /** The ID of the status of the allocation. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The transport order that moves the asset, instead of `transportOrderId`. */
  transportOrder?: RecordLink | null;
  /** The ID of the transport order that moves the asset. An ID of another system is stored as sent. */
  transportOrderId?: string | null;
  /** The ID of the user to whom the asset is allocated. It is an ID of another system, stored as sent. */
  userId?: string | null;
  /** The work order that the asset is allocated to, instead of `workOrderId`. */
  workOrder?: RecordLink | null;
  /** The ID of the work order that the asset is allocated to. An ID of another system is stored as sent. */
  workOrderId?: string | null;
}

/** The fields of an asset category to create, or to change if it is found by the key that `by` has for its kind. In a stored asset category, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetCategoryInput` requires. */
export interface ImportAssetCategoryInput {
  /** The description of the asset category. */
  description?: string | null;
  /** Only if `by` has `assetCategories: { field: ID }`: the ID of the asset category to change; a new one has none. */
  id?: string | null;
  /** The name of the asset category. */
  name?: string | null;
  /** The parent asset category, instead of `parentId`. */
  parent?: RecordLink | null;
  /** The ID of the parent asset category, which must be stored here. */
  parentId?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this asset category. It is not stored. */
  ref?: string | null;
}

/** The fields of an asset to create, or to change if it is found by the key that `by` has for its kind. In a stored asset, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface ImportAssetInput {
  /** When the asset was acquired. */
  acquiredAt?: string | null;
  /** The ID of the type of the asset. It is an ID of another system, stored as sent. */
  assetTypeId?: string | null;
  /** The category that the asset is in, instead of `categoryId`. */
  category?: RecordLink | null;
  /** The ID of the category that the asset is in. An ID of another system is stored as sent. */
  categoryId?: string | null;
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: RecordLink | null;
  /** The ID of the location where the asset is. An ID of another system is stored as sent. */
  currentLocationId?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: { [system: string]: string } | null;
  /** Only if `by` has `assets: { field: ID }`: the ID of the asset to change; a new one has none. */
  id?: string | null;
  /** When the asset was manufactured. */
  manufacturedAt?: string | null;
  /** The ID of the company that made the asset. It is an ID of another system, stored as sent. */
  manufacturerId?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The name of the asset. */
  name?: string | null;
  /** The ID of the company that owns the asset. It is an ID of another system, stored as sent. */
  ownerId?: string | null;
  /** The asset that the asset is a part of, instead of `parentId`. */
  parent?: RecordLink | null;
  /** The ID of the asset that the asset is a part of, which must be stored here. */
  parentId?: string | null;
  /** The ID of the purchase order used to buy the asset. It is an ID of another system, stored as sent. */
  purchaseOrderId?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this asset. It is not stored. */
  ref?: string | null;
  /** The ID of the status of the asset. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** Whether the utilization of the asset is tracked. */
  trackUtilization?: boolean | null;
  /** The unique reference ID of the asset: no other asset of the workspace has it. */
  uid?: string | null;
}

/** The records to import, by their kind: `{ locations: [{ ref: "yard", name: "North yard" }], projects: [{ name: "Harbour wall", location: { ref: "yard" } }] }`. */
export interface ImportInput {
  /** The allocations to create, or to change. */
  allocations?: readonly ImportAllocationInput[] | null;
  /** The asset categories to create, or to change. */
  assetCategories?: readonly ImportAssetCategoryInput[] | null;
  /** The assets to create, or to change. */
  assets?: readonly ImportAssetInput[] | null;
  /** The labels to create, or to change. */
  labels?: readonly ImportLabelInput[] | null;
  /** The locations to create, or to change. */
  locations?: readonly ImportLocationInput[] | null;
  /** The projects to create, or to change. */
  projects?: readonly ImportProjectInput[] | null;
  /** The transport orders to create, or to change. */
  transportOrders?: readonly ImportTransportOrderInput[] | null;
  /** The work orders to create, or to change. */
  workOrders?: readonly ImportWorkOrderInput[] | null;
}

/** The keys by which an import finds stored records, by their kind: `{ locations: { externalId: "erp" }, assets: { field: UID } }`. Records of other kinds are created. */
export interface ImportKeys {
  /** The key by which allocations are matched. */
  allocations?: AllocationKey | null;
  /** The key by which asset categories are matched. */
  assetCategories?: AssetCategoryKey | null;
  /** The key by which assets are matched. */
  assets?: AssetKey | null;
  /** The key by which labels are matched. */
  labels?: LabelKey | null;
  /** The key by which locations are matched. */
  locations?: LocationKey | null;
  /** The key by which projects are matched. */
  projects?: ProjectKey | null;
  /** The key by which transport orders are matched. */
  transportOrders?: TransportOrderKey | null;
  /** The key by which work orders are matched. */
  workOrders?: WorkOrderKey | null;
}

/** The fields of a label to create, or to change if it is found by the key that `by` has for its kind. In a stored label, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateLabelInput` requires. */
export interface ImportLabelInput {
  /** The colour to show it in, such as `#2e7d32`. */
  color?: string | null;
  /** Only if `by` has `labels: { field: ID }`: the ID of the label to change; a new one has none. */
  id?: string | null;
  /** What has the name: its type, such as `STATUS` or `ASSET_TYPE`, a colon, and the ID that records have. No other label of the workspace has it. */
  key?: string | null;
  /** The name that people know it by. */
  name?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this label. It is not stored. */
  ref?: string | null;
}

/** The fields of a location to create, or to change if it is found by the key that `by` has for its kind. In a stored location, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateLocationInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface ImportLocationInput {
  /** The first line of the address, such as the street and number. */
  address1?: string | null;
  /** The second line of the address. */
  address2?: string | null;
  /** The city. */
  city?: string | null;
  /** The country. */
  country?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: { [system: string]: string } | null;
  /** Only if `by` has `locations: { field: ID }`: the ID of the location to change; a new one has none. */
  id?: string | null;
  /** The latitude in degrees; north of the equator is positive. */
  latitude?: number | null;
  /** The longitude in degrees; east of Greenwich is positive. */
  longitude?: number | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The name of the location. */
  name?: string | null;
  /** The location that the location is in, instead of `parentId`. */
  parent?: RecordLink | null;
  /** The ID of the location that the location is in, which must be stored here. */
  parentId?: string | null;
  /** The postal code. */
  postalCode?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this location. It is not stored. */
  ref?: string | null;
  /** The state or province. */
  state?: string | null;
}

/** The fields of a project to create, or to change if it is found by the key that `by` has for its kind. In a stored project, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateProjectInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface ImportProjectInput {
  /** The ID of the company that the project is for. It is an ID of another system, stored as sent. */
  companyId?: string | null;
  /** When the project ends. */
  endDate?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: { [system: string]: string } | null;
  /** Only if `by` has `projects: { field: ID }`: the ID of the project to change; a new one has none. */
  id?: string | null;
  /** The location of the project, instead of `locationId`. */
  location?: RecordLink | null;
  /** The ID of the location of the project. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The name of the project. */
  name?: string | null;
  /** Notes on the project. */
  notes?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this project. It is not stored. */
  ref?: string | null;
  /** The reference code of the project. */
  reference?: string | null;
  /** When the project starts. */
  startDate?: string | null;
  /** The ID of the status of the project. It is an ID of another system, stored as sent. */
  statusId?: string | null;
}

/** The fields of a transport order to create, or to change if it is found by the key that `by` has for its kind. In a stored transport order, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateTransportOrderInput` requires. */
export interface ImportTransportOrderInput {
  /** The ID of the allocation order for the transport. It is an ID of another system, stored as sent. */
  allocationOrderId?: string | null;
  /** Only if `by` has `transportOrders: { field: ID }`: the ID of the transport order to change; a new one has none. */
  id?: string | null;
  /** The name of the transport order. */
  name?: string | null;
  /** Notes on the transport order. */
  notes?: string | null;
  /** The number of the transport order. */
  number?: string | null;
  /** The project that the transport is for, instead of `projectId`. */
  project?: RecordLink | null;
  /** The ID of the project that the transport is for. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** The ID of the purchase order for the transport. It is an ID of another system, stored as sent. */
  purchaseOrderId?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this transport order. It is not stored. */
  ref?: string | null;
  /** The reference code of the transport order. */
  reference?: string | null;
  /** The ID of the status of the transport order. It is an ID of another system, stored as sent. */
  statusId?: string | null;
}

/** The fields of a work order to create, or to change if it is found by the key that `by` has for its kind. In a stored work order, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateWorkOrderInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface ImportWorkOrderInput {
  /** The asset that the work is for, instead of `assetId`. */
  asset?: RecordLink | null;
  /** The ID of the asset that the work is for. An ID of another system is stored as sent. */
  assetId?: string | null;
  /** When the work order ends. */
  endDate?: string | null;
  /** The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`. */
  externalIds?: { [system: string]: string } | null;
  /** Only if `by` has `workOrders: { field: ID }`: the ID of the work order to change; a new one has none. */
  id?: string | null;
  /** The location where the work is done, instead of `locationId`. */
  location?: RecordLink | null;
  /** The ID of the location where the work is done. An ID of another system is stored as sent. */
  locationId?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The name of the work order. */
  name?: string | null;
  /** Notes on the work order. */
  notes?: string | null;
  /** The project that the work is for, instead of `projectId`. */
  project?: RecordLink | null;
  /** The ID of the project that the work is for. An ID of another system is stored as sent. */
  projectId?: string | null;
  /** A name of your choice, by which other records of the same mutation refer to this work order. It is not stored. */
  ref?: string | null;
  /** The reference code of the work order. */
  reference?: string | null;
  /** When the work order starts. */
  startDate?: string | null;
  /** The ID of the status of the work order. It is an ID of another system, stored as sent. */
  statusId?: string | null;
  /** The ID of the type of the work order. It is an ID of another system, stored as sent. */
  typeId?: string | null;
}

/** What identifies a label. */
export type LabelKey = { field: LabelKeyField };

/** A field that identifies a label. */
export type LabelKeyField = 'ID' | 'KEY';

/** A label to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface LabelPatch extends Partial<NewLabel> {
  /** The ID of the label. */
  id: string;
  /** The `updatedAt` of the label when you read it. If the label has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
}

/** What identifies a location. */
export type LocationKey = { externalId: string; field?: never } | { field: LocationKeyField; externalId?: never };

/** A field that identifies a location. */
export type LocationKeyField = 'ID';

/** A location to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface LocationPatch extends Partial<NewLocation> {
  /** The ID of the location. */
  id: string;
  /** The `updatedAt` of the location when you read it. If the location has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The location that the location is in, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** What a write does with allocations of an asset that overlap. */
export type OnClash = 'REJECT' | 'STORE';

/** What a batch does with invalid items. */
export type OnInvalid = 'FAIL' | 'SKIP';

/** What identifies a project. */
export type ProjectKey = { externalId: string; field?: never } | { field: ProjectKeyField; externalId?: never };

/** A field that identifies a project. */
export type ProjectKeyField = 'ID' | 'REFERENCE';

/** A project to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface ProjectPatch extends Partial<NewProject> {
  /** The ID of the project. */
  id: string;
  /** The `updatedAt` of the project when you read it. If the project has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The location of the project, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
}

/** A kind of record. */
export type RecordKind =
  | 'ALLOCATION'
  | 'ASSET'
  | 'ASSET_CATEGORY'
  | 'LABEL'
  | 'LOCATION'
  | 'PROJECT'
  | 'TRANSPORT_ORDER'
  | 'WORK_ORDER';

/** A link to a record by its values: `{ name: "North yard" }`, or `{ externalIds: { erp: "4711" } }`. Exactly one record must have all of them. Or a link to a record of the same mutation: `{ ref: "harbour-wall" }`. */
export interface RecordLink {
  /** An external ID of it: short for `externalIds` with one. */
  externalId?: ExternalIdInput | null;
  /** External IDs of it; null for a system where it has none. */
  externalIds?: { [system: string]: string | null } | null;
  /** Its ID. */
  id?: string | null;
  /** Its `name`; null if it has none. */
  name?: string | null;
  /** Its `number`; null if it has none. */
  number?: string | null;
  /** The `ref` of a record of the same mutation, and nothing else. */
  ref?: string | null;
  /** Its `reference`; null if it has none. */
  reference?: string | null;
  /** Its `uid`; null if it has none. */
  uid?: string | null;
}

/** What a deletion does if other records refer to the ones it deletes. */
export type ReferenceHandling = 'CLEAR' | 'REFUSE';

/** Why a change was not reversed. */
export type RevertOutcome = 'FAILED' | 'KEPT';

/** A link to a record by its values: `{ name: "North yard" }`, or `{ externalIds: { erp: "4711" } }`. Exactly one record must have all of them. */
export interface StoredRecordLink {
  /** An external ID of it: short for `externalIds` with one. */
  externalId?: ExternalIdInput | null;
  /** External IDs of it; null for a system where it has none. */
  externalIds?: { [system: string]: string | null } | null;
  /** Its ID. */
  id?: string | null;
  /** Its `name`; null if it has none. */
  name?: string | null;
  /** Its `number`; null if it has none. */
  number?: string | null;
  /** Its `reference`; null if it has none. */
  reference?: string | null;
  /** Its `uid`; null if it has none. */
  uid?: string | null;
}

/** What identifies a transport order. */
export type TransportOrderKey = { field: TransportOrderKeyField };

/** A field that identifies a transport order. */
export type TransportOrderKeyField = 'ID' | 'NUMBER' | 'REFERENCE';

/** A transport order to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface TransportOrderPatch extends Partial<NewTransportOrder> {
  /** The ID of the transport order. */
  id: string;
  /** The `updatedAt` of the transport order when you read it. If the transport order has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The project that the transport is for, instead of `projectId`. */
  project?: StoredRecordLink | null;
}

/** The fields of an allocation to create or change. In a stored allocation, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAllocationInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertAllocationInput extends Partial<NewAllocation> {
  /** The asset that is allocated, instead of `assetId`. */
  asset?: StoredRecordLink | null;
  /** Only with `by: { field: ID }`: the ID of the allocation to change; a new one has none. */
  id?: string | null;
  /** The location where the asset will be, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The project that the asset is allocated to, instead of `projectId`. */
  project?: StoredRecordLink | null;
  /** The transport order that moves the asset, instead of `transportOrderId`. */
  transportOrder?: StoredRecordLink | null;
  /** The work order that the asset is allocated to, instead of `workOrderId`. */
  workOrder?: StoredRecordLink | null;
}

/** The fields of an asset category to create or change. In a stored asset category, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetCategoryInput` requires. */
export interface UpsertAssetCategoryInput extends Partial<NewAssetCategory> {
  /** Only with `by: { field: ID }`: the ID of the asset category to change; a new one has none. */
  id?: string | null;
  /** The parent asset category, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** The fields of an asset to create or change. In a stored asset, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertAssetInput extends Partial<NewAsset> {
  /** The category that the asset is in, instead of `categoryId`. */
  category?: StoredRecordLink | null;
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: StoredRecordLink | null;
  /** Only with `by: { field: ID }`: the ID of the asset to change; a new one has none. */
  id?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The asset that the asset is a part of, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** The fields of a label to create or change. In a stored label, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateLabelInput` requires. */
export interface UpsertLabelInput extends Partial<NewLabel> {
  /** Only with `by: { field: ID }`: the ID of the label to change; a new one has none. */
  id?: string | null;
}

/** The fields of a location to create or change. In a stored location, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateLocationInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertLocationInput extends Partial<NewLocation> {
  /** Only with `by: { field: ID }`: the ID of the location to change; a new one has none. */
  id?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The location that the location is in, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** What an upsert did with an item. */
export type UpsertOutcome = 'CREATED' | 'REJECTED' | 'UNCHANGED' | 'UPDATED';

/** The fields of a project to create or change. In a stored project, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateProjectInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertProjectInput extends Partial<NewProject> {
  /** Only with `by: { field: ID }`: the ID of the project to change; a new one has none. */
  id?: string | null;
  /** The location of the project, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
}

/** The fields of a transport order to create or change. In a stored transport order, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateTransportOrderInput` requires. */
export interface UpsertTransportOrderInput extends Partial<NewTransportOrder> {
  /** Only with `by: { field: ID }`: the ID of the transport order to change; a new one has none. */
  id?: string | null;
  /** The project that the transport is for, instead of `projectId`. */
  project?: StoredRecordLink | null;
}

/** The fields of a work order to create or change. In a stored work order, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateWorkOrderInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertWorkOrderInput extends Partial<NewWorkOrder> {
  /** The asset that the work is for, instead of `assetId`. */
  asset?: StoredRecordLink | null;
  /** Only with `by: { field: ID }`: the ID of the work order to change; a new one has none. */
  id?: string | null;
  /** The location where the work is done, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The project that the work is for, instead of `projectId`. */
  project?: StoredRecordLink | null;
}

/** What identifies a work order. */
export type WorkOrderKey = { externalId: string; field?: never } | { field: WorkOrderKeyField; externalId?: never };

/** A field that identifies a work order. */
export type WorkOrderKeyField = 'ID' | 'REFERENCE';

/** A work order to change, by its ID, and the new values of some fields. Absent fields stay unchanged; null clears a field. */
export interface WorkOrderPatch extends Partial<NewWorkOrder> {
  /** The asset that the work is for, instead of `assetId`. */
  asset?: StoredRecordLink | null;
  /** The ID of the work order. */
  id: string;
  /** The `updatedAt` of the work order when you read it. If the work order has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The location where the work is done, instead of `locationId`. */
  location?: StoredRecordLink | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
  /** The project that the work is for, instead of `projectId`. */
  project?: StoredRecordLink | null;
}

/** A page of changes. */
export interface ChangePage {
  /** Where the page ends, even an empty one: pass it as `after` to get the next one. */
  endCursor: string;
  /** Whether there are more changes now. With `kinds`, this can be true even if the page is empty. */
  hasMore: boolean;
  /** The changes of the page. */
  nodes: readonly Change[];
}

/** The creation, the update or the deletion of one record. */
export interface Change {
  /** What was done. */
  action: ChangeAction;
  /** When it was done. */
  at: string;
  /** The position of the change among all changes of the workspace, for `after`. */
  cursor: string;
  /** The changed fields that clients may set. A creation or deletion lists every field with a value. */
  fields: readonly FieldChange[];
  /** The kind of the record. */
  kind: RecordKind;
  /** Why it was done: the `X-Change-Message` header of the request. */
  message: string | null;
  /** The ID of the record. */
  recordId: string;
  /** The ID of the request that did it, as in its `X-Request-Id` header and in the log of the service. */
  requestId: string | null;
  /** The user of the API key that made the change; null if the service had no keys then. */
  user: { id: string } | null;
}

/** What a change did to one field of the record; null stands for no value. */
export interface FieldChange {
  /** The value after the change. */
  after: string | number | boolean | { [system: string]: string } | null;
  /** The value before the change. */
  before: string | number | boolean | { [system: string]: string } | null;
  /** The name of the field, such as `currentLocationId`. */
  field: string;
}

/** What is wrong with an item. */
export interface ItemIssue {
  /** What programs tell issues apart by: `"required"`. The documentation of the REST interface lists all codes. */
  code: string;
  /** What was expected, and what was received. */
  message: string;
  /** The path of another item that the issue involves: `["0"]`, in an import `["assets", "0"]`. */
  other: readonly string[] | null;
  /** Where in the item: `["externalIds", "erp"]`. Empty for the item as a whole. */
  path: readonly string[];
}

/** An item that an import has left out. */
export interface RejectedItem {
  /** Its place in that list, from 0. */
  index: number;
  /** What is wrong with it. */
  issues: readonly ItemIssue[];
  /** The list of the input that has the item: `"assets"`. */
  list: string;
}

/** The result of a reversal. */
export interface RevertedChanges {
  /** The number of changes that cannot be reversed. */
  failed: number;
  /** The number of changes whose records have changed since. */
  kept: number;
  /** The number of new changes: one for each record that was not in its earlier state already. */
  made: number;
  /** The changes that were not reversed, in their order. */
  notReversed: readonly ChangeNotReversed[];
  /** The number of changes that were reversed. */
  reversed: number;
}

/** A change that was not reversed. */
export interface ChangeNotReversed {
  /** The cursor of the change. */
  cursor: string;
  /** The kind of the record. */
  kind: RecordKind;
  /** Why it was not reversed. */
  message: string;
  /** Whether its record was kept, or the reversal failed. */
  outcome: RevertOutcome;
  /** The ID of the record. */
  recordId: string;
}

/** The types of each kind. */
export interface RecordTypes {
  Asset: {
    stored: Asset;
    new: NewAsset;
    patch: AssetPatch;
    upsert: UpsertAssetInput;
    key: AssetKey;
  };
  WorkOrder: {
    stored: WorkOrder;
    new: NewWorkOrder;
    patch: WorkOrderPatch;
    upsert: UpsertWorkOrderInput;
    key: WorkOrderKey;
  };
  Project: {
    stored: Project;
    new: NewProject;
    patch: ProjectPatch;
    upsert: UpsertProjectInput;
    key: ProjectKey;
  };
  Location: {
    stored: Location;
    new: NewLocation;
    patch: LocationPatch;
    upsert: UpsertLocationInput;
    key: LocationKey;
  };
  TransportOrder: {
    stored: TransportOrder;
    new: NewTransportOrder;
    patch: TransportOrderPatch;
    upsert: UpsertTransportOrderInput;
    key: TransportOrderKey;
  };
  AssetCategory: {
    stored: AssetCategory;
    new: NewAssetCategory;
    patch: AssetCategoryPatch;
    upsert: UpsertAssetCategoryInput;
    key: AssetCategoryKey;
  };
  Allocation: {
    stored: Allocation;
    new: NewAllocation;
    patch: AllocationPatch;
    upsert: UpsertAllocationInput;
    key: AllocationKey;
  };
  Label: {
    stored: Label;
    new: NewLabel;
    patch: LabelPatch;
    upsert: UpsertLabelInput;
    key: LabelKey;
  };
}

/** The imported records of each kind, in the order sent. */
export interface ImportedRecords {
  assets: Asset[];
  workOrders: WorkOrder[];
  projects: Project[];
  locations: Location[];
  transportOrders: TransportOrder[];
  assetCategories: AssetCategory[];
  allocations: Allocation[];
  labels: Label[];
}

/** The names of each kind, its fields, the path to create its records over REST, and the fields that REST returns as null while they are unset. */
export const kinds = {
  Asset: {
    plural: 'Assets',
    list: 'assets',
    path: '/assets',
    nullable:
      'uid statusId assetTypeId currentLocationId trackUtilization manufacturedAt acquiredAt ownerId manufacturerId purchaseOrderId externalIds updatedBy',
    fields:
      'id name uid statusId assetTypeId currentLocationId trackUtilization manufacturedAt acquiredAt ownerId manufacturerId purchaseOrderId externalIds categoryId parentId workspaceId createdAt updatedAt updatedBy { id }',
  },
  WorkOrder: {
    plural: 'WorkOrders',
    list: 'workOrders',
    path: '/work-orders',
    nullable: '',
    fields:
      'id name typeId reference projectId statusId locationId startDate endDate notes externalIds assetId workspaceId createdAt updatedAt createdBy { id } updatedBy { id }',
  },
  Project: {
    plural: 'Projects',
    list: 'projects',
    path: '/projects',
    nullable: '',
    fields:
      'id name reference startDate endDate notes statusId companyId locationId externalIds workspaceId createdAt updatedAt createdBy { id } updatedBy { id }',
  },
  Location: {
    plural: 'Locations',
    list: 'locations',
    path: '/locations',
    nullable: '',
    fields:
      'id name latitude longitude address1 address2 city state postalCode country externalIds parentId workspaceId createdAt updatedAt',
  },
  TransportOrder: {
    plural: 'TransportOrders',
    list: 'transportOrders',
    path: '/transport-orders',
    nullable: '',
    fields:
      'id name reference number notes statusId projectId purchaseOrderId allocationOrderId workspaceId createdAt updatedAt createdBy { id }',
  },
  AssetCategory: {
    plural: 'AssetCategories',
    list: 'assetCategories',
    path: '/asset-categories',
    nullable: '',
    fields: 'id name description parentId workspaceId createdAt updatedAt',
  },
  Allocation: {
    plural: 'Allocations',
    list: 'allocations',
    path: null,
    nullable: '',
    fields:
      'id assetId workOrderId projectId transportOrderId locationId allocationOrderId userId startDate endDate statusId notes externalIds workspaceId createdAt updatedAt createdBy { id } updatedBy { id }',
  },
  Label: {
    plural: 'Labels',
    list: 'labels',
    path: '/labels',
    nullable: '',
    fields: 'id name key color workspaceId createdAt updatedAt',
  },
} as const;

/** The fields of a page of changes. */
export const changePageFields =
  'endCursor hasMore nodes { action at cursor fields { after before field } kind message recordId requestId user { id } }';

/** The fields of what becomes of changes that are reversed. */
export const revertedChangesFields = 'failed kept made notReversed { cursor kind message outcome recordId } reversed';
