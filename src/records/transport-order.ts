import { foreignReference, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/** Interface: "Transport order". */
export const transportOrder = recordKind({
  name: 'TransportOrder',
  plural: 'TransportOrders',
  label: 'transport order',
  description: 'A transport for a project.',
  table: 'transport_orders',
  idPrefix: 'transport_order',
  fields: {
    name: text('name of the transport order'),
    reference: text('reference code'),
    number: text('transport order number'),
    notes: text('notes'),
    statusId: foreignReference('Status', "ID of the transport order's status"),
    projectId: reference('Project', 'ID of the project the transport is for'),
    purchaseOrderId: foreignReference('PurchaseOrder', 'ID of the purchase order'),
    allocationOrderId: foreignReference('AllocationOrder', 'ID of the allocation order'),
  },
  stamps: ['createdBy'],
  unset: 'omitted',
});
