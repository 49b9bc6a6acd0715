import {
  dateTime,
  externalIds,
  foreignReference,
  indexed,
  matchable,
  reference,
  required,
  text,
} from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const project = recordKind({
  name: 'Project',
  plural: 'Projects',
  label: 'project',
  pluralLabel: 'projects',
  description: 'A project for a company, at a location.',
  table: 'projects',
  idPrefix: 'project',
  fields: {
    name: required(indexed(text('The name of the project.'))),
    reference: matchable(text('The reference code of the project.')),
    startDate: indexed(dateTime('When the project starts.')),
    endDate: dateTime('When the project ends.'),
    notes: text('Notes on the project.'),
    statusId: foreignReference('Status', 'the status of the project'),
    companyId: foreignReference('Company', 'the company that the project is for'),
    locationId: reference('Location', 'the location of the project'),
    externalIds: externalIds(),
  },
  example: {
    name: 'Harbour wall',
    reference: 'P-7',
    startDate: '2026-03-01',
    notes: 'The quay stays open to ships.',
    companyId: 'ERP-COMPANY-5',
    locationId: 'ERP-LOCATION-2',
    externalIds: { erp: '4711' },
  },
  stamps: ['createdBy', 'updatedBy'],
  unset: 'omitted',
});
