import { foreignTypes, formed, indexed, text, unique } from '../model/fields.ts';
import { linkField } from '../model/labels.ts';
import { type RecordKind, recordKind } from '../model/record-kind.ts';

export const label = recordKind({
  name: 'Label',
  plural: 'Labels',
  label: 'label',
  pluralLabel: 'labels',
  description: 'The name and the colour of something that is kept in another system, such as a status or a company.',
  table: 'labels',
  idPrefix: 'label',
  fields: {
    name: indexed(text('The name that people know it by.')),
    key: unique(
      formed(
        text(
          'What has the name: its type, such as `STATUS` or `ASSET_TYPE`, a colon, and the ID that records have. No other label of the workspace has it.',
        ),
        {
          pattern:
            /^(?:ALLOCATION_ORDER|ASSET_TYPE|COMPANY|PURCHASE_ORDER|STATUS|USER|WORK_ORDER_TYPE):[\s\S]{1,255}$/u,
          called:
            'ALLOCATION_ORDER, ASSET_TYPE, COMPANY, PURCHASE_ORDER, STATUS, USER or WORK_ORDER_TYPE, a colon and an ID,',
          example: 'STATUS:status-7',
        },
      ),
      { example: 'STATUS:status-7' },
    ),
    color: formed(text('The colour to show it in, such as `#2e7d32`.'), {
      pattern: /^#[0-9A-Fa-f]{6}$/,
      called: 'a colour',
      example: '#2e7d32',
    }),
  },
  example: { name: 'In use', color: '#2e7d32' },
  stamps: [],
  unset: 'omitted',
});

export const labelledTypes: readonly string[] = Object.keys(foreignTypes).filter((name) => name !== 'Workspace');

/** Fields with labels, and their columns of names in files: `statusId`, `status.name`. */
export const labelledFields = ({ storedFields }: Pick<RecordKind, 'storedFields'>) =>
  Object.entries(storedFields).flatMap(([field, declared]) =>
    declared.type === 'foreignReference' && labelledTypes.includes(declared.target)
      ? [{ field, nameColumn: `${linkField(field)}.name`, type: declared.target }]
      : [],
  );
