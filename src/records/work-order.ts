import { dateTime, externalIds, foreignReference, indexed, matchable, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const workOrder = recordKind({
  name: 'WorkOrder',
  plural: 'WorkOrders',
  label: 'work order',
  pluralLabel: 'work orders',
  description: 'Work to be done for a project, at a location.',
  table: 'work_orders',
  idPrefix: 'work_order',
  fields: {
    name: indexed(text('The name of the work order.')),
    typeId: foreignReference('WorkOrderType', 'the type of the work order'),
    reference: matchable(text('The reference code of the work order.')),
    projectId: reference('Project', 'the project that the work is for'),
    statusId: foreignReference('Status', 'the status of the work order'),
    locationId: reference('Location', 'the location where the work is done'),
    startDate: indexed(dateTime('When the work order starts.')),
    endDate: dateTime('When the work order ends.'),
    notes: text('Notes on the work order.'),
    externalIds: externalIds(),
    assetId: reference('Asset', 'the asset that the work is for'),
  },
  example: {
    name: 'Set up the crane',
    reference: 'WO-1',
    projectId: 'ERP-PROJECT-7',
    startDate: '2026-03-02T07:00:00+01:00',
    endDate: '2026-03-02T12:00:00+01:00',
    notes: 'The road to the quay is closed until 06:30.',
    externalIds: { erp: '4711' },
  },
  stamps: ['createdBy', 'updatedBy'],
  unset: 'omitted',
});
