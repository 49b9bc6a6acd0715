import {
  dateTime,
  externalIds,
  foreignReference,
  indexed,
  mustExist,
  reference,
  required,
  text,
} from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const allocation = recordKind({
  name: 'Allocation',
  plural: 'Allocations',
  label: 'allocation',
  pluralLabel: 'allocations',
  description: 'A time for which an asset is reserved: for work, a project, a transport, a location or a user.',
  table: 'allocations',
  idPrefix: 'allocation',
  occupies: 'assetId',
  fields: {
    assetId: required(mustExist(reference('Asset', 'the asset that is allocated'))),
    workOrderId: reference('WorkOrder', 'the work order that the asset is allocated to'),
    projectId: reference('Project', 'the project that the asset is allocated to'),
    transportOrderId: reference('TransportOrder', 'the transport order that moves the asset'),
    locationId: reference('Location', 'the location where the asset will be'),
    allocationOrderId: foreignReference('AllocationOrder', 'the allocation order'),
    userId: foreignReference('User', 'the user to whom the asset is allocated'),
    startDate: indexed(dateTime('When the allocation starts. An allocation without a start has no time.')),
    endDate: dateTime('When the allocation ends; the asset is free from then on. Without an end, it stays allocated.'),
    statusId: foreignReference('Status', 'the status of the allocation'),
    notes: text('Notes on the allocation.'),
    externalIds: externalIds(),
  },
  example: {
    startDate: '2026-03-02T06:00:00Z',
    endDate: '2026-03-06T16:00:00Z',
    notes: 'With the deep bucket.',
    externalIds: { erp: '4711' },
  },
  stamps: ['createdBy', 'updatedBy'],
  unset: 'omitted',
});
