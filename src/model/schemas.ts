/**
 * The parsers of a record kind, derived from its fields: they turn unknown input into typed input, or return all issues at
 * once. Values are kept exactly as sent, except datetimes, which are converted to UTC. Plain functions: a library of schemas would
 * leave only the object and the types of its fields to itself, and every rule and message is the service's own.
 */
import { closest, distance } from 'fastest-levenshtein';
import { aDate, parseDateTime } from './date-time.ts';
import { type Field, type TextField, textLengthOfAll } from './fields.ts';
import { count, expected, type Issue, isObject, type Parsed } from './issues.ts';
import { uncapitalized, withArticle } from './labels.ts';
import type { CreateOf, RecordKind, UpdateOf } from './record-kind.ts';

export interface ValueLimits {
  readonly maxTextLength: number;
  readonly maxExternalIds: number;
  readonly maxRecordLength: number;
}

type UnknownFields = 'rejected' | 'ignored';

/** Returns the issues of invalid input instead of throwing them: the service reports them with all others of the batch. */
export type RecordParser<T> = (input: unknown) => Parsed<T>;

export const createParser = <K extends RecordKind>(kind: K, limits: ValueLimits, unknownFields?: UnknownFields) =>
  recordParser<CreateOf<K>>(kind, limits, unknownFields, true);

/** Parses changes to a record: every field may be absent, but a required field cannot be cleared. */
export const updateParser = <K extends RecordKind>(kind: K, limits: ValueLimits, unknownFields?: UnknownFields) =>
  recordParser<UpdateOf<K>>(kind, limits, unknownFields, false);

function recordParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  unknownFields: UnknownFields = 'rejected',
  isNew: boolean,
): RecordParser<T> {
  const fields = Object.entries(kind.fields);
  const names = Object.keys(kind.fields);

  return (input) => {
    if (!isObject(input)) {
      const message = expected(`${withArticle(kind.label)} as a JSON object`, input);
      return { issues: [{ path: [], message }], validFields: {} };
    }
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const [name, field] of fields) {
      const { [name]: sent } = input;
      if (sent === undefined) {
        if (isNew && field.required) issues.push({ path: [name], message: requiredMessage(field) });
      } else if (sent === null && !field.required) {
        values[name] = null;
      } else if (field.type === 'externalIds') {
        const found = externalIdsIssues(field, sent, limits);
        for (const { path, message } of found) issues.push({ path: [name, ...path], message });
        // Not copied: a copy would lose the key `__proto__`.
        if (found.length === 0) values[name] = sent;
      } else {
        const parsed = parseValue(field, sent, limits);
        if ('value' in parsed) values[name] = parsed.value;
        else issues.push({ path: [name], message: parsed.problem });
      }
    }
    if (unknownFields === 'rejected') {
      const unknown = Object.keys(input).filter((name) => !Object.hasOwn(kind.fields, name));
      if (unknown.length > 0) issues.push(...unknownFieldIssues(unknown, names, kind.storedFields));
    }
    const tooLong = recordLengthProblem(values, limits);
    if (tooLong !== undefined) issues.push({ path: [], message: tooLong });
    // The cast is safe: the fields are those of T, and each has a value of its type.
    return issues.length === 0 ? { value: values as T } : { issues, validFields: values };
  };
}

/** Counts UTF-16 code units: of a character that has two, both count. */
export const recordLengthProblem = (record: object, { maxRecordLength }: ValueLimits): string | undefined =>
  textLengthOfAll([record]) > maxRecordLength
    ? `expected at most ${count(maxRecordLength)} characters of text in the whole record, received more`
    : undefined;

type ParsedValue = { readonly value: ComparedValue } | { readonly problem: string };

/** Parses a value that is not null. External IDs are not a single value: see `externalIdsIssues`. */
function parseValue(field: Exclude<Field, { type: 'externalIds' }>, sent: unknown, limits: ValueLimits): ParsedValue {
  switch (field.type) {
    case 'boolean':
    case 'dateTime':
      return parseComparedValue(field, sent, limits.maxTextLength);
    case 'number': {
      const { min, max } = field;
      if (typeof sent === 'number' && sent >= min && sent <= max) return { value: sent };
      return { problem: expected(`a number from ${min} to ${max}`, sent) };
    }
    case 'text': {
      if (typeof sent !== 'string') return { problem: expected('text', sent) };
      const problem =
        textProblem(sent, maxLengthOf(field, limits)) ?? blankProblem(field, sent) ?? formProblem(field, sent);
      return problem === undefined ? { value: sent } : { problem };
    }
    default: {
      if (typeof sent !== 'string') return { problem: expected(anIdentifier, sent) };
      const problem = identifierProblem(sent);
      return problem === undefined ? { value: sent } : { problem };
    }
  }
}

export const maxIdentifierLength = 255;

/** The longest text that has an index: an entry of Postgres's has at most 2,704 bytes, and a character up to four. */
const maxIndexedLength = 500;

export const maxLengthOf = (
  { indexed = false }: Pick<Field, 'indexed'>,
  { maxTextLength }: Pick<ValueLimits, 'maxTextLength'>,
): number => (indexed ? Math.min(maxIndexedLength, maxTextLength) : maxTextLength);

/** Changes `The name of the asset.` to `required: the name of the asset`. */
export const requiredMessage = ({ description }: Field): string =>
  `required: ${uncapitalized(description.replace(/\.$/, ''))}`;

/**
 * Returns what is wrong with a text; undefined if nothing is. SQLite would store NUL, which Postgres rejects, and would return
 * lone surrogates changed.
 */
export function textProblem(text: string, maxLength: number): string | undefined {
  if (isLongerThan(text, maxLength)) return `expected at most ${count(maxLength)} characters, received more`;
  if (text.includes('\0')) return expected('text without the character NUL', text);
  if (!text.isWellFormed()) return expected('text without lone surrogates (invalid Unicode)', text);
  return undefined;
}

/** Limits count Unicode code points, but only where the UTF-16 length cannot decide: counting visits every character. */
const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || Array.from(text).length > maxLength);

/** True if a text has nothing but white space: it can be neither a name nor a key to find a record by. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** Programs send an empty text where a record has no unique one, but only one record could have it: they are to send null. */
function blankProblem({ required, unique }: Field, text: string): string | undefined {
  if (!(required || unique) || !isBlank(text)) return undefined;
  return expected(`text with at least one character that is not white space${required ? '' : ', or null'}`, text);
}

/** White space alone is no part of a form, such as the ID in the key of a label: without it, the text has the form, too. */
const formProblem = ({ form }: TextField, text: string): string | undefined =>
  form && ![text, text.trimEnd()].every((each) => form.pattern.test(each))
    ? expected(`${form.called} such as ${form.example}`, text)
    : undefined;

const anIdentifier = `an ID of 1 to ${maxIdentifierLength} characters`;

export const idProblem = ({ storedFields }: RecordKind, sent: unknown): string | undefined => {
  if (typeof sent === 'string') return undefined;
  return sent === undefined ? requiredMessage(storedFields.id) : expected(anIdentifier, sent);
};

export function identifierProblem(id: string, what = anIdentifier): string | undefined {
  if (id === '' || isLongerThan(id, maxIdentifierLength)) return expected(what, id);
  return textProblem(id, maxIdentifierLength);
}

export function externalIdsProblem(externalIds: object, { maxExternalIds }: ValueLimits): string | undefined {
  const size = Object.keys(externalIds).length;
  return size > maxExternalIds ? `expected at most ${count(maxExternalIds)} keys, received ${count(size)}` : undefined;
}

/** In a patch, null removes an ID, and the limit on their number is for the result: see services/match.ts. */
export function externalIdsIssues(field: Field, value: unknown, limits: ValueLimits, isPatch = false): Issue[] {
  const example = `{"erp":"4711"${isPatch ? ',"crm":null' : ''}}`;
  if (!isObject(value)) return [{ path: [], message: expected(`an object of texts such as ${example}`, value) }];
  const tooMany = isPatch ? undefined : externalIdsProblem(value, limits);
  if (tooMany !== undefined) return [{ path: [], message: tooMany }];
  const maxLength = maxLengthOf(field, limits);
  const issues: Issue[] = [];
  let unlisted = 0;
  for (const [key, text] of Object.entries(value)) {
    const keyProblem = textProblem(key, maxLength);
    const problem = externalIdProblem(text, maxLength, isPatch);
    if ((keyProblem || problem) && issues.length >= maxListed) unlisted += 1;
    else {
      if (keyProblem) issues.push({ path: [key], message: `as a key, ${keyProblem}` });
      if (problem) issues.push({ path: [key], message: problem });
    }
  }
  if (unlisted > 0) issues.push({ path: [], message: `and ${count(unlisted)} more` });
  return issues;
}

function externalIdProblem(text: unknown, maxLength: number, isPatch: boolean): string | undefined {
  if (typeof text === 'string') return textProblem(text, maxLength);
  return isPatch && text === null ? undefined : expected(isPatch ? 'text or null' : 'text', text);
}

/** The most unknown fields, or invalid external IDs, listed per record: more add no information, and each takes time. */
const maxListed = 10;

export function unknownFieldIssues(names: readonly string[], known: readonly string[], readOnly: object = {}): Issue[] {
  const issues = names.slice(0, maxListed).map((name) => ({
    path: [name],
    message: Object.hasOwn(readOnly, name)
      ? 'read-only field, set by the service'
      : `unknown field${suggestion(name, known)}`,
  }));
  const unlisted = names.length - issues.length;
  return unlisted > 0 ? [...issues, { path: [], message: `and ${count(unlisted)} more unknown fields` }] : issues;
}

/** Suggests a field, `, did you mean "name"?`, but only for near misses: at most a third of the letters may differ. */
export function suggestion(name: string, fieldNames: readonly string[]): string {
  if (name.length > 2 * Math.max(...fieldNames.map((fieldName) => fieldName.length))) return '';
  const guess = closest(name, fieldNames);
  return distance(name, guess) <= Math.ceil(guess.length / 3) ? `, did you mean "${guess}"?` : '';
}

export type ComparedValue = string | number | boolean;

/** Parses a value that a field is compared with: in the forms of input, but it need not be storable. */
export function parseComparedValue(
  { type }: Pick<Field, 'type'>,
  sent: unknown,
  maxLength: number,
): { value: ComparedValue } | { problem: string } {
  switch (type) {
    case 'number':
      return typeof sent === 'number' && Number.isFinite(sent)
        ? { value: sent }
        : { problem: expected('a number', sent) };
    case 'boolean':
      return typeof sent === 'boolean' ? { value: sent } : { problem: expected('true or false', sent) };
    case 'dateTime': {
      if (typeof sent !== 'string') return { problem: expected(aDate, sent) };
      const parsed = parseDateTime(sent);
      return 'value' in parsed ? parsed : { problem: expected(parsed.expected, sent) };
    }
    default: {
      if (typeof sent !== 'string') return { problem: expected('text', sent) };
      const problem = textProblem(sent, maxLength);
      return problem === undefined ? { value: sent } : { problem };
    }
  }
}
