import { foreignReference, indexed, matchable, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const transportOrder = recordKind({
  name: 'TransportOrder',
  plural: 'TransportOrders',
  label: 'transport order',
  pluralLabel: 'transport orders',
  description: 'A transport for a project.',
  table: 'transport_orders',
  idPrefix: 'transport_order',
  fields: {
    name: indexed(text('The name of the transport order.')),
    reference: matchable(text('The reference code of the transport order.')),
    number: matchable(text('The number of the transport order.')),
    notes: text('Notes on the transport order.'),
    statusId: foreignReference('Status', 'the status of the transport order'),
    projectId: reference('Project', 'the project that the transport is for'),
    purchaseOrderId: foreignReference('PurchaseOrder', 'the purchase order for the transport'),
    allocationOrderId: foreignReference('AllocationOrder', 'the allocation order for the transport'),
  },
  example: {
    name: 'Bring the crane to the harbour wall',
    reference: 'TO-1',
    number: '2026-0001',
    notes: 'Call the crane driver on arrival.',
    projectId: 'ERP-PROJECT-7',
  },
  stamps: ['createdBy'],
  unset: 'omitted',
});
