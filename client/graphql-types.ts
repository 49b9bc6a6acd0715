/** Types of GraphQL inputs and results, and the fields to select. Generated from the schema by `npm run schema`; do not edit. */
import type {
  Asset,
  AssetCategory,
  Label,
  Location,
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
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: StoredRecordLink | null;
  /** The ID of the asset. */
  id: string;
  /** The `updatedAt` of the asset when you read it. If the asset has changed since, the batch is rejected with the code CONFLICT. */
  ifUpdatedAt?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
}

/** What was done to a record. */
export type ChangeAction = 'CREATED' | 'DELETED' | 'UPDATED';

/** The fields of an asset category to create. A field that is null or absent is not set. */
export interface CreateAssetCategoryInput extends NewAssetCategory {
  /** The parent asset category, instead of `parentId`. */
  parent?: RecordLink | null;
  /** A name of your choice, by which other records of the same mutation refer to this asset category. It is not stored. */
  ref?: string | null;
}

/** The fields of an asset to create. A field that is null or absent is not set. */
export interface CreateAssetInput extends NewAsset {
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: RecordLink | null;
  /** A name of your choice, by which other records of the same mutation refer to this asset. It is not stored. */
  ref?: string | null;
}

/** The fields of a label to create. A field that is null or absent is not set. */
export interface CreateLabelInput extends NewLabel {
  /** A name of your choice, by which other records of the same mutation refer to this label. It is not stored. */
  ref?: string | null;
}

/** The fields of a location to create. A field that is null or absent is not set. */
export interface CreateLocationInput extends NewLocation {
  /** A name of your choice, by which other records of the same mutation refer to this location. It is not stored. */
  ref?: string | null;
}

/** The fields of a project to create. A field that is null or absent is not set. */
export interface CreateProjectInput extends NewProject {
  /** The location of the project, instead of `locationId`. */
  location?: RecordLink | null;
  /** A name of your choice, by which other records of the same mutation refer to this project. It is not stored. */
  ref?: string | null;
}

/** The fields of a transport order to create. A field that is null or absent is not set. */
export interface CreateTransportOrderInput extends NewTransportOrder {
  /** The project that the transport is for, instead of `projectId`. */
  project?: RecordLink | null;
  /** A name of your choice, by which other records of the same mutation refer to this transport order. It is not stored. */
  ref?: string | null;
}

/** The fields of a work order to create. A field that is null or absent is not set. */
export interface CreateWorkOrderInput extends NewWorkOrder {
  /** The location where the work is done, instead of `locationId`. */
  location?: RecordLink | null;
  /** The project that the work is for, instead of `projectId`. */
  project?: RecordLink | null;
  /** A name of your choice, by which other records of the same mutation refer to this work order. It is not stored. */
  ref?: string | null;
}

/** The ID of a record in another system. */
export interface ExternalIdInput {
  /** The name of the system, as in `externalIds`. */
  key: string;
  /** The ID that the record has there. */
  value: string;
}

/** The records to create, by their kind: `{ locations: [{ ref: "yard", name: "North yard" }], projects: [{ name: "Harbour wall", location: { ref: "yard" } }] }`. */
export interface ImportInput {
  /** The asset categories to create. */
  assetCategories?: readonly CreateAssetCategoryInput[] | null;
  /** The assets to create. */
  assets?: readonly CreateAssetInput[] | null;
  /** The labels to create. */
  labels?: readonly CreateLabelInput[] | null;
  /** The locations to create. */
  locations?: readonly CreateLocationInput[] | null;
  /** The projects to create. */
  projects?: readonly CreateProjectInput[] | null;
  /** The transport orders to create. */
  transportOrders?: readonly CreateTransportOrderInput[] | null;
  /** The work orders to create. */
  workOrders?: readonly CreateWorkOrderInput[] | null;
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
}

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
  | 'ASSET'
  | 'ASSET_CATEGORY'
  | 'LABEL'
  | 'LOCATION'
  | 'PROJECT'
  | 'TRANSPORT_ORDER'
  | 'WORK_ORDER';

/** A link says what a stored record has, instead of its ID: `{ name: "North yard" }`, or `{ externalIds: { erp: "4711" } }`. All of it must be true of exactly one record. Or it leads to one that the same mutation creates: `{ ref: "harbour-wall" }`. */
export interface RecordLink {
  /** An external ID of it: short for `externalIds` with one. */
  externalId?: ExternalIdInput | null;
  /** External IDs of it; null for a system where it has none. */
  externalIds?: { [system: string]: string | null } | null;
  /** Its ID. */
  id?: string | null;
  /** Its `name`; null if it has none. */
  name?: string | null;
  /** The `ref` of a record that the same mutation creates, and nothing else. */
  ref?: string | null;
  /** Its `reference`; null if it has none. */
  reference?: string | null;
}

/** What a deletion does if other records refer to the ones it deletes. */
export type ReferenceHandling = 'CLEAR' | 'REFUSE';

/** Why a change was not reversed. */
export type RevertOutcome = 'FAILED' | 'KEPT';

/** A link says what a stored record has, instead of its ID: `{ name: "North yard" }`, or `{ externalIds: { erp: "4711" } }`. All of it must be true of exactly one record. */
export interface StoredRecordLink {
  /** An external ID of it: short for `externalIds` with one. */
  externalId?: ExternalIdInput | null;
  /** External IDs of it; null for a system where it has none. */
  externalIds?: { [system: string]: string | null } | null;
  /** Its ID. */
  id?: string | null;
  /** Its `name`; null if it has none. */
  name?: string | null;
  /** Its `reference`; null if it has none. */
  reference?: string | null;
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

/** The fields of an asset category to create or change. In a stored asset category, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetCategoryInput` requires. */
export interface UpsertAssetCategoryInput extends Partial<NewAssetCategory> {
  /** Only with `by: { field: ID }`: the ID of the asset category to change; a new one has none. */
  id?: string | null;
  /** The parent asset category, instead of `parentId`. */
  parent?: StoredRecordLink | null;
}

/** The fields of an asset to create or change. In a stored asset, absent fields stay unchanged and null clears a field; a new one needs the fields that `CreateAssetInput` requires. `externalIds` is replaced as a whole, but an upsert by an external ID keeps the IDs of other systems. */
export interface UpsertAssetInput extends Partial<NewAsset> {
  /** The location where the asset is, instead of `currentLocationId`. */
  currentLocation?: StoredRecordLink | null;
  /** Only with `by: { field: ID }`: the ID of the asset to change; a new one has none. */
  id?: string | null;
  /** The IDs to set in other systems, instead of `externalIds`; null removes one, and all others stay: `{ erp: "4711", crm: null }`. */
  mergeExternalIds?: { [system: string]: string | null } | null;
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
  /** What was expected, and what was received. */
  message: string;
  /** Where in the item: `["externalIds", "erp"]`. Empty if it is the item as a whole. */
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

/** What became of the changes that were to be reversed. */
export interface RevertedChanges {
  /** The number of changes that cannot be reversed. */
  failed: number;
  /** The number of changes whose records have changed since. */
  kept: number;
  /** The number of changes by which they were reversed: one for each record that is not as before already. */
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
  /** What became of it. */
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
  labels: Label[];
}

/** The names of each kind, its fields, and what its records have for fields without a value. */
export const kinds = {
  Asset: {
    plural: 'Assets',
    list: 'assets',
    unset: 'null',
    fields:
      'id name uid statusId assetTypeId currentLocationId trackUtilization manufacturedAt acquiredAt ownerId manufacturerId purchaseOrderId externalIds workspaceId createdAt updatedAt updatedBy { id }',
  },
  WorkOrder: {
    plural: 'WorkOrders',
    list: 'workOrders',
    unset: 'omitted',
    fields:
      'id name typeId reference projectId statusId locationId startDate endDate notes externalIds workspaceId createdAt updatedAt createdBy { id } updatedBy { id }',
  },
  Project: {
    plural: 'Projects',
    list: 'projects',
    unset: 'omitted',
    fields:
      'id name reference startDate endDate notes statusId companyId locationId externalIds workspaceId createdAt updatedAt createdBy { id } updatedBy { id }',
  },
  Location: {
    plural: 'Locations',
    list: 'locations',
    unset: 'omitted',
    fields:
      'id name latitude longitude address1 address2 city state postalCode country externalIds workspaceId createdAt updatedAt',
  },
  TransportOrder: {
    plural: 'TransportOrders',
    list: 'transportOrders',
    unset: 'omitted',
    fields:
      'id name reference number notes statusId projectId purchaseOrderId allocationOrderId workspaceId createdAt updatedAt createdBy { id }',
  },
  AssetCategory: {
    plural: 'AssetCategories',
    list: 'assetCategories',
    unset: 'omitted',
    fields: 'id name description parentId workspaceId createdAt updatedAt',
  },
  Label: {
    plural: 'Labels',
    list: 'labels',
    unset: 'omitted',
    fields: 'id name key color workspaceId createdAt updatedAt',
  },
} as const;

/** The fields of a page of changes. */
export const changePageFields =
  'endCursor hasMore nodes { action at cursor fields { after before field } kind message recordId requestId user { id } }';

/** The fields of what becomes of changes that are reversed. */
export const revertedChangesFields = 'failed kept made notReversed { cursor kind message outcome recordId } reversed';
