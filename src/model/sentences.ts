/** test/model/issues.txt has an example of each issue. A sentence quotes at most 100 characters of input. */
import {
  type Count,
  type DescribedIssue,
  type ExpectedDate,
  expected,
  formatCount,
  formatPath,
  type IssueCode,
  type IssueData,
  type Path,
  quote,
  type ValidationIssue,
  type ValueType,
} from './issues.ts';
import { pluralize, uncapitalized, withArticle } from './labels.ts';
import type { Criterion } from './record-kind.ts';

/** `required: the name of the asset` */
export const sentence = <Code extends IssueCode>(issue: IssueData<Code> & { readonly other?: Path }): string =>
  sentences[issue.code](issue);

export const describeIssue = (issue: ValidationIssue): DescribedIssue => {
  const { path, code, other } = issue;
  return { path, message: sentence(issue), code, other };
};

type Sentences = { readonly [Code in IssueCode]: (issue: IssueData<Code> & { readonly other?: Path }) => string };

const sentences: Sentences = {
  required: ({ description }) => `required: ${uncapitalized(description.replace(/\.$/, ''))}`,
  'wrong-type': (issue) =>
    expected(
      issue.type === 'record' ? `${withArticle(issue.kind)} as a JSON object` : valueTypes[issue.type],
      issue.received,
    ),
  'out-of-range': ({ min, max, received }) => expected(`a number from ${min} to ${max}`, received),
  'too-long': ({ max, isKey }) => `${asKey(isKey)}expected at most ${formatCount(max)} characters, received more`,
  'record-too-long': ({ max, stored }) =>
    `expected at most ${formatCount(max)} characters of text in the whole record, received more${including(stored)}`,
  'too-many-external-ids': ({ max, received, stored }) =>
    `expected at most ${formatCount(max)} keys, received ${formatCount(received)}${including(stored)}`,
  'invalid-character': ({ character, received, isKey }) =>
    `${asKey(isKey)}${expected(`text without ${characters[character]}`, received)}`,
  blank: ({ orNull, received }) =>
    expected(`text with at least one character that is not white space${orNull ? ', or null' : ''}`, received),
  'invalid-form': ({ called, example, received }) => expected(`${called} such as ${example}`, received),
  'invalid-date': ({ form, received }) => expected(dateForms[form], received),
  'invalid-id': ({ max, received }) => expected(`an ID of 1 to ${max} characters`, received),
  'invalid-ref': ({ max, received }) => expected(`a text of 1 to ${max} characters`, received),
  'invalid-cursor': ({ received }) => expected('a cursor of a change, such as "4711"', received),

  'unknown-field': (issue) => {
    if ('known' in issue) return `unknown field: a link to ${withArticle(issue.kind)} has ${issue.known.join(', ')}`;
    return `unknown field${suggestionText(issue.suggestion)}`;
  },
  'read-only': () => 'read-only field, set by the service',
  exclusive: ({ names: [first, ...others] }) => `expected ${first} or ${others.join(', ')}, received both`,
  unlisted: ({ count: n, what }) => `and ${formatCount(n)} more${what === 'fields' ? ' unknown fields' : ''}`,

  'empty-link': ({ known }) => `expected a value of at least one of ${known.join(', ')}, received none`,
  contradiction: ({ externalId, received }) =>
    expected(`the ID that externalIds has of ${quote(externalId)}`, received),
  'key-required': ({ by }) =>
    `required: records are found by ${'field' in by ? `the ${by.field}` : 'this external ID'}`,
  'empty-key': ({ kind, received }) => expected(`a value to find the ${kind} by`, received),
  'unknown-ref': ({ ref }) => `this mutation has no record with the ref ${quote(ref)}`,
  'repeated-ref': ({ ref }) => `another record of this mutation has the ref ${quote(ref)}`,
  'rejected-target': (issue) => {
    const target =
      'ref' in issue
        ? `record with the ref ${quote(issue.ref)}`
        : `${issue.kind} with ${describeCriteria(issue.criteria)}`;
    return `the ${target} was rejected`;
  },
  'wrong-ref': ({ kind, ref, actual }) =>
    `expected the ref of ${withArticle(kind)}, ${quote(ref)} is the ref of ${withArticle(actual)}`,
  'wrong-kind': ({ kind, prefix, received, actual }) => {
    const that = actual === undefined ? '' : `that of ${withArticle(actual)}, `;
    return `expected the ID of a stored ${kind} (${prefix}_…), received ${that}${quote(received)}`;
  },
  'no-record': ({ kind, prefix, isMalformed, actual, ...key }) => {
    const none = `there is no ${kind} with ${keyText(key)}`;
    if (isMalformed) return `${none}: it starts like an ID of this service, but has another form`;
    if (actual !== undefined) return `${none}: this is the ID of ${withArticle(actual)}`;
    return prefix === undefined ? `${none} in this workspace` : `${none}: IDs of this service start with ${prefix}_`;
  },
  'no-match': ({ kind, criteria }) => `expected one ${kind}, received ${describeKeyOrCriteria(criteria)}`,
  several: ({ plural, criteria, found, isMore }) => {
    const records = found.map((record) => (typeof record === 'string' ? record : itemText(record)));
    return `${isMore ? 'several' : found.length} ${plural} have ${describeKeyOrCriteria(criteria)}: ${joinList(records, isMore)}`;
  },

  repeated: ({ other = [], ...key }) => `${itemText(other)} also has ${keyText(key)}`,
  taken: ({ kind, inExchange, other = [], ...key }) => {
    const holder = other.length === 0 ? `another ${kind}` : `${itemText(other)} also`;
    return `${holder} has ${keyText(key)}${inExchange ? ', and gives it up only in exchange' : ''}`;
  },
  changed: ({ kind, updatedAt, received }) => expected(`the updatedAt of the stored ${kind}, "${updatedAt}"`, received),
  'changed-since': ({ kind, change }) => `this ${kind} has changed since, last by change ${change}`,
  erased: ({ kind }) => `the earlier values of this ${kind} have been erased`,
  referenced: ({ kind, counts, ids, mayClear }) => {
    const total = counts.reduce((sum, each) => sum + each.count, 0);
    const by = conjunction.format(counts.map(countText));
    const advice = `; delete ${total === 1 ? 'it' : 'them'} first, or send references: CLEAR`;
    const areMore = total > ids.length || counts.some(({ isMore }) => isMore);
    return `this ${kind} is referenced by ${by}: ${joinList(ids, areMore)}${mayClear ? advice : ''}`;
  },
  'still-referenced': ({ kind, referring, id }) => `this ${kind} is still referenced by the ${referring} ${id}`,
  cycle: ({ kind, received, isRestored }) => {
    if (isRestored) return `this ${kind} would be its own ancestor, because others have been moved since`;
    const other = `${withArticle(kind)} that is neither this one nor one of its descendants`;
    return received === undefined ? `expected ${other}` : expected(`the ID of ${other}`, received);
  },
  'rejected-moves': () => 'other records that this batch moves were rejected',
  clash: ({ kind, occupied, id, other = [] }) =>
    `${id === undefined ? itemText(other) : `the ${kind} ${id}`} has this ${occupied} at this time`,
};

export const suggestionText = (name: string | undefined): string =>
  name === undefined ? '' : `, did you mean "${name}"?`;

const asKey = (isKey = false): string => (isKey ? 'as a key, ' : '');

const including = (stored: string | undefined): string =>
  stored === undefined ? '' : `, including those of the stored ${stored}`;

const valueTypes: Readonly<Record<ValueType, string>> = {
  text: 'text',
  'text-or-null': 'text or null',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date such as 2026-03-01 or 2026-03-01T07:30:00Z',
  link: 'an object such as {"name":"Bremen"}',
  'external-id': 'an object such as {"key":"erp","value":"4711"}',
  'external-ids': 'an object of texts such as {"erp":"4711"}',
  'external-ids-patch': 'an object of texts such as {"erp":"4711","crm":null}',
};

export const dateForms: Readonly<Record<ExpectedDate, string>> = {
  date: valueTypes.date,
  'date-time': 'a date and time such as 2026-03-01T07:30:00Z',
  day: 'a day that exists',
  zone: 'a time with a zone (Z or an offset such as +02:00)',
  year: 'a date in the years 0001 to 9999',
};

const characters = { nul: 'the character NUL', surrogate: 'lone surrogates (invalid Unicode)' };

/** `the uid "C-7"`, `the ID "4711"` or `the external ID "4711" of "erp"` */
export function keyText({ by, text }: Criterion): string {
  if ('externalId' in by) return `the external ID ${quote(text ?? '')} of ${quote(by.externalId)}`;
  return `the ${by.field === 'id' ? 'ID' : by.field} ${quote(text ?? '')}`;
}

function describeKeyOrCriteria(criteria: readonly Criterion[]): string {
  const [first, second] = criteria;
  return first && !second ? keyText(first) : describeCriteria(criteria);
}

const maxListed = 5;

/** `name "North yard" and externalIds.crm null` */
function describeCriteria(criteria: readonly Criterion[]): string {
  const texts = criteria.slice(0, maxListed).map(({ by, text }) => {
    const key = formatPath('field' in by ? [by.field] : ['externalIds', by.externalId]);
    return `${key} ${text === null ? 'null' : quote(text)}`;
  });
  return [...texts, ...(criteria.length > maxListed ? ['…'] : [])].join(' and ');
}

const itemText = (path: Path): string => `item ${formatPath(path)} of this batch`;

const joinList = (ids: readonly string[], isMore = false): string => [...ids, ...(isMore ? ['…'] : [])].join(', ');

/** `2 assets`, or `more than 10,000 assets` */
const countText = ({ kind, plural, count, isMore }: Count): string =>
  `${isMore ? 'more than ' : ''}${pluralize(count, { label: kind, pluralLabel: plural })}`;

const conjunction = new Intl.ListFormat('en-GB');
