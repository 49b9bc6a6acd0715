import { dateTime, externalIds, foreignReference, reference, required, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/** Interface: "Project". */
export const project = recordKind({
  name: 'Project',
  plural: 'Projects',
  label: 'project',
  description: 'A project for a company, at a location.',
  table: 'projects',
  idPrefix: 'project',
  fields: {
    name: required(text('name of the project')),
    reference: text('reference code'),
    startDate: dateTime('when the project starts'),
    endDate: dateTime('when the project ends'),
    notes: text('notes'),
    statusId: foreignReference('Status', "ID of the project's status"),
    companyId: foreignReference('Company', 'ID of the company the project is for'),
    locationId: reference('Location', 'ID of the location of the project'),
    externalIds: externalIds(),
  },
  stamps: ['createdBy', 'updatedBy'],
  unset: 'omitted',
});
