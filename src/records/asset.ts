import {
  boolean,
  dateTime,
  externalIds,
  foreignReference,
  indexed,
  reference,
  required,
  text,
  unique,
} from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const asset = recordKind({
  name: 'Asset',
  plural: 'Assets',
  label: 'asset',
  pluralLabel: 'assets',
  description: 'An item the workspace owns or uses, such as a machine.',
  table: 'assets',
  idPrefix: 'asset',
  fields: {
    name: required(indexed(text('The name of the asset.'))),
    uid: unique(text('The unique reference ID of the asset: no other asset of the workspace has it.'), {
      example: 'C-7',
    }),
    statusId: foreignReference('Status', 'the status of the asset'),
    assetTypeId: foreignReference('AssetType', 'the type of the asset'),
    currentLocationId: reference('Location', 'the location where the asset is'),
    trackUtilization: boolean('Whether the utilization of the asset is tracked.'),
    manufacturedAt: dateTime('When the asset was manufactured.'),
    acquiredAt: dateTime('When the asset was acquired.'),
    ownerId: foreignReference('Company', 'the company that owns the asset', { reverse: 'ownedAssets' }),
    manufacturerId: foreignReference('Company', 'the company that made the asset', { reverse: 'manufacturedAssets' }),
    purchaseOrderId: foreignReference('PurchaseOrder', 'the purchase order used to buy the asset'),
    externalIds: externalIds(),
  },
  example: {
    name: 'Crane',
    assetTypeId: 'ERP-TYPE-12',
    trackUtilization: true,
    manufacturedAt: '2019-05-01',
    acquiredAt: '2020-02-17T09:30:00+01:00',
    manufacturerId: 'ERP-COMPANY-3',
    externalIds: { erp: '4711' },
  },
  stamps: ['updatedBy'],
  unset: 'null',
});
