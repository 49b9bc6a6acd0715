/** issues.txt has an example of each form of each sentence, for reviewers; `npm run schema` updates it. */
import { expect, test } from 'vitest';
import { invalid } from '../../src/errors.ts';
import type { IssueCode, IssueValues, Path, ValidationIssue } from '../../src/model/issues.ts';

type Example<Code extends IssueCode> = IssueValues[Code] & { readonly other?: Path };

const uid = { by: { field: 'uid' }, text: 'C-7' };
const erp = { by: { externalId: 'erp' }, text: '4711' };
const name = { by: { field: 'name' }, text: 'North yard' };
const id = { by: { field: 'id' }, text: 'asset_01h455vb4pex5vsknk084sn02q' };
const long = 'x'.repeat(101);

/** The compiler asks for an example of each code. */
const examples: { readonly [Code in IssueCode]: readonly [Example<Code>, ...Example<Code>[]] } = {
  required: [{ description: 'The name of the asset.' }],
  'wrong-type': [
    { type: 'text', received: 5 },
    { type: 'text', received: undefined },
    { type: 'text-or-null', received: ['a'] },
    { type: 'number', received: '5' },
    { type: 'boolean', received: null },
    { type: 'date', received: 5 },
    { type: 'link', received: 'Bremen' },
    { type: 'external-id', received: long },
    { type: 'external-ids', received: '\u202e\n' },
    { type: 'external-ids-patch', received: true },
    { type: 'record', kind: 'asset', received: {} },
  ],
  'out-of-range': [{ min: -90, max: 90, received: 91 }],
  'too-long': [{ max: 10_000 }, { max: 500, isKey: true }],
  'record-too-long': [{ max: 200_000 }, { max: 200_000, stored: 'asset' }],
  'too-many-external-ids': [
    { max: 100, received: 101 },
    { max: 100, received: 101, stored: 'asset' },
  ],
  'invalid-character': [
    { character: 'nul', received: 'a\0b' },
    { character: 'surrogate', received: 'a\ud800' },
    { character: 'nul', received: '\0', isKey: true },
  ],
  blank: [
    { orNull: false, received: ' ' },
    { orNull: true, received: '' },
  ],
  'invalid-form': [{ called: 'a colour', example: '#2e7d32', received: 'green' }],
  'invalid-date': [
    { form: 'date', received: 'soon' },
    { form: 'date-time', received: '2026-03-01T7:30' },
    { form: 'day', received: '2026-02-30' },
    { form: 'zone', received: '2026-03-01T07:30:00' },
    { form: 'year', received: '0000-01-01' },
  ],
  'invalid-id': [{ max: 255, received: '' }],
  'invalid-ref': [{ max: 255, received: '' }],
  'invalid-cursor': [{ received: 'last' }],
  'unknown-field': [{ suggestion: 'name' }, {}, { kind: 'asset', known: ['id', 'name', 'uid'] }],
  'read-only': [{}],
  exclusive: [{ names: ['projectId', 'project'] }, { names: ['ref', 'id', 'name'] }],
  unlisted: [{ count: 1_200 }, { count: 12, what: 'fields' }],
  'empty-link': [{ known: ['id', 'name', 'uid'] }],
  contradiction: [{ externalId: 'erp', received: '4711' }],
  'key-required': [{ by: { field: 'uid' } }, { by: { externalId: 'erp' } }],
  'empty-key': [{ kind: 'asset', received: ' ' }],
  'unknown-ref': [{ ref: 'yard' }],
  'repeated-ref': [{ ref: 'yard' }],
  'rejected-target': [{ ref: 'yard' }, { kind: 'location', criteria: [name] }],
  'wrong-ref': [{ kind: 'location', ref: 'wall', actual: 'project' }],
  'wrong-kind': [
    { kind: 'asset category', prefix: 'category', received: 'Cranes' },
    { kind: 'location', prefix: 'location', received: id.text, actual: 'asset' },
  ],
  'no-record': [
    { kind: 'asset', ...id },
    { kind: 'location', ...id, actual: 'asset' },
    { kind: 'asset', prefix: 'asset', by: { field: 'id' }, text: '5' },
    { kind: 'asset', prefix: 'asset', isMalformed: true, by: { field: 'id' }, text: 'asset_5' },
    { kind: 'asset', ...uid },
    { kind: 'asset', ...erp },
  ],
  'no-match': [
    { kind: 'location', criteria: [name, erp, { by: { externalId: 'crm' }, text: null }] },
    { kind: 'location', criteria: Array.from({ length: 6 }, () => erp) },
  ],
  several: [
    { plural: 'locations', criteria: [name], found: ['location_1', 'location_2'] },
    { plural: 'locations', criteria: [erp], found: ['location_1', 'location_2', 'location_3'], isMore: true },
    { plural: 'locations', criteria: [name, erp], found: ['location_1', ['locations', 0]] },
  ],
  repeated: [
    { ...uid, other: [0] },
    { ...id, other: [0] },
    { ...erp, other: ['assets', 2] },
  ],
  taken: [
    { kind: 'asset', ...uid },
    { kind: 'asset', ...uid, other: [0] },
    { kind: 'asset', ...uid, other: [0], inExchange: true },
  ],
  changed: [{ kind: 'project', updatedAt: '2026-03-01T07:30:00.000Z', received: '2026-02-01T00:00:00.000Z' }],
  'changed-since': [{ kind: 'project', change: 4711 }],
  erased: [{ kind: 'project' }],
  referenced: [
    { kind: 'project', counts: [{ kind: 'asset', plural: 'assets', count: 1 }], ids: ['asset_1'], mayClear: true },
    {
      kind: 'project',
      counts: [
        { kind: 'asset', plural: 'assets', count: 1 },
        { kind: 'work order', plural: 'work orders', count: 10_000, isMore: true },
      ],
      ids: ['asset_1', 'order_1', 'order_2'],
      mayClear: true,
    },
    { kind: 'project', counts: [{ kind: 'asset', plural: 'assets', count: 2 }], ids: ['a', 'b'], mayClear: false },
  ],
  'still-referenced': [{ kind: 'project', referring: 'work order', id: 'order_1' }],
  cycle: [
    { kind: 'asset category', received: 'category_1' },
    { kind: 'asset category' },
    { kind: 'asset category', isRestored: true },
  ],
  'rejected-moves': [{}],
  clash: [
    { kind: 'allocation', occupied: 'asset', id: 'allocation_1' },
    { kind: 'allocation', occupied: 'asset', other: [2] },
  ],
};

const errorsByCode = Object.entries(examples).map(([code, values]) => {
  const errors = [...values].map((example) => invalid([{ path: [], code, ...example } as ValidationIssue]));
  return { code, errors };
});

test('issues.txt has an example of each sentence, by the code, and the status of a request with such issues only', async () => {
  const printed = errorsByCode.map(({ code, errors }) =>
    [`${code} (${errors[0]?.status})`, ...errors.map(({ message }) => `  ${message}`)].join('\n'),
  );
  await expect(`${printed.join('\n\n')}\n`).toMatchFileSnapshot('issues.txt');
});

test('no sentence repeats more than 100 characters of a value, or has a character that a terminal acts upon', () => {
  for (const { message } of errorsByCode.flatMap(({ errors }) => errors))
    expect(message).not.toMatch(/x{101}|\p{Cc}|\u202e/u);
});
