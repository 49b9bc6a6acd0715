import {
  boolean,
  dateTime,
  externalIds,
  foreignReference,
  reference,
  required,
  text,
  unique,
} from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/** Interface: "Asset". */
export const asset = recordKind({
  name: 'Asset',
  plural: 'Assets',
  label: 'asset',
  description: 'An item the workspace owns or uses, such as a machine.',
  table: 'assets',
  idPrefix: 'asset',
  fields: {
    name: required(text('name of the asset')),
    uid: unique(text('unique reference ID of the asset')),
    statusId: foreignReference('Status', "ID of the asset's status"),
    assetTypeId: foreignReference('AssetType', "ID of the asset's type"),
    currentLocationId: reference('Location', 'ID of the current location'),
    trackUtilization: boolean('whether the utilization of the asset is tracked'),
    manufacturedAt: dateTime('when manufactured'),
    acquiredAt: dateTime('when acquired'),
    ownerId: foreignReference('Company', 'ID of the owning company'),
    manufacturerId: foreignReference('Company', 'ID of the manufacturing company'),
    purchaseOrderId: foreignReference('PurchaseOrder', 'ID of the purchase order used to buy the asset'),
    externalIds: externalIds(),
  },
  stamps: ['updatedBy'],
  unset: 'null',
});
