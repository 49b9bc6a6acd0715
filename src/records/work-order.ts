import { dateTime, externalIds, foreignReference, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/** Interface: "Work order". */
export const workOrder = recordKind({
  name: 'WorkOrder',
  plural: 'WorkOrders',
  label: 'work order',
  description: 'Work to be done for a project, at a location.',
  table: 'work_orders',
  idPrefix: 'work_order',
  fields: {
    name: text('name of the work order'),
    typeId: foreignReference('WorkOrderType', 'ID of the work order type'),
    reference: text('reference code'),
    projectId: reference('Project', 'ID of the project the work is for'),
    statusId: foreignReference('Status', "ID of the work order's status"),
    locationId: reference('Location', 'ID of the location the work is done at'),
    startDate: dateTime('when the work order starts'),
    endDate: dateTime('when the work order ends'),
    notes: text('notes'),
    externalIds: externalIds(),
  },
  stamps: ['createdBy', 'updatedBy'],
  unset: 'omitted',
});
