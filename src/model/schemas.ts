/**
 * The schemas of a record kind, derived from its fields: they parse unknown input into typed input, or return all issues at
 * once. Values are kept exactly as sent, except datetimes, which are converted to UTC.
 */
import { closest, distance } from 'fastest-levenshtein';
import * as z from 'zod';
import { aDate, parseDateTime } from './date-time.ts';
import { type ExternalIds, type Field, type NumberField, type TextField, textLengthOfAll } from './fields.ts';
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
  recordParser<CreateOf<K>>(kind, limits, unknownFields, (field) => {
    const schema = valueSchema(field, limits);
    return field.required ? schema : schema.nullish();
  });

/** Parses changes to a record: every field may be absent, but a required field cannot be cleared. */
export const updateParser = <K extends RecordKind>(kind: K, limits: ValueLimits, unknownFields?: UnknownFields) =>
  recordParser<UpdateOf<K>>(kind, limits, unknownFields, (field) => {
    const schema = valueSchema(field, limits);
    return field.required ? schema.optional() : schema.nullish();
  });

function recordParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  unknownFields: UnknownFields = 'rejected',
  fieldSchema: (field: Field) => z.ZodType,
): RecordParser<T> {
  const shape = Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, fieldSchema(field)]));
  const options = {
    error: (issue: { input?: unknown }) => expected(`${withArticle(kind.label)} as a JSON object`, issue.input),
  };
  const schema = unknownFields === 'rejected' ? z.strictObject(shape, options) : z.object(shape, options);

  return (input) => {
    const result = schema.safeParse(input);
    const issues = result.success ? [] : result.error.issues.flatMap((issue) => issuesOf(kind, issue));
    const valid = result.success ? result.data : validFields(kind, input, issues);
    const tooLong = recordLengthProblem(valid, limits);
    if (tooLong !== undefined) issues.push({ path: [], message: tooLong });
    // The cast is safe: the shape has exactly the fields of T, and each schema accepts only values of its field's type.
    return issues.length === 0 ? { value: valid as T } : { issues, validFields: valid };
  };
}

export const recordLengthProblem = (record: object, { maxRecordLength }: ValueLimits): string | undefined =>
  isRecordLongerThan(record, maxRecordLength)
    ? `expected at most ${count(maxRecordLength)} characters of text in the whole record, received more`
    : undefined;

function validFields(kind: RecordKind, input: unknown, issues: readonly Issue[]): Readonly<Record<string, unknown>> {
  if (!isObject(input)) return {};
  const invalid = new Set(issues.map(({ path }) => path[0]));
  const names = Object.keys(kind.fields).filter((name) => Object.hasOwn(input, name) && !invalid.has(name));
  return Object.fromEntries(names.map((name) => [name, input[name]]));
}

function issuesOf(kind: RecordKind, issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return unknownFieldIssues(issue.keys, Object.keys(kind.fields), kind.storedFields);
  }
  const path = issue.path.map((step) => (typeof step === 'symbol' ? step.toString() : step));
  const entries: readonly Issue[] | undefined = issue.code === 'custom' ? issue.params?.entries : undefined;
  return entries?.map((entry) => ({ ...entry, path: [...path, ...entry.path] })) ?? [{ path, message: issue.message }];
}

function valueSchema(field: Field, limits: ValueLimits): z.ZodType {
  switch (field.type) {
    case 'text':
      return textSchema(field, maxLengthOf(field, limits));
    case 'number':
      return numberSchema(field);
    case 'boolean':
      return z.boolean({ error: mismatch(field, 'true or false') });
    case 'dateTime':
      return dateTimeSchema(field);
    case 'externalIds':
      return externalIdsSchema(field, limits);
    case 'id':
    case 'reference':
    case 'foreignReference':
      return identifierSchema(field);
  }
}

export const maxIdentifierLength = 255;

/** The longest text that has an index: an entry of Postgres's has at most 2,704 bytes, and a character up to four. */
const maxIndexedLength = 500;

export const maxLengthOf = (
  { indexed = false }: Pick<Field, 'indexed'>,
  { maxTextLength }: Pick<ValueLimits, 'maxTextLength'>,
): number => (indexed ? Math.min(maxIndexedLength, maxTextLength) : maxTextLength);

export const requiredMessage = (field: Field): string => `required: ${inRunningText(field.description)}`;

function mismatch(field: Field, what: string) {
  const required = requiredMessage(field);
  return ({ input }: { input?: unknown }) => (input === undefined ? required : expected(what, input));
}

/** Changes `The name of the asset.` to `the name of the asset`. */
const inRunningText = (description: string): string => uncapitalized(description.replace(/\.$/, ''));

function textSchema(field: TextField, maxLength: number) {
  return z.string({ error: mismatch(field, 'text') }).superRefine((text, context) => {
    const problem = textProblem(text, maxLength) ?? blankProblem(field, text) ?? formProblem(field, text);
    if (problem) context.addIssue(problem);
  });
}

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
  text.length > maxLength && (text.length > 2 * maxLength || text.length - pairsIn(text) > maxLength);

function isRecordLongerThan(record: object, maxLength: number): boolean {
  const length = textLengthOfAll([record]);
  if (length <= maxLength || length > 2 * maxLength) return length > maxLength;
  return length - Object.values(record).reduce<number>((pairs, value) => pairs + pairsIn(value), 0) > maxLength;
}

function pairsIn(value: unknown): number {
  let pairs = 0;
  if (typeof value === 'object' && value !== null)
    for (const text of Object.entries(value).flat()) pairs += pairsIn(text);
  if (typeof value === 'string') for (const character of value) if (character.length === 2) pairs += 1;
  return pairs;
}

/** True if a text has nothing but white space: it can be neither a name nor a key to find a record by. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** Programs send an empty text where a record has no unique one, but only one record could have it: they are to send null. */
function blankProblem({ required, unique }: Field, text: string): string | undefined {
  if (!(required || unique) || !isBlank(text)) return undefined;
  return expected(`text with at least one character that is not white space${required ? '' : ', or null'}`, text);
}

const formProblem = ({ form }: TextField, text: string): string | undefined =>
  form && !form.pattern.test(text) ? expected(`${form.called} such as ${form.example}`, text) : undefined;

function numberSchema(field: NumberField) {
  const { min, max } = field;
  const error = mismatch(field, `a number from ${min} to ${max}`);
  return z.number({ error }).min(min, { error }).max(max, { error });
}

function dateTimeSchema(field: Field) {
  return z.string({ error: mismatch(field, aDate) }).transform((sent, context) => {
    const parsed = parseDateTime(sent);
    if ('value' in parsed) return parsed.value;
    context.addIssue(expected(parsed.expected, sent));
    return z.NEVER;
  });
}

const anIdentifier = `an ID of 1 to ${maxIdentifierLength} characters`;

function identifierSchema(field: Field) {
  return z.string({ error: mismatch(field, anIdentifier) }).superRefine((id, context) => {
    const problem = identifierProblem(id);
    if (problem) context.addIssue(problem);
  });
}

export const idProblem = ({ storedFields }: RecordKind, sent: unknown): string | undefined =>
  typeof sent === 'string' ? undefined : mismatch(storedFields.id, anIdentifier)({ input: sent });

export function identifierProblem(id: string, what = anIdentifier): string | undefined {
  if (id === '' || isLongerThan(id, maxIdentifierLength)) return expected(what, id);
  return textProblem(id, maxIdentifierLength);
}

export function externalIdsProblem(externalIds: object, { maxExternalIds }: ValueLimits): string | undefined {
  const size = Object.keys(externalIds).length;
  return size > maxExternalIds ? `expected at most ${count(maxExternalIds)} keys, received ${count(size)}` : undefined;
}

/** Returns a schema that validates in place, without copying: a copy would lose the key `__proto__`. */
function externalIdsSchema(field: Field, limits: ValueLimits) {
  return z.custom<ExternalIds>().superRefine((value: unknown, context) => {
    const entries = externalIdsIssues(field, value, limits);
    // A single zod issue: ten per record would take a third of the time of a batch full of them.
    if (entries.length > 0) context.addIssue({ code: 'custom', params: { entries } });
  });
}

/** In a patch, null removes an ID, and the limit on their number is for what results: see services/match.ts. */
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
