/** The export in the OpenAPI document. It is not one of the operations, and has no route of theirs. */
import { pathName } from '../../model/labels.ts';
import { recordKinds } from '../../records/index.ts';
import { exportErrors } from './errors.ts';
import { type Json, responseHeaders } from './parts.ts';

const files = [...recordKinds.flatMap((kind) => [`${pathName(kind)}.csv`, `${pathName(kind)}.ndjson`]), 'all.ndjson'];

const text = (name: string, description: string): Json => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
});

export const exportPath = '/export/{file}';

export const exportOperation = (): Json => ({
  operationId: 'exportRecords',
  tags: ['Export'],
  summary: 'Export records',
  description:
    'Returns all records of a kind, or of all kinds, as CSV or NDJSON, oldest first, from one state of the database. A workspace can have one export at a time; others wait.',
  parameters: [
    {
      name: 'file',
      in: 'path',
      required: true,
      description: 'The kind of the records, and the format. All kinds together are in the order that links need.',
      schema: { type: 'string', enum: files },
    },
    text(
      'where',
      'Only records that match this filter, which is that of GraphQL as JSON: `{"name":{"eq":"Crane"}}`. Not with all kinds.',
    ),
    text(
      'externalIds',
      'The names of up to 10 systems, `erp,crm`: their IDs have columns of their own, also those of linked records.',
    ),
    {
      name: 'excel',
      in: 'query',
      description:
        'Only for CSV: with a byte order mark, and with an apostrophe before texts that a spreadsheet program would execute.',
      schema: { type: 'boolean' },
    },
  ],
  responses: {
    200: {
      description: 'The records.',
      headers: responseHeaders('Export-Count'),
      content: {
        'text/csv': { schema: { type: 'string' }, example: 'id,name,uid\nasset_01kq5xyz,Crane,C-7\n' },
        'application/x-ndjson': {
          schema: { type: 'string' },
          example: '{"kind":"ASSET","id":"asset_01kq5xyz","name":"Crane"}\n',
        },
      },
    },
    ...exportErrors(),
  },
});
